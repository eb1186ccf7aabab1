import type { NewWebhook, Webhook, WebhookFilter, WebhookStore } from '../ports/index.js'
import { formatDateTime } from './checks.js'
import { compareBy } from './lists/compare.js'
import { countRows, takePage } from './lists/page.js'
import type { RowTest } from './lists/page.js'
import { clearFailures, createLanes, validSecrets } from './deliveries/records.js'
import type { WebhookRecord } from './deliveries/records.js'
import { createHealth } from './health.js'
import { createTenants } from './tenants.js'
import { showWebhook } from './show-webhook.js'
import { findWebhook, notify, openTenant, stopDeliveries } from './webhook-data.js'
import type { WebhookData } from './webhook-data.js'

export function createWebhookStore (data: WebhookData): WebhookStore {
  let lastId = 0

  function listAll (tenantSlug: string): Webhook[] {
    return [...data.tenants.get(tenantSlug)?.webhooks.values() ?? []].map(showWebhook)
  }

  return {
    ...createTenants(data),
    ...createHealth(data),

    async list (tenantSlug, { filter, sort, offset, limit }) {
      const ordered = listAll(tenantSlug).sort(compareBy(sort, (webhook, field) => webhook[field]))
      return takePage(ordered, createTest(filter), { offset, limit })
    },

    async count (tenantSlug, filter) {
      return countRows(listAll(tenantSlug), createTest(filter))
    },

    async find (tenantSlug, id) {
      const webhook = findWebhook(data, tenantSlug, id)
      return webhook === undefined ? null : showWebhook(webhook)
    },

    async nextId () {
      return ++lastId
    },

    async create (tenantSlug, webhook, maxPerTenant) {
      const { webhooks } = openTenant(data, tenantSlug)
      if (webhooks.size >= maxPerTenant) return null
      if (isTaken(data, webhook.id)) throw new Error(`webhook id ${webhook.id} already exists`)

      const created = createRecord(tenantSlug, webhook, data.now())
      webhooks.set(created.id, created)
      return showWebhook(created)
    },

    async update (tenantSlug, id, { name, status, target_url: targetUrl, event_types: eventTypes }) {
      const webhook = findWebhook(data, tenantSlug, id)
      if (webhook === undefined) return null

      webhook.updatedAt = data.now()
      webhook.name = name ?? webhook.name
      const isNewStart = status === 'active' || (targetUrl ?? webhook.targetUrl) !== webhook.targetUrl
      if (isNewStart) clearFailures(webhook)
      webhook.targetUrl = targetUrl ?? webhook.targetUrl
      webhook.eventTypes = [...eventTypes ?? webhook.eventTypes]
      webhook.status = status ?? webhook.status
      if (status === 'inactive') stopDeliveries(data, webhook, 'skipped')
      const shown = showWebhook(webhook)
      if (isNewStart) notify(data)
      return shown
    },

    async delete (tenantSlug, id) {
      const webhook = findWebhook(data, tenantSlug, id)
      if (webhook === undefined) return false

      openTenant(data, tenantSlug).webhooks.delete(id)
      webhook.isDeleted = true
      stopDeliveries(data, webhook, 'cancelled')
      return true
    },

    async rotateSecret (tenantSlug, id, { secret, gracePeriodSeconds }) {
      const webhook = findWebhook(data, tenantSlug, id)
      if (webhook === undefined) return null

      const now = data.now()
      const expiresAt = now + gracePeriodSeconds * 1000
      webhook.previousSecret = gracePeriodSeconds === 0 ? null : webhook.secret
      webhook.previousSecretExpiresAt = expiresAt
      webhook.secret = secret
      webhook.updatedAt = now
      return {
        ...showWebhook(webhook),
        previous_secret_expires_at: gracePeriodSeconds === 0 ? null : formatDateTime(expiresAt)
      }
    },

    async findSecrets (tenantSlug, id) {
      const webhook = findWebhook(data, tenantSlug, id)
      return webhook === undefined ? null : validSecrets(webhook, data.now())
    },

    async listSecrets ({ afterId, limit }) {
      return [...data.tenants.values()]
        .flatMap(({ webhooks }) => [...webhooks.values()])
        .filter(({ id }) => id > afterId)
        .sort((a, b) => a.id - b.id)
        .slice(0, limit)
        .map((webhook) => ({
          tenantSlug: webhook.tenantSlug,
          webhookId: webhook.id,
          secrets: validSecrets(webhook, data.now())
        }))
    },

    async replaceSecret (tenantSlug, id, { from, to }) {
      const webhook = findWebhook(data, tenantSlug, id)
      if (webhook === undefined) return false
      const isCurrent = webhook.secret === from
      const isPrevious = webhook.previousSecret === from
      if (isCurrent) webhook.secret = to
      if (isPrevious) webhook.previousSecret = to
      return isCurrent || isPrevious
    }
  }
}

function createRecord (tenantSlug: string, webhook: NewWebhook, now: number): WebhookRecord {
  return {
    id: webhook.id,
    tenantSlug,
    createdAt: now,
    name: webhook.name,
    status: webhook.status,
    isDeleted: false,
    targetUrl: webhook.target_url,
    eventTypes: [...webhook.event_types],
    updatedAt: now,
    secret: webhook.secret,
    previousSecret: null,
    previousSecretExpiresAt: 0,
    failingSince: null,
    failedDeliveries: 0,
    lastFailure: null,
    disabledReason: null,
    isWarned: false,
    pausedUntil: 0,
    lanes: createLanes(),
    leaseCount: 0,
    log: [],
    lastDeliveries: new Map()
  }
}

function createTest ({ status }: WebhookFilter): RowTest<Webhook> {
  return status === undefined ? null : (webhook) => webhook.status === status
}

function isTaken ({ tenants }: WebhookData, id: number): boolean {
  return [...tenants.values()].some(({ webhooks }) => webhooks.has(id))
}
