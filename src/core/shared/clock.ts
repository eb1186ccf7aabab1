import { RecruitingApiError } from './errors.js'
import type { Clock } from '../ports/index.js'
import { assertOption } from './read-options.js'

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout)
}

/** Reads a clock; the default is the system clock. Throws `invalid_option` if a method is missing. */
export function readClock (clock: Clock | undefined = systemClock, path: string): Clock {
  for (const method of ['now', 'monotonic', 'setTimeout', 'clearTimeout'] as const) {
    assertOption(typeof clock?.[method] === 'function', `${path}.${method}`, 'a method', clock?.[method])
  }
  return clock
}

/** A clock that may lack `monotonic`. Without it, `now` must never go back. */
export type StoredClock = Pick<Clock, 'now'> & Partial<Pick<Clock, 'monotonic'>>

/**
 * Returns a function like `clock.now` whose results never decrease: if the clock is set back, it continues from the
 * last time.
 */
export function createSteadyNow (clock: StoredClock): () => number {
  const elapsed = (): number => clock.monotonic?.() ?? clock.now()
  let at = clock.now()
  let elapsedMs = elapsed()
  return () => {
    const next = elapsed()
    at = Math.max(clock.now(), at + next - elapsedMs)
    elapsedMs = next
    return Math.floor(at)
  }
}

/**
 * Calls back after `delayMs`, once the sockets have been read: after a pause of the process, timers run before data
 * received in time is read. Returns a function that cancels the callback.
 */
export function startDeadline (callback: () => void, delayMs: number): () => void {
  let turn: NodeJS.Immediate | undefined
  const timer = setTimeout(() => { turn = setImmediate(callback) }, delayMs)
  return () => {
    clearTimeout(timer)
    clearImmediate(turn)
  }
}

export async function waitUpTo (promise: Promise<unknown>, graceMs: number, clock: Clock): Promise<void> {
  let timer: unknown
  const grace = new Promise<void>((resolve) => { timer = clock.setTimeout(resolve, graceMs) })
  await Promise.race([grace, promise])
  clock.clearTimeout(timer)
}

/** Rejects with `storage_timeout` after `timeoutMs`. `what` names the part that did not respond. */
export async function withinTime<T> (
  answer: T | Promise<T>, timeoutMs: number, clock: Clock, what: string
): Promise<T> {
  let timer: unknown
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = clock.setTimeout(() => {
      reject(new RecruitingApiError('storage_timeout', `${what} did not answer within ${timeoutMs} ms`))
    }, timeoutMs)
  })
  try {
    return await Promise.race([answer, tooLate])
  } finally {
    clock.clearTimeout(timer)
  }
}
