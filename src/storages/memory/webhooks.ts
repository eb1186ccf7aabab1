import type {
  EventFilters, FailingWebhook, NewWebhook, Tenant, TenantState, Webhook, WebhookFilter, WebhookHealth,
  WebhookStore
} from '../../core/ports/index.js'
import { omitUndefined } from '../../core/shared/fields.js'
import { tenantResting } from '../../core/shared/tenants.js'
import { formatDateTime, rejectTransaction } from './checks.js'
import {
  clearFailures, createLanes, type EventRecord, isFailing, validSecrets, type WebhookRecord
} from './deliveries/records.js'
import { deleteRequests, storeAnswer } from './idempotency.js'
import { compareBy, type RowTest, select, takePage } from './sorting.js'
import {
  deleteWebhook, findWebhook, listWebhooks, notify, openTenant, stopDeliveries, type WebhookData
} from './webhook-data.js'

export function createWebhookStore (data: WebhookData): WebhookStore {
  let lastId = 0

  function listAll (tenant: string): Webhook[] {
    return listWebhooks(data, tenant).filter(isWebhook).map(showWebhook)
  }

  function find (tenant: string, id: number): WebhookRecord | undefined {
    const found = findWebhook(data, tenant, id)
    return found !== undefined && isWebhook(found) ? found : undefined
  }

  return {
    database: data,
    ...createTenants(data),

    async list (tenant, { filter, sort, offset, limit }) {
      const ordered = listAll(tenant).sort(compareBy(sort, (webhook, field) => webhook[field]))
      return takePage(ordered, createTest(filter), { offset, limit })
    },

    async count (tenant, filter) {
      return select(listAll(tenant), createTest(filter)).length
    },

    async find (tenant, id) {
      const webhook = find(tenant, id)
      return webhook === undefined ? null : showWebhook(webhook)
    },

    async findHealth (tenant, id) {
      const webhook = find(tenant, id)
      return webhook === undefined ? null : showHealth(webhook, data.now())
    },

    async listFailing ({ limit, maxPending }) {
      return listWebhooks(data)
        .filter((webhook) => isWebhook(webhook) && isFailing(webhook))
        .sort((a, b) => failedFirst(a) - failedFirst(b) || a.id - b.id)
        .slice(0, limit)
        .map((webhook) => showFailing(webhook, Math.min(maxPending, data.pending.count(webhook)), data.now()))
    },

    async nextId (_tenant, transaction) {
      rejectTransaction(transaction)
      return ++lastId
    },

    async create (tenant, webhook, { maxPerTenant, maxPerCreator = null, answer, transaction }) {
      rejectTransaction(transaction)
      assertAwake(data, tenant)
      const { webhooks } = openTenant(data, tenant)
      const own = [...webhooks.values()].filter(isWebhook)
      const { type, id: creatorId } = webhook.created_by ?? { type: 'code', id: null }
      const same = own.filter(({ createdBy }) => createdBy.type === type && createdBy.id === creatorId)
      if (own.length >= maxPerTenant || (maxPerCreator !== null && same.length >= maxPerCreator)) return null
      if (listWebhooks(data).some(({ id }) => id === webhook.id)) {
        throw new Error(`webhook id ${webhook.id} already exists`)
      }

      const created = createRecord(tenant, webhook, data.now())
      const shown = showWebhook(created)
      storeAnswer(data, tenant, answer, shown)
      webhooks.set(created.id, created)
      return shown
    },

    async update (tenant, id, changes) {
      const webhook = find(tenant, id)
      if (webhook === undefined) return null

      const {
        target_url: targetUrl = webhook.targetUrl, event_types: eventTypes = webhook.eventTypes, ...others
      } = structuredClone(changes)
      const { status } = others
      const isNewStart = status === 'active' || targetUrl !== webhook.targetUrl
      if (isNewStart) clearFailures(webhook)
      Object.assign(webhook, omitUndefined(others), { targetUrl, eventTypes, updatedAt: data.now() })
      if (status === 'inactive') stopDeliveries(data, webhook, 'skipped')
      const shown = showWebhook(webhook)
      if (isNewStart) notify(data)
      return shown
    },

    async delete (tenant, id) {
      const webhook = find(tenant, id)
      if (webhook !== undefined) deleteWebhook(data, webhook)
      return webhook !== undefined
    },

    async rotateSecret (tenant, id, { secret, gracePeriodSeconds }, answer) {
      const webhook = find(tenant, id)
      if (webhook === undefined) return null

      const now = data.now()
      const expiresAt = now + gracePeriodSeconds * 1000
      const changed = {
        secret,
        previousSecret: gracePeriodSeconds === 0 ? null : webhook.secret,
        previousSecretExpiresAt: expiresAt,
        updatedAt: now
      }
      const rotated = {
        ...showWebhook({ ...webhook, ...changed }),
        previous_secret_expires_at: gracePeriodSeconds === 0 ? null : formatDateTime(expiresAt)
      }
      storeAnswer(data, tenant, answer, rotated)
      Object.assign(webhook, changed)
      return rotated
    },

    async findSecrets (tenant, id) {
      const webhook = find(tenant, id)
      return webhook === undefined ? null : validSecrets(webhook, data.now())
    },

    async findHeaders (tenant, id) {
      return find(tenant, id)?.headers?.sealed ?? null
    },

    async findGraceEnd (tenantSlug, id) {
      const webhook = find(tenantSlug, id)
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

/** Returns whether it is a webhook, not an agent's subscription. */
function isWebhook ({ subscription }: WebhookRecord): boolean {
  return subscription === null
}

export function createRecord (
  tenant: string, webhook: NewWebhook, now: number, subscription: WebhookRecord['subscription'] = null
): WebhookRecord {
  const { target_url: targetUrl, event_types: eventTypes, created_by: createdBy, ...fields } = structuredClone(webhook)
  return {
    headers: null,
    filters: null,
    changed: null,
    contact: null,
    ...fields,
    tenant,
    createdAt: now,
    updatedAt: now,
    subscription,
    isDeleted: false,
    targetUrl,
    eventTypes,
    previousSecret: null,
    previousSecretExpiresAt: 0,
    createdBy: { type: 'code', id: null, ...createdBy },
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

// Not infinity, because the difference of two infinities is NaN.
function failedFirst ({ failingSince }: WebhookRecord): number {
  return failingSince ?? Number.MAX_SAFE_INTEGER
}

function showHealth (
  { status, failingSince, failedDeliveries, pausedUntil, disabledReason }: WebhookRecord, now: number
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
    lastDetail: webhook.lastFailure?.detail ?? null,
    lastResponseStatus: webhook.lastFailure?.responseStatus ?? null,
    pending
  }
}

export function copyFilters (filters: EventFilters | null): EventFilters | null {
  return filters && Object.fromEntries(Object.entries(filters).map(([path, values]) => [path, [...values]]))
}

/** Returns a webhook as clients see it. */
function showWebhook (webhook: WebhookRecord): Webhook {
  const { id, name, status, targetUrl, eventTypes, headers, filters, changed, contact } = webhook
  const { createdBy, createdAt, updatedAt } = webhook
  return {
    id,
    name,
    status,
    target_url: targetUrl,
    event_types: [...eventTypes],
    headers: headers?.names.length ? Object.fromEntries(headers.names.map((name) => [name, null])) : null,
    filters: copyFilters(filters),
    changed: changed && [...changed],
    contact,
    created_by: { ...createdBy },
    created_at: formatDateTime(createdAt),
    updated_at: formatDateTime(updatedAt)
  }
}

const hourMs = 3_600_000

function listStates ({ resting, renamed, pending: { suspended }, now }: WebhookData): TenantState[] {
  for (const [tenant, end] of resting) if (end <= now()) resting.delete(tenant)
  for (const [tenant, at] of renamed) if (at < now() - hourMs) renamed.delete(tenant)
  const show = (time: number | undefined): string | null => time === undefined ? null : formatDateTime(time)
  return [...new Set([...resting.keys(), ...suspended.keys(), ...renamed.keys()])].map((tenantId) => ({
    tenantId,
    restsUntil: show(resting.get(tenantId)),
    suspendedSince: show(suspended.get(tenantId)),
    renamedAt: show(renamed.get(tenantId))
  }))
}

/** Returns when a tenant's rest ends; `null` if it does not rest. */
function findRest (data: WebhookData, tenant: string): string | null {
  return listStates(data).find(({ tenantId }) => tenantId === tenant)?.restsUntil ?? null
}

/** Throws `tenant_resting`. */
export function assertAwake (data: WebhookData, tenant: string): void {
  const end = findRest(data, tenant)
  if (end !== null) throw tenantResting(tenant, end)
}

function createTenants (data: WebhookData): Pick<
  WebhookStore, 'renameTenant' | 'removeTenant' | 'suspendTenant' | 'resumeTenant' | 'listStates'
> {
  const { suspended } = data.pending

  function eventsOf (tenant: string): EventRecord[] {
    return [...data.events.values()].filter((event) => event.tenant === tenant)
  }

  function noteRename (tenant: string): void {
    data.renamed.set(tenant, Math.max(data.now(), (data.renamed.get(tenant) ?? 0) + 1))
  }

  function setName (from: string, { id, slug }: Tenant): number {
    noteRename(id)
    const webhooks = listWebhooks(data, id)
    for (const webhook of webhooks) webhook.tenantSlug = slug
    data.notices.renameTenant(from, id, slug)
    return webhooks.filter(isWebhook).length
  }

  function rest (tenant: string, restSeconds: number): void {
    if (restSeconds > 0) data.resting.set(tenant, data.now() + restSeconds * 1000)
  }

  /** Invalidates a tenant's positions in changes and events, and deletes its requests. */
  function endPositions (tenant: string): void {
    data.changes.removeTenant(tenant)
    deleteRequests(data, (request) => request.tenant === tenant)
    data.endedFeeds.set(tenant, (data.endedFeeds.get(tenant) ?? 0) + 1)
  }

  return {
    async renameTenant ({ id: from }, tenant, { reseal, restSeconds = 0, transaction }) {
      rejectTransaction(transaction)
      const { id: to } = tenant
      if (from === to) return setName(from, tenant)
      if (data.tenants.has(to) || findRest(data, to) !== null) return null
      const renamed = data.tenants.get(from)
      const now = data.now()
      // Before anything changes, because `reseal` may throw.
      const resealed = listWebhooks(data, from).map((webhook) => {
        const [secret = webhook.secret, previous = null] = validSecrets(webhook, now).map((valid) =>
          reseal(valid, webhook.id)
        )
        const headers = webhook.headers && { ...webhook.headers, sealed: reseal(webhook.headers.sealed, webhook.id) }
        return { webhook, secret, previous, headers }
      })
      for (const name of [from, to]) endPositions(name)
      rest(from, restSeconds)
      const suspendedAt = suspended.get(from)
      for (const name of [from, to]) suspended.delete(name)
      if (suspendedAt !== undefined) suspended.set(to, suspendedAt)
      if (renamed === undefined) return setName(from, tenant)

      data.tenants.delete(from)
      data.tenants.set(to, renamed)
      data.pending.renameTenant(from, to)
      for (const event of eventsOf(from)) event.tenant = to
      for (const { webhook, secret, previous, headers } of resealed) {
        webhook.tenant = to
        webhook.secret = secret
        webhook.previousSecret = previous
        webhook.headers = headers
      }
      return setName(from, tenant)
    },

    async removeTenant (tenant, { restSeconds = 0, transaction }) {
      rejectTransaction(transaction)
      for (const webhook of listWebhooks(data, tenant)) {
        webhook.isDeleted = true
        stopDeliveries(data, webhook, 'cancelled')
      }
      for (const { id, event } of data.deliveries.values()) if (event.tenant === tenant) data.deliveries.delete(id)
      for (const { event } of eventsOf(tenant)) data.events.delete(event.id)
      data.notices.removeTenant(tenant)
      endPositions(tenant)
      data.tenants.delete(tenant)
      suspended.delete(tenant)
      rest(tenant, restSeconds)
      noteRename(tenant)
      return 0
    },

    async suspendTenant (tenant, { transaction } = {}) {
      rejectTransaction(transaction)
      const since = suspended.get(tenant) ?? data.now()
      suspended.set(tenant, since)
      return formatDateTime(since)
    },

    async resumeTenant (tenant, { pending, transaction }) {
      rejectTransaction(transaction)
      const since = suspended.get(tenant)
      if (since === undefined) return null
      suspended.delete(tenant)
      for (const webhook of listWebhooks(data, tenant)) {
        if (webhook.status !== 'active') continue
        clearFailures(webhook)
        if (pending !== 'skip') continue
        stopDeliveries(data, webhook, 'skipped')
        // A subscription also skips what it has not read yet.
        if (webhook.subscription !== null) webhook.subscription.position = data.lastEventPosition
      }
      notify(data)
      return formatDateTime(since)
    },

    async listStates () {
      return listStates(data)
    }
  }
}
