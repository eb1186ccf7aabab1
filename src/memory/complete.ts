import type { AttemptResult, DisabledWebhook, DisableRule } from '../ports/index.js'
import { clearFailures } from './records.js'
import type { DeliveryRecord, WebhookRecord } from './records.js'
import { notify, stopDeliveries } from './webhook-data.js'
import type { WebhookData } from './webhook-data.js'

type FailedResult = Exclude<AttemptResult, { outcome: 'delivered' }>

// The failure to report if the webhook becomes disabled: the one that says it is gone, or else the last one.
type Failures = Map<WebhookRecord, { result: FailedResult, isGone: boolean }>

/** Records attempts, then looks at the webhooks that failed, so that the order of the results does not matter. */
export function complete (
  data: WebhookData,
  results: readonly AttemptResult[],
  disableAfter: DisableRule
): DisabledWebhook[] {
  const now = data.now()
  const failures: Failures = new Map()
  let mayBeDue = false

  for (const result of results) {
    const delivery = data.deliveries.get(result.deliveryId)
    if (delivery === undefined || delivery.lease === 'none' || delivery.fence !== result.fence) continue

    recordAttempt(data, delivery, result, now)
    if (result.outcome === 'delivered') {
      mayBeDue ||= delivery.webhook.heldUntil > now
      markDelivered(delivery, now)
    } else {
      markFailed(data, delivery, result, now)
      noteFailure(failures, delivery.webhook, result)
    }
  }

  const disabled = disableFailing(data, failures, disableAfter, now)
  if (mayBeDue) notify(data)
  return disabled
}

function recordAttempt (data: WebhookData, delivery: DeliveryRecord, result: AttemptResult, now: number): void {
  const { durationMs, responseStatus, error } = result
  if (delivery.lease === 'held' || delivery.status === 'pending') data.pending.remove(delivery)
  delivery.lease = 'none'
  delivery.attempts.push({ startedAt: now - durationMs, durationMs, responseStatus, error })
}

function markDelivered (delivery: DeliveryRecord, now: number): void {
  delivery.status = 'delivered'
  delivery.deliveredAt = now
  clearFailures(delivery.webhook)
}

function markFailed (data: WebhookData, delivery: DeliveryRecord, result: FailedResult, now: number): void {
  const { webhook } = delivery
  const isPending = delivery.status === 'pending'
  webhook.failingSince ??= now

  if (result.outcome === 'retry') {
    if (result.holdMs > 0) webhook.heldUntil = Math.max(webhook.heldUntil, now + result.holdMs)
    if (!isPending) return
    delivery.nextAttemptAt = Math.ceil(now + result.retryInMs)
    data.pending.add(delivery)
  } else if (isPending) {
    delivery.status = 'failed'
    webhook.failedDeliveries++
  }
}

function noteFailure (failures: Failures, webhook: WebhookRecord, result: FailedResult): void {
  if (failures.get(webhook)?.isGone === true) return
  failures.set(webhook, { result, isGone: result.outcome === 'failed' && result.isGone })
}

function disableFailing (data: WebhookData, failures: Failures, rule: DisableRule, now: number): DisabledWebhook[] {
  const disabled: DisabledWebhook[] = []
  for (const [webhook, { result, isGone }] of failures) {
    if (webhook.isDeleted || webhook.status !== 'active') continue
    if (!isGone && !isFailingTooLong(webhook, rule, now)) continue

    webhook.status = 'disabled'
    webhook.updatedAt = now
    stopDeliveries(data, webhook, 'skipped')
    disabled.push({
      tenantSlug: webhook.tenantSlug,
      webhookId: webhook.id,
      reason: isGone ? 'gone' : 'failing',
      lastError: result.error ?? 'http_status',
      lastResponseStatus: result.responseStatus
    })
  }
  return disabled
}

function isFailingTooLong ({ failingSince, failedDeliveries }: WebhookRecord, rule: DisableRule, now: number): boolean {
  return failingSince !== null &&
    now - failingSince >= rule.failingForSeconds * 1000 &&
    failedDeliveries >= rule.failedDeliveries
}
