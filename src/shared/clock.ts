import { RecruitingApiError } from '../errors.js'
import type { Clock } from '../ports/index.js'
import { expect } from './expect.js'

/** The clock of this process. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout)
}

/** Reads a clock; the default is the system clock. Throws `invalid_option` if a method is missing. */
export function readClock (clock: Clock | undefined = systemClock, path: string): Clock {
  for (const method of ['now', 'setTimeout', 'clearTimeout'] as const) {
    expect(typeof clock?.[method] === 'function', `${path}.${method}`, 'a method', clock?.[method])
  }
  return clock
}

/** Waits until a promise resolves, up to `graceMs`. */
export async function waitUpTo (promise: Promise<unknown>, graceMs: number, clock: Clock): Promise<void> {
  let timer: unknown
  const grace = new Promise<void>((resolve) => { timer = clock.setTimeout(resolve, graceMs) })
  await Promise.race([grace, promise])
  clock.clearTimeout(timer)
}

/** Rejects with `storage_timeout` if the host takes longer. `what` names the part that did not respond. */
export async function withinTime<T> (answer: T | Promise<T>, timeoutMs: number, clock: Clock, what: string): Promise<T> {
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
