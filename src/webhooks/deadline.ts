/** One deadline over all that an attempt does. */
export interface Deadline {
  /** What ended it; `null` while it lasts. */
  readonly reason: symbol | null
  /** Calls the listener when it ends, in the place of the one before. */
  watch (listener: (reason: symbol) => void): void
  /** Ends it before its time. */
  end (reason: symbol): void
  /** Lets it never end. */
  clear (): void
}

/** The reason of a deadline that ended by itself. */
export const kTimeout = Symbol('timeout')

/** Begins now, in real time: what it bounds is not up to the clock of the host. */
export function createDeadline (timeoutMs: number): Deadline {
  let reason: symbol | null = null
  let listener: ((reason: symbol) => void) | undefined
  const timer = setTimeout(end, timeoutMs, kTimeout)

  function end (ending: symbol): void {
    reason ??= ending
    listener?.(reason)
  }

  return {
    get reason () { return reason },
    watch (next) { listener = next },
    end,
    clear: () => clearTimeout(timer)
  }
}
