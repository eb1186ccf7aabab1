/** Seconds before each attempt, counted from the one before; the first is for the first attempt. */
export const defaultRetrySchedule: readonly number[] = [0, 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400]

const maxRetryAfterMs = 24 * 60 * 60 * 1000
const jitter = 0.2

/**
 * Milliseconds to the next attempt, or `null` when the schedule is used up. An answer's `Retry-After` lengthens the
 * wait, never shortens it, and 0 to 20 % jitter come on top of both.
 */
export function nextRetryMs (
  schedule: readonly number[],
  attemptsMade: number,
  retryAfterMs: number | null,
  random: () => number = Math.random
): number | null {
  const seconds = schedule[attemptsMade]
  if (seconds === undefined) return null
  return Math.ceil(Math.max(seconds * 1000, retryAfterMs ?? 0) * (1 + jitter * random()))
}

/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3): whole seconds or an HTTP date, 24 hours at most. `null` if absent or
 * malformed.
 */
export function parseRetryAfter (value: string | undefined, nowMs: number): number | null {
  const text = value?.trim() ?? ''
  const waitMs = /^\d+$/.test(text) ? Number(text) * 1000 : parseHttpDate(text) - nowMs
  return waitMs > 0 ? Math.min(waitMs, maxRetryAfterMs) : null
}

/** One of the three forms of an HTTP date, all of them GMT; `Date.parse` alone takes far more. */
function parseHttpDate (text: string): number {
  if (!/^(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i.test(text)) return Number.NaN
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
}
