import type { AttemptResult, ClaimedDelivery } from '../../ports/index.js'
import type { SendResult } from '../sending/sender.js'

/** Pause without `Retry-After`. Short, because one event that always gets a 503 must not block the others. */
const longestPauseMs = 60_000

/** Decides the outcome of an attempt. `null` if aborted: it does not count as an attempt. */
export function decideOutcome (
  delivery: ClaimedDelivery,
  sent: SendResult,
  { retrySchedule, nowMs, random }: { retrySchedule: readonly number[], nowMs: number, random: () => number }
): AttemptResult | null {
  const { webhookId, deliveryId, fence, targetUrl, attemptCount } = delivery
  const { responseStatus, durationMs, error, responseExcerpt = null } = sent
  if (error === 'aborted') return null
  const attempt = { webhookId, deliveryId, fence, targetUrl, durationMs, responseStatus, responseExcerpt }
  if (error === null) return { ...attempt, error, outcome: 'delivered' }
  const isGone = responseStatus === 410
  const retryAfterMs = parseRetryAfter(sent.retryAfter, nowMs)
  const retryInMs = error === 'blocked' || isGone ? null : nextRetryMs(retrySchedule, attemptCount + 1, retryAfterMs, random)
  if (retryInMs === null) return { ...attempt, error, outcome: 'failed', isGone }
  const pauseMs = isOverloaded(sent, delivery.isFailing) ? Math.min(retryInMs, retryAfterMs ?? longestPauseMs) : 0
  return { ...attempt, error, outcome: 'retry', retryInMs, pauseMs }
}

/** Whether the endpoint is overloaded: it says so, or it timed out and was failing before. */
function isOverloaded ({ responseStatus, error }: SendResult, isFailing: boolean): boolean {
  return responseStatus === 429 || responseStatus === 503 || (error === 'timeout' && isFailing)
}

const maxRetryAfterMs = 24 * 60 * 60 * 1000

const jitter = 0.2

/**
 * Returns the milliseconds until the next attempt, or `null` at the end of the schedule. `Retry-After` lengthens the
 * wait and never shortens it. A jitter of 0 to 20 % is added.
 */
export function nextRetryMs (
  schedule: readonly number[],
  attemptsMade: number,
  retryAfterMs: number | null,
  random: () => number
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

const month = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)'

/**
 * `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov 6 08:49:37 1994` (RFC 9110, 5.6.7).
 */
const httpDates = [
  new RegExp(`^[A-Z][a-z]{2}, (\\d\\d) ${month} \\d{4} [\\d:]{8} GMT$`),
  new RegExp(`^[A-Z][a-z]{5,8}, (\\d\\d)-${month}-\\d\\d [\\d:]{8} GMT$`),
  new RegExp(`^[A-Z][a-z]{2} ${month} ([ \\d]\\d) [\\d:]{8} \\d{4}$`)
]

/** `Date.parse` alone accepts other formats, and reads 31 February as 3 March. */
function parseHttpDate (text: string): number {
  const day = httpDates.map((form) => form.exec(text)?.[1]).find((found) => found !== undefined)
  if (day === undefined) return Number.NaN
  const time = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  return new Date(time).getUTCDate() === Number(day) ? time : Number.NaN
}
