import type {
  AttemptResult, ClaimedDelivery, ClaimOptions, DeliveryStore, DisableRule, HealthEventType, HealthNotice,
  HealthRule, Lease, NewEvent
} from '../../../core/ports/index.js'
import { generateEventId } from '../../../core/shared/event-id.js'
import { formatDateTime } from '../checks.js'
import { enterEnvironment, findHold } from '../holds.js'
import { findWatermark, notify, stopDeliveries, type WebhookData } from '../webhook-data.js'
import { clearFailures, type DeliveryRecord, isErased, validSecrets, type WebhookRecord } from './records.js'

/** The methods that workers call. */
/** `record` records an event, with deliveries to all other webhooks than `except`. */
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

type FailedResult = Exclude<AttemptResult, { outcome: 'delivered' | 'postponed' }>

interface Failure {
  result: AttemptResult
  isGone: boolean
}

// The failure to report for each webhook: the 410, otherwise the last one.
type Failures = Map<WebhookRecord, Failure>

/** Records all attempts before it judges failing webhooks, so that the order of the results does not matter. */
function recordAttempts (
  data: WebhookData, results: readonly AttemptResult[], rule: HealthRule, record: RecordEvent
): Lease[] {
  const now = data.now()
  const failures: Failures = new Map()
  let mayBeDue = false

  for (const result of results) {
    const delivery = data.deliveries.get(result.deliveryId)
    if (delivery === undefined || delivery.lease === 'none' || delivery.fence !== result.fence) continue

    endLease(data, delivery)
    if (result.outcome === 'postponed') {
      if (delivery.status === 'pending') schedule(data, delivery, now + result.retryInMs)
      continue
    }
    recordAttempt(delivery, result, now)
    if (result.outcome === 'delivered') {
      mayBeDue ||= delivery.webhook.pausedUntil > now
      markDelivered(delivery, result, now)
      if (result.isGone === true && countsFor(delivery.webhook, result)) noteFailure(failures, delivery.webhook, result)
    } else {
      const hasFailed = markFailed(data, delivery, result, now)
      if (countsFor(delivery.webhook, result)) recordFailure(failures, delivery.webhook, result, { hasFailed, now })
    }
  }

  for (const [webhook, failure] of failures) judgeHealth(data, webhook, { ...failure, rule, now, record })
  if (mayBeDue) notify(data)
  // Without transactions no delivery is ever locked.
  return []
}

// Attempts to an old address, and attempts of a webhook that is not active, do not affect its health.
function countsFor (webhook: WebhookRecord, { targetUrl }: AttemptResult): boolean {
  return webhook.status === 'active' && webhook.targetUrl === targetUrl
}

function endLease (data: WebhookData, delivery: DeliveryRecord): void {
  if (delivery.lease === 'held' || delivery.status === 'pending') data.pending.remove(delivery)
  delivery.lease = 'none'
}

function schedule (data: WebhookData, delivery: DeliveryRecord, at: number): void {
  delivery.nextAttemptAt = Math.ceil(at)
  delivery.isScheduled = true
  data.pending.add(delivery)
}

function recordAttempt (delivery: DeliveryRecord, result: AttemptResult, now: number): void {
  const { durationMs, responseStatus, error, detail = null } = result
  const responseExcerpt = delivery.status === 'cancelled' || isErased(delivery.event) ? null : result.responseExcerpt
  delivery.attempts.push({
    started_at: formatDateTime(now - durationMs),
    duration_ms: durationMs,
    response_status: responseStatus,
    error,
    detail,
    response_excerpt: responseExcerpt
  })
}

function markDelivered (delivery: DeliveryRecord, result: AttemptResult, now: number): void {
  delivery.status = 'delivered'
  delivery.deliveredAt = now
  if (countsFor(delivery.webhook, result)) clearFailures(delivery.webhook)
}

