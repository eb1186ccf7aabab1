import type { ClaimedDelivery, DeliveryStore } from '../../ports/index.js'
import { recordAttempts, release } from './record-attempts.js'
import { countLog, listLog, readTenantStats, showDeliveryWithAttempts } from './log.js'
import { erase, prune } from './prune.js'
import { record } from './record.js'
import { validSecrets } from './records.js'
import type { DeliveryRecord } from './records.js'
import { countReplay, replay, retry } from './replay.js'
import { listSubjectEvents } from './subject-events.js'
import { findWebhook, type WebhookData } from '../webhook-data.js'

export function createDeliveryStore (data: WebhookData): DeliveryStore {
  const { pending, listeners } = data

  return {
    async record (tenant, event, transaction) {
      return record(data, tenant, event, transaction)
    },

    async claimDue (options) {
      const now = data.now()
      data.home.enter(options.environment ?? null)
      return pending.claim(options, now).map((delivery) => showClaimed(delivery, now))
    },

    async recordAttempts (results, rule) {
      return recordAttempts(data, results, rule)
    },

    async claimNotices (options) {
      if (data.home.findHold(options.environment ?? null) !== null) return []
      return data.notices.claim(options, data.now())
    },

    async confirmNotice (noticeId) {
      data.notices.confirm(noticeId)
    },

    async release (leases) {
      release(data, leases)
    },

    async hasPending (withinMs) {
      const now = data.now()
      return pending.hasUntil(now + withinMs, now)
    },

    async list (tenant, webhookId, query) {
      const webhook = findWebhook(data, tenant, webhookId)
      return webhook === undefined ? [] : listLog(webhook, query)
    },

    async count (tenant, webhookId, filter) {
      const webhook = findWebhook(data, tenant, webhookId)
      return webhook === undefined ? 0 : countLog(webhook, filter)
    },

    async find (tenant, webhookId, id) {
      const webhook = findWebhook(data, tenant, webhookId)
      const delivery = data.deliveries.get(id)
      return delivery === undefined || delivery.webhook !== webhook ? null : showDeliveryWithAttempts(delivery)
    },

    async replay (tenant, webhookId, selection) {
      return replay(data, tenant, webhookId, selection)
    },

    async countReplay (tenant, webhookId, selection) {
      return countReplay(data, tenant, webhookId, selection)
    },

    async retry (tenant, webhookId, id) {
      return retry(data, tenant, webhookId, id)
    },

    async prune (options) {
      return prune(data, options)
    },

    async erase (tenant, subject, transaction) {
      return erase(data, tenant, subject, transaction)
    },

    async listSubjectEvents (tenant, subject, options) {
      return listSubjectEvents(data, tenant, subject, options)
    },

    async stats () {
      return pending.stats(data.now())
    },

    async tenantStats (tenant) {
      return readTenantStats(data, tenant, data.now())
    },

    onDue (call) {
      const listener = { call }
      listeners.add(listener)
      return () => { listeners.delete(listener) }
    }
  }
}

function showClaimed (delivery: DeliveryRecord, now: number): ClaimedDelivery {
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
    attemptCount: attempts.length,
    isFailing: webhook.failingSince !== null
  }
}
