/** Time for the worker, so that tests need not wait. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now (): number
  /** Calls `callback` once after `delayMs`; what it returns goes to `clearTimeout`. */
  setTimeout (callback: () => void, delayMs: number): unknown
  /** Ends the wait; nothing happens if it is over. */
  clearTimeout (timer: unknown): void
}
