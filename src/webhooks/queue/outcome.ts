import type { AttemptResult, ClaimedDelivery } from '../../ports/index.js'
import { nextRetryMs, parseRetryAfter } from './retry.js'
import type { SendResult } from '../sending/sender.js'

/** Pause without `Retry-After`. Short, because one event that always gets a 503 must not block the others. */
const longestPauseMs = 60_000

/** Decides the outcome of an attempt. `null` if aborted: it does not count as an attempt. */
export function decideOutcome (
  delivery: ClaimedDelivery,
  sent: SendResult,
  { retrySchedule, nowMs }: { retrySchedule: readonly number[], nowMs: number }
): AttemptResult | null {
  const { webhookId, deliveryId, fence, targetUrl, attemptCount } = delivery
  const { responseStatus, durationMs, error, responseExcerpt = null } = sent
  if (error === 'aborted') return null
  const attempt = { webhookId, deliveryId, fence, targetUrl, durationMs, responseStatus, responseExcerpt }
  if (error === null) return { ...attempt, error, outcome: 'delivered' }
  const isGone = responseStatus === 410
  const retryAfterMs = parseRetryAfter(sent.retryAfter, nowMs)
  const retryInMs = error === 'blocked' || isGone ? null : nextRetryMs(retrySchedule, attemptCount + 1, retryAfterMs)
  if (retryInMs === null) return { ...attempt, error, outcome: 'failed', isGone }
  const pauseMs = isOverloaded(sent, delivery.isFailing) ? Math.min(retryInMs, retryAfterMs ?? longestPauseMs) : 0
  return { ...attempt, error, outcome: 'retry', retryInMs, pauseMs }
}

/** Whether the endpoint is overloaded: it says so, or it timed out and was failing before. */
function isOverloaded ({ responseStatus, error }: SendResult, isFailing: boolean): boolean {
  return responseStatus === 429 || responseStatus === 503 || (error === 'timeout' && isFailing)
}
