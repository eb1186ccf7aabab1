import type { Clock } from '../ports/index.js'
import { expect } from './expect.js'

/** The clock of this process. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout)
}

/** Reads a clock; the default is the system clock. Throws `invalid_option` if a method is missing. */
export function readClock (value: unknown = systemClock, path: string): Clock {
  const clock = value as Clock | null
  for (const method of ['now', 'setTimeout', 'clearTimeout'] as const) {
    expect(typeof clock?.[method] === 'function', `${path}.${method}`, 'a method', clock?.[method])
  }
  return value as Clock
}
