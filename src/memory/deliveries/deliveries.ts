import type { ClaimedDelivery, DeliveryStore } from '../../ports/index.js'
import { complete } from './complete.js'
import { countLog, listLog, showDeliveryWithAttempts } from './log.js'
import { erase } from './erase.js'
import { prune } from './prune.js'
import { record } from './record.js'
import { validSecrets } from './records.js'
import type { DeliveryRecord } from './records.js'
import { release } from './release.js'
import { countReplay, replay } from './replay.js'
import { retry } from './retry.js'
import { findWebhook } from '../webhook-data.js'
import type { WebhookData } from '../webhook-data.js'

export function createDeliveryStore (data: WebhookData): DeliveryStore {
  const { pending, listeners } = data

  return {
    async record (tenantSlug, event, transaction) {
      return record(data, tenantSlug, event, transaction)
    },

    async claimDue (options) {
      const now = data.now()
      return pending.claim(options, now).map((delivery) => showClaimed(delivery, now))
    },

    async complete (results, rule) {
      return complete(data, results, rule)
    },

    async claimNotices (options) {
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

    async list (tenantSlug, webhookId, query) {
      const webhook = findWebhook(data, tenantSlug, webhookId)
      return webhook === undefined ? [] : listLog(webhook, query)
    },

    async count (tenantSlug, webhookId, filter) {
      const webhook = findWebhook(data, tenantSlug, webhookId)
      return webhook === undefined ? 0 : countLog(webhook, filter)
    },

    async find (tenantSlug, webhookId, id) {
      const webhook = findWebhook(data, tenantSlug, webhookId)
      const delivery = data.deliveries.get(id)
      return delivery === undefined || delivery.webhook !== webhook ? null : showDeliveryWithAttempts(delivery)
    },

    async replay (tenantSlug, webhookId, selection) {
      return replay(data, tenantSlug, webhookId, selection)
    },

    async countReplay (tenantSlug, webhookId, selection) {
      return countReplay(data, tenantSlug, webhookId, selection)
    },

    async retry (tenantSlug, webhookId, id) {
      return retry(data, tenantSlug, webhookId, id)
    },

    async prune (options) {
      return prune(data, options)
    },

    async erase (tenantSlug, subject, transaction) {
      return erase(data, tenantSlug, subject, transaction)
    },

    async stats () {
      return pending.stats(data.now())
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
    tenantSlug: webhook.tenantSlug,
    webhookId: webhook.id,
    targetUrl: webhook.targetUrl,
    secrets: validSecrets(webhook, now),
    eventId: event.id,
    eventType: event.type,
    body: event.body,
    attemptCount: attempts.length,
    isFailing: webhook.failingSince !== null
  }
}