/** Schedules the next attempt, or marks the delivery as failed. Returns whether it failed. */
function markFailed (data: WebhookData, delivery: DeliveryRecord, result: FailedResult, now: number): boolean {
  if (delivery.status !== 'pending') return false
  if (result.outcome === 'failed') {
    delivery.status = 'failed'
    return true
  }
  schedule(data, delivery, now + result.retryInMs)
  return false
}

function recordFailure (
  failures: Failures, webhook: WebhookRecord, result: FailedResult,
  { hasFailed, now }: { hasFailed: boolean, now: number }
): void {
  webhook.failingSince ??= now
  if (hasFailed) webhook.failedDeliveries++
  if (result.outcome === 'retry' && result.pauseMs > 0) {
    webhook.pausedUntil = Math.max(webhook.pausedUntil, now + result.pauseMs)
  }
  noteFailure(failures, webhook, result)
}

function noteFailure (failures: Failures, webhook: WebhookRecord, result: AttemptResult): void {
  if (failures.get(webhook)?.isGone === true) return
  failures.set(webhook, { result, isGone: 'isGone' in result && result.isGone === true })
}

// A later success in the same batch has already cleared the failures.
function judgeHealth (
  data: WebhookData, webhook: WebhookRecord,
  { result, isGone, rule, now, record }: Failure & { rule: HealthRule, now: number, record: RecordEvent }
): void {
  if (webhook.isDeleted) return
  // A 410 counts even after a success in the same batch.
  if (isGone) webhook.failingSince ??= now
  if (webhook.failingSince !== null) {
    const { error, detail = null, responseStatus } = result
    webhook.lastFailure = { error: error ?? 'http_status', detail, responseStatus }
  }
  if (webhook.subscription !== null) return
  if (isGone || isFailingTooLong(webhook, rule, now)) {
    webhook.status = 'disabled'
    webhook.disabledReason = isGone ? 'gone' : 'failing'
    webhook.updatedAt = now
    stopDeliveries(data, webhook, 'skipped')
    data.notices.add(createNotice(isGone ? 'gone' : 'disabled', webhook, result, now))
    recordHealthEvent('webhook.disabled', webhook, { rule, now, record })
    return
  }
  const isWarning = webhook.failingSince !== null && now - webhook.failingSince >= rule.warnAfterSeconds * 1000
  if (!isWarning || webhook.isWarned) return
  webhook.isWarned = true
  data.notices.add(createNotice('failing', webhook, result, now))
  recordHealthEvent('webhook.failing', webhook, { rule, now, record })
}

export type RecordEvent = (tenant: string, event: NewEvent, except: WebhookRecord) => void

function recordHealthEvent (
  type: HealthEventType, webhook: WebhookRecord,
  { rule, now, record }: { rule: HealthRule, now: number, record: RecordEvent }
): void {
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

function createNotice (
  kind: HealthNotice['kind'],
  { tenant, tenantSlug, id, failingSince, failedDeliveries, contact }: WebhookRecord,
  { error, detail = null, responseStatus }: AttemptResult, now: number
): HealthNotice {
  return {
    kind,
    tenantId: tenant,
    tenantSlug,
    webhookId: id,
    failingSince: formatDateTime(failingSince ?? now),
    failedDeliveries,
    lastError: error ?? 'http_status',
    lastDetail: detail,
    lastResponseStatus: responseStatus,
    contact
  }
}

function isFailingTooLong ({ failingSince, failedDeliveries }: WebhookRecord, rule: DisableRule, now: number): boolean {
  return failingSince !== null &&
    now - failingSince >= rule.failingForSeconds * 1000 &&
    failedDeliveries >= rule.failedDeliveries
}

function release (data: WebhookData, leases: readonly Lease[]): void {
  let mayBeDue = false
  for (const { deliveryId, fence } of leases) {
    const delivery = data.deliveries.get(deliveryId)
    if (delivery === undefined || delivery.fence !== fence) continue

    if (delivery.lease === 'held') {
      data.pending.remove(delivery)
      data.pending.add(delivery)
      mayBeDue = true
    }
    delivery.lease = 'none'
  }
  if (mayBeDue) notify(data)
}
