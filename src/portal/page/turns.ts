import type { Result } from './api.js'

/** Loads something when it has a turn. Returns `null` if it was aborted or failed, or if an earlier one failed. */
export type InTurn = <Value>(
  load: (signal: AbortSignal) => Promise<Result<Value>>,
  signal: AbortSignal
) => Promise<Value | null>

/**
 * Lets at most `most` load at once, in the order they came. After a failure none loads: figures beside a list are not
 * worth an error.
 */
export function createTurns (most: number): InTurn {
  const waiting: Array<() => void> = []
  let running = 0
  let isStopped = false

  return async (load, signal) => {
    if (running < most) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    const isWanted = !isStopped && !signal.aborted
    const result = isWanted ? await load(signal).catch(() => null) : null
    if (result?.failure) isStopped = true
    const next = waiting.shift()
    if (next === undefined) running -= 1
    // Hands this slot to the next caller.
    else next()
    return result?.value ?? null
  }
}
