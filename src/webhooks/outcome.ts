import type { AttemptResult, ClaimedDelivery } from '../ports/index.js'
import { nextRetryMs, parseRetryAfter } from './retry.js'
import type { SendResult } from './sender.js'

/** Decides what follows an attempt; `null` if it was aborted, and so was none. */
export function decideOutcome (
  delivery: ClaimedDelivery,
  sent: SendResult,
  { retrySchedule, nowMs }: { retrySchedule: readonly number[], nowMs: number }
): AttemptResult | null {
  const { deliveryId, fence, attemptCount } = delivery
  const { responseStatus, durationMs, error } = sent
  if (error === 'aborted') return null
  if (error === null) return { deliveryId, fence, durationMs, responseStatus, error, outcome: 'delivered' }
  const isGone = responseStatus === 410
  const retryInMs = error === 'blocked' || isGone
    ? null
    : nextRetryMs(retrySchedule, attemptCount + 1, parseRetryAfter(sent.retryAfter, nowMs))
  if (retryInMs === null) return { deliveryId, fence, durationMs, responseStatus, error, outcome: 'failed', isGone }
  const holdMs = isOverloaded(sent, delivery.isFailing) ? retryInMs : 0
  return { deliveryId, fence, durationMs, responseStatus, error, outcome: 'retry', retryInMs, holdMs }
}

/** Whether more requests would only make it worse: the endpoint says so, or is silent and was failing before. */
function isOverloaded ({ responseStatus, error }: SendResult, isFailing: boolean): boolean {
  return responseStatus === 429 || responseStatus === 503 || (error === 'timeout' && isFailing)
}
