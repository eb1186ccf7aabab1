import type {
  AttemptResult, ClaimedDelivery, ClaimOptions, DeliveryStore, HealthEventType, HealthNotice, HealthRule, Lease,
  NewEvent
} from '../../../core/ports/index.js'
import { generateEventId } from '../../../core/shared/event-id.js'
import { formatDateTime } from '../checks.js'
import { enterEnvironment, findHold } from '../holds.js'
import { findWatermark, notify, stopDeliveries, type WebhookData } from '../webhook-data.js'
import { clearFailures, type DeliveryRecord, isErased, validSecrets, type WebhookRecord } from './records.js'

/** The methods that workers call. `record` records an event, with deliveries to all other webhooks than `except`. */
export function createAttempts (data: WebhookData, record: RecordEvent): Pick<
  DeliveryStore,
  'claimDue' | 'recordAttempts' | 'recordAndClaim' | 'release' | 'hasPending' | 'claimNotices' | 'confirmNotice' | 'onDue'
> {
  async function claimDue (options: ClaimOptions): Promise<ClaimedDelivery[]> {
    const now = data.now()
    enterEnvironment(data, options.environment ?? null)
    return data.pending.claim(options, now).map((delivery) => showClaimed(data, delivery, now))
  }

  return {
    claimDue,

    recordAttempts: async (results, rule) => recordAttempts(data, results, rule, record),

    async recordAndClaim (results, rule, options) {
      const later = recordAttempts(data, results, rule, record)
      const isHeld = findHold(data, options.environment ?? null) !== null
      return { later, claimed: isHeld ? [] : await claimDue(options) }
    },
    release: async (leases) => release(data, leases),

    async hasPending (withinMs) {
      const now = data.now()
      return data.pending.hasUntil(now + withinMs, now)
    },

    async claimNotices (options) {
      if (findHold(data, options.environment ?? null) !== null) return []
      return data.notices.claim(options, data.now())
    },

    async confirmNotice (noticeId) {
      data.notices.confirm(noticeId)
    },

    onDue (call) {
      const listener = { call }
      data.listeners.add(listener)
      return () => { data.listeners.delete(listener) }
    }
  }
}

function showClaimed (data: WebhookData, delivery: DeliveryRecord, now: number): ClaimedDelivery {
  const { id, fence, webhook, event: { event }, attempts } = delivery
  return {
    deliveryId: id,
    fence,
    tenantId: webhook.tenant,
    tenantSlug: webhook.tenantSlug,
    webhookId: webhook.id,
    targetUrl: webhook.targetUrl,
    secrets: validSecrets(webhook, now),
    headers: webhook.headers?.sealed ?? null,
    eventId: event.id,
    eventType: event.type,
    body: event.body,
    traceParent: event.traceParent ?? null,
    ...webhook.subscription && {
      subscription: {
        id: webhook.subscription.id, position: findWatermark(data, webhook), filters: structuredClone(webhook.filters)
      }
    },
    attemptCount: attempts.length,
    isFailing: webhook.failingSince !== null
  }
}

/** Whether the endpoint is gone, or asked for the end of its deliveries. */
function saysGone (result: AttemptResult | undefined): boolean {
  return result !== undefined && 'isGone' in result && result.isGone === true
}

/** Records all attempts before it judges failing webhooks, so that the order of the results does not matter. */
function recordAttempts (
  data: WebhookData, results: readonly AttemptResult[], rule: HealthRule, record: RecordEvent
): Lease[] {
  const now = data.now()
  // The failure to report for each webhook: the 410, otherwise the last one.
  const failures = new Map<WebhookRecord, AttemptResult>()
  let mayBeDue = false

  for (const result of results) {
    const delivery = data.deliveries.get(result.deliveryId)
    if (delivery === undefined || delivery.lease === 'none' || delivery.fence !== result.fence) continue

    const { webhook } = delivery
    const wasPending = delivery.status === 'pending'
    if (delivery.lease !== 'expired' || wasPending) data.pending.remove(delivery)
    delivery.lease = 'none'
    if (result.outcome !== 'postponed') addAttempt(delivery, result, now)
    // Attempts to an old address, and attempts of a webhook that is not active, do not affect its health.
    const counts = webhook.status === 'active' && webhook.targetUrl === result.targetUrl
    if (result.outcome === 'delivered') {
      mayBeDue ||= webhook.pausedUntil > now
      delivery.status = 'delivered'
      delivery.deliveredAt = now
      if (counts) clearFailures(webhook)
    } else if (wasPending && result.outcome === 'failed') {
      delivery.status = 'failed'
      if (counts) webhook.failedDeliveries++
    } else if (wasPending && 'retryInMs' in result) {
      delivery.nextAttemptAt = Math.ceil(now + result.retryInMs)
      delivery.isScheduled = true
      data.pending.add(delivery)
    }
    if (!counts || result.outcome === 'postponed') continue
    if (result.outcome !== 'delivered') webhook.failingSince ??= now
    if (result.outcome === 'retry' && result.pauseMs > 0) {
      webhook.pausedUntil = Math.max(webhook.pausedUntil, now + result.pauseMs)
    }
    const isFailure = result.outcome !== 'delivered' || saysGone(result)
    if (isFailure && !saysGone(failures.get(webhook))) failures.set(webhook, result)
  }

  for (const [webhook, result] of failures) judgeHealth(data, webhook, result, { rule, now, record })
  if (mayBeDue) notify(data)
  // Without transactions no delivery is ever locked.
  return []
}

