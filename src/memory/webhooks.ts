import type {
  FailingWebhook, NewWebhook, StoredHeaders, Webhook, WebhookFilter, WebhookHealth, WebhookStore
} from '../ports/index.js'
import { formatDateTime } from './checks.js'
import { clearFailures, createLanes, isFailing, validSecrets, type WebhookRecord } from './deliveries/records.js'
import { compareBy, type RowTest, select, takePage } from './sorting.js'
import { assertAwake, createTenants } from './tenants.js'
import {
  copyFilters,
  findWebhook,
  listWebhooks,
  notify,
  openTenant,
  showWebhook,
  stopDeliveries,
  type WebhookData
} from './webhook-data.js'

export function createWebhookStore (data: WebhookData): WebhookStore {
  let lastId = 0

  function listAll (tenant: string): Webhook[] {
    return listWebhooks(data, tenant).map(showWebhook)
  }

  return {
    ...createTenants(data),

    async list (tenant, { filter, sort, offset, limit }) {
      const ordered = listAll(tenant).sort(compareBy(sort, (webhook, field) => webhook[field]))
      return takePage(ordered, createTest(filter), { offset, limit })
    },

    async count (tenant, filter) {
      return select(listAll(tenant), createTest(filter)).length
    },

    async find (tenant, id) {
      const webhook = findWebhook(data, tenant, id)
      return webhook === undefined ? null : showWebhook(webhook)
    },

    async findHealth (tenant, id) {
      const webhook = findWebhook(data, tenant, id)
      return webhook === undefined ? null : showHealth(webhook, data.now())
    },

    async listFailing ({ limit, maxPending }) {
      return listWebhooks(data)
        .filter(isFailing)
        .sort((a, b) => failedFirst(a) - failedFirst(b) || a.id - b.id)
        .slice(0, limit)
        .map((webhook) => showFailing(webhook, Math.min(maxPending, data.pending.count(webhook)), data.now()))
    },

    async nextId () {
      return ++lastId
    },

    async create (tenant, webhook, maxPerTenant) {
      assertAwake(data, tenant)
      const { webhooks } = openTenant(data, tenant)
      if (webhooks.size >= maxPerTenant) return null
      if (listWebhooks(data).some(({ id }) => id === webhook.id)) {
        throw new Error(`webhook id ${webhook.id} already exists`)
      }

      const created = createRecord(tenant, webhook, data.now())
      webhooks.set(created.id, created)
      return showWebhook(created)
    },

    async update (tenant, id, { name, status, target_url: targetUrl, event_types: eventTypes, headers, filters }) {
      const webhook = findWebhook(data, tenant, id)
      if (webhook === undefined) return null

      webhook.updatedAt = data.now()
      webhook.name = name ?? webhook.name
      const isNewStart = status === 'active' || (targetUrl ?? webhook.targetUrl) !== webhook.targetUrl
      if (isNewStart) clearFailures(webhook)
      webhook.targetUrl = targetUrl ?? webhook.targetUrl
      webhook.eventTypes = [...eventTypes ?? webhook.eventTypes]
      if (headers !== undefined) webhook.headers = copyHeaders(headers)
      if (filters !== undefined) webhook.filters = copyFilters(filters)
      webhook.status = status ?? webhook.status
      if (status === 'inactive') stopDeliveries(data, webhook, 'skipped')
      const shown = showWebhook(webhook)
      if (isNewStart) notify(data)
      return shown
    },

    async delete (tenant, id) {
      const webhook = findWebhook(data, tenant, id)
      if (webhook === undefined) return false

      openTenant(data, tenant).webhooks.delete(id)
      webhook.isDeleted = true
      stopDeliveries(data, webhook, 'cancelled')
      return true
    },

    async rotateSecret (tenant, id, { secret, gracePeriodSeconds }) {
      const webhook = findWebhook(data, tenant, id)
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

    async findSecrets (tenant, id) {
      const webhook = findWebhook(data, tenant, id)
      return webhook === undefined ? null : validSecrets(webhook, data.now())
    },

    async findHeaders (tenant, id) {
      return findWebhook(data, tenant, id)?.headers?.sealed ?? null
    },

    async findGraceEnd (tenantSlug, id) {
      const webhook = findWebhook(data, tenantSlug, id)
      const [, previous] = webhook === undefined ? [] : validSecrets(webhook, data.now())
      return webhook === undefined || previous === undefined ? null : formatDateTime(webhook.previousSecretExpiresAt)
    },

    async listSecrets ({ afterId, limit }) {
      return listWebhooks(data)
        .filter(({ id }) => id > afterId)
        .sort((a, b) => a.id - b.id)
        .slice(0, limit)
        .map((webhook) => ({
          tenantId: webhook.tenant,
          webhookId: webhook.id,
          secrets: validSecrets(webhook, data.now()),
          headers: webhook.headers?.sealed ?? null
        }))
    },

    async replaceSecret (tenant, id, { from, to }) {
      const webhook = findWebhook(data, tenant, id)
      if (webhook === undefined) return false
      const isCurrent = webhook.secret === from
      const isPrevious = webhook.previousSecret === from
      if (isCurrent) webhook.secret = to
      if (isPrevious) webhook.previousSecret = to
      if (webhook.headers?.sealed !== from) return isCurrent || isPrevious
      webhook.headers = { ...webhook.headers, sealed: to }
      return true
    }
  }
}

function createRecord (tenant: string, webhook: NewWebhook, now: number): WebhookRecord {
  return {
    id: webhook.id,
    tenant,
    tenantSlug: webhook.tenantSlug,
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
    headers: copyHeaders(webhook.headers ?? null),
    filters: copyFilters(webhook.filters ?? null),
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

function copyHeaders (headers: StoredHeaders | null): StoredHeaders | null {
  return headers && { names: [...headers.names], sealed: headers.sealed }
}

function createTest ({ status }: WebhookFilter): RowTest<Webhook> {
  return status === undefined ? null : (webhook) => webhook.status === status
}

// Not infinity, because the difference of two infinities is not a number.
function failedFirst ({ failingSince }: WebhookRecord): number {
  return failingSince ?? Number.MAX_SAFE_INTEGER
}

function showHealth (
  { status, failingSince, failedDeliveries, pausedUntil, disabledReason }: WebhookRecord,
  now: number
): WebhookHealth {
  return {
    failing_since: failingSince === null ? null : formatDateTime(failingSince),
    failed_deliveries: failedDeliveries,
    paused_until: status === 'active' && pausedUntil > now ? formatDateTime(pausedUntil) : null,
    disabled_reason: status === 'disabled' ? disabledReason : null
  }
}

function showFailing (webhook: WebhookRecord, pending: number, now: number): FailingWebhook {
  return {
    tenantId: webhook.tenant,
    tenantSlug: webhook.tenantSlug,
    webhook: showWebhook(webhook),
    health: showHealth(webhook, now),
    lastError: webhook.lastFailure?.error ?? null,
    lastResponseStatus: webhook.lastFailure?.responseStatus ?? null,
    pending
  }
}
