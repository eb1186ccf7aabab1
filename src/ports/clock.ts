/** The worker's time, so that tests need not wait. */
export interface Clock {
  /** Returns milliseconds since the epoch. */
  now (): number
  /** Calls `callback` once after `delayMs`. Returns a handle for `clearTimeout`. */
  setTimeout (callback: () => void, delayMs: number): unknown
  /** Cancels a timeout. Does nothing if it has already fired. */
  clearTimeout (timer: unknown): void
}
