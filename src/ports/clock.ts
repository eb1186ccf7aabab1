/** The worker's time, so that tests need not wait. */
export interface Clock {
  /** Returns milliseconds since the epoch. For times that are stored, sent or shown: this clock may be set back. */
  now (): number
  /** Returns milliseconds since any moment, like `performance.now()`. For waiting and for ages: it never goes back. */
  monotonic (): number
  /** Calls `callback` once after `delayMs`. Returns a handle for `clearTimeout`. */
  setTimeout (callback: () => void, delayMs: number): unknown
  /** Cancels a timeout. Does nothing if it has already fired. */
  clearTimeout (timer: unknown): void
}