function addAttempt (delivery: DeliveryRecord, result: AttemptResult, now: number): void {
  const { durationMs, responseStatus, error, detail = null, responseExcerpt } = result
  delivery.attempts.push({
    started_at: formatDateTime(now - durationMs),
    duration_ms: durationMs,
    response_status: responseStatus,
    error,
    detail,
    response_excerpt: delivery.status === 'cancelled' || isErased(delivery.event) ? null : responseExcerpt
  })
}

interface Judgement {
  rule: HealthRule
  now: number
  record: RecordEvent
}

function judgeHealth (data: WebhookData, webhook: WebhookRecord, result: AttemptResult, judgement: Judgement): void {
  if (webhook.isDeleted) return
  const { rule, now } = judgement
  const isGone = saysGone(result)
  // A 410 counts even after a success in the same batch; another failure does not.
  if (isGone) webhook.failingSince ??= now
  if (webhook.failingSince === null) return
  const { error, detail = null, responseStatus } = result
  webhook.lastFailure = { error: error ?? 'http_status', detail, responseStatus }
  if (webhook.subscription !== null) return
  const failingMs = now - webhook.failingSince
  const isTooLong = failingMs >= rule.failingForSeconds * 1000 && webhook.failedDeliveries >= rule.failedDeliveries
  if (isGone || isTooLong) {
    webhook.status = 'disabled'
    webhook.disabledReason = isGone ? 'gone' : 'failing'
    webhook.updatedAt = now
    stopDeliveries(data, webhook, 'skipped')
    addNotice(data, isGone ? 'gone' : 'disabled', webhook)
    recordHealthEvent('webhook.disabled', webhook, judgement)
  } else if (failingMs >= rule.warnAfterSeconds * 1000 && !webhook.isWarned) {
    webhook.isWarned = true
    addNotice(data, 'failing', webhook)
    recordHealthEvent('webhook.failing', webhook, judgement)
  }
}

export type RecordEvent = (tenant: string, event: NewEvent, except: WebhookRecord) => void

function recordHealthEvent (type: HealthEventType, webhook: WebhookRecord, { rule, now, record }: Judgement): void {
  if (rule.eventTypes?.includes(type) !== true) return
  const { id: webhookId, tenant, tenantSlug } = webhook
  const id = generateEventId(now)
  const head = JSON.stringify({ id, type, timestamp: formatDateTime(now), sequence: '' }).slice(0, -'"}'.length)
  const rest = JSON.stringify({ tenant_slug: tenantSlug, data: { webhook_id: webhookId } }).slice(1)
  record(tenant, {
    id,
    type,
    body: `${head}",${rest}`,
    sequenceAt: head.length,
    subject: null,
    tombstone: null,
    idempotencyKey: null,
    fingerprint: ''
  }, webhook)
}

function addNotice (data: WebhookData, kind: HealthNotice['kind'], webhook: WebhookRecord): void {
  const { tenant, tenantSlug, id, failingSince, failedDeliveries, lastFailure, contact } = webhook
  data.notices.add({
    kind,
    tenantId: tenant,
    tenantSlug,
    webhookId: id,
    failingSince: formatDateTime(failingSince ?? data.now()),
    failedDeliveries,
    lastError: lastFailure?.error ?? 'http_status',
    lastDetail: lastFailure?.detail ?? null,
    lastResponseStatus: lastFailure?.responseStatus ?? null,
    contact
  })
}

function release (data: WebhookData, leases: readonly Lease[]): void {
  let mayBeDue = false
  for (const { deliveryId, fence } of leases) {
    const delivery = data.deliveries.get(deliveryId)
    if (delivery === undefined || delivery.fence !== fence) continue

    const { lease } = delivery
    if (lease === 'held' || lease === 'stopped') data.pending.remove(delivery)
    delivery.lease = 'none'
    if (lease === 'held') {
      data.pending.add(delivery)
      mayBeDue = true
    }
  }
  if (mayBeDue) notify(data)
}
