import type {
  Filled, StoredSubscription, Subscription, SubscriptionFilter, SubscriptionStore
} from '../../core/ports/index.js'
import { createFilterTest } from '../../core/shared/fields.js'
import { formatDateTime } from './checks.js'
import { addDelivery } from './deliveries/deliveries.js'
import { clearFailures, isErased, isLive, validSecrets, type WebhookRecord } from './deliveries/records.js'
import { findHold } from './holds.js'
import { compareBy, type RowTest, select, takePage } from './sorting.js'
import {
  deleteWebhook, findWatermark, listWebhooks, notify, openTenant, type WebhookData
} from './webhook-data.js'
import { assertAwake, copyFilters, createRecord } from './webhooks.js'

type Agent = WebhookRecord & { subscription: NonNullable<WebhookRecord['subscription']> }

/** How many events `fill` reads for a subscription. */
const maxRead = 1000

/** Stores agents' subscriptions. Each is a webhook that `record` ignores. */
export function createSubscriptionStore (data: WebhookData): SubscriptionStore {
  function listAll (tenant?: string): Agent[] {
    return listWebhooks(data, tenant).filter(isAgent)
  }

  function listLive (tenant?: string): Agent[] {
    const now = data.now()
    return listAll(tenant).filter((agent) => isLive(agent, now))
  }

  const show = (agent: Agent): Subscription => showSubscription(agent, data.now())

  function store (agent: Agent): StoredSubscription {
    return {
      tenantId: agent.tenant,
      tenantSlug: agent.tenantSlug,
      subscription: show(agent),
      secrets: validSecrets(agent, data.now()),
      position: findWatermark(data, agent)
    }
  }

  function end (agent: Agent): StoredSubscription {
    const ended = store(agent)
    deleteWebhook(data, agent)
    return ended
  }

  /** Queues a subscription's next events. Returns their number, and whether it would queue or read more now. */
  function fillOne (agent: Agent, most: number): { queued: number, hasMore: boolean } {
    const { subscription, tenant, eventTypes, filters } = agent
    const now = data.now()
    let queued = 0
    let read = 0
    for (const record of data.events.values()) {
      if (record.position <= subscription.position) continue
      if (queued === most || read === maxRead) return { queued, hasMore: read === maxRead }
      subscription.position = record.position
      if (record.tenant !== tenant) continue
      read++
      const { type, body } = record.event
      if (!eventTypes.includes(type) || isErased(record) || !createFilterTest(body)(filters)) continue
      addDelivery(data, record, agent, { status: 'pending', isReplay: false, now })
      queued++
      subscription.filledAt = now
    }
    subscription.position = data.lastEventPosition
    return { queued, hasMore: false }
  }

  return {
    async list (tenant, { filter, sort, offset, limit }) {
      const ordered = listLive(tenant).map(show).sort(compareBy(sort, (subscription, field) => subscription[field]))
      return takePage(ordered, createTest(filter), { offset, limit })
    },

    async count (tenant, filter) {
      return select(listLive(tenant).map(show), createTest(filter)).length
    },

    async find (tenant, id) {
      const found = listLive(tenant).find(({ subscription }) => subscription.id === id)
      return found === undefined ? null : store(found)
    },

    async put (tenant, given, { perTenant, perPrincipal }) {
      assertAwake(data, tenant)
      const now = data.now()
      const live = listLive(tenant)
      const found = live.find(({ subscription }) => subscription.id === given.id)
      const expiresAt = now + given.ttlSeconds * 1000
      if (found !== undefined) {
        if (found.id !== given.webhookId) return 'replaced'
        if (given.secret !== null && given.secret !== found.secret) {
          found.previousSecret = given.gracePeriodSeconds === 0 ? null : found.secret
          found.previousSecretExpiresAt = now + given.gracePeriodSeconds * 1000
          found.secret = given.secret
        }
        found.subscription.expiresAt = expiresAt
        if (given.isVerified) found.subscription.verifiedAt = now
        found.tenantSlug = given.tenantSlug
        if (found.pausedUntil > 0) clearFailures(found)
        for (const delivery of data.pending.list(found)) data.pending.hasten(delivery, now)
        notify(data)
        return store(found)
      }
      if (given.secret === null || given.position === null) return 'replaced'
      if (listWebhooks(data).some(({ id }) => id === given.webhookId)) return 'replaced'
      if (live.length >= perTenant) return 'perTenant'
      const own = live.filter(({ subscription }) => subscription.principal === given.principal)
      if (own.length >= perPrincipal) return 'perPrincipal'
      const webhook = {
        id: given.webhookId,
        tenantSlug: given.tenantSlug,
        name: given.principal,
        status: 'active' as const,
        target_url: given.targetUrl,
        event_types: [given.eventType],
        secret: given.secret,
        filters: given.filters
      }
      const created = createRecord(tenant, webhook, now, {
        id: given.id,
        principal: given.principal,
        expiresAt,
        position: Number(/\d+$/.exec(given.position)?.[0]),
        filledAt: now,
        verifiedAt: given.isVerified ? now : null
      }) as Agent
      openTenant(data, tenant).webhooks.set(created.id, created)
      return store(created)
    },

    async isVerified (tenant, principal, url, withinSeconds) {
      const since = data.now() - withinSeconds * 1000
      return listLive(tenant).some(({ subscription, targetUrl }) =>
        subscription.principal === principal && targetUrl === url && (subscription.verifiedAt ?? since) > since)
    },

    async end (tenant, which) {
      const isWanted = ({ subscription }: Agent): boolean =>
        'id' in which ? subscription.id === which.id : subscription.principal === which.principal
      return listLive(tenant).filter(isWanted).map(end)
    },

    async fill ({ limit, window, environment = null, eventTypes = null }) {
      const filled: Filled = { queued: 0, hasMore: false, gaps: [], ended: [] }
      if (findHold(data, environment) !== null) return filled
      const now = data.now()
      const active: Agent[] = []
      for (const agent of listAll().filter(({ tenant }) => !data.pending.suspended.has(tenant))) {
        if (!isLive(agent, now)) filled.ended.push({ ...end(agent), reason: 'expired' })
        else if (eventTypes?.includes(String(agent.eventTypes[0])) ?? true) active.push(agent)
        else filled.ended.push({ ...end(agent), reason: 'removed' })
      }
      for (const agent of inTurns(active)) {
        const free = window - data.pending.count(agent)
        if (free <= 0) continue
        if (agent.subscription.position < data.prunedEventPosition) {
          agent.subscription.position = data.prunedEventPosition
          filled.gaps.push(store(agent))
        }
        const { queued, hasMore } = fillOne(agent, Math.min(free, limit - filled.queued))
        filled.queued += queued
        filled.hasMore ||= hasMore || (filled.queued === limit && agent.subscription.position < data.lastEventPosition)
      }
      if (filled.queued > 0) notify(data)
      return filled
    },

    async stats () {
      const live = listLive()
      const unread = live.filter((agent) => data.pending.count(agent) === 0).flatMap(({ tenant, subscription }) =>
        [...data.events.values()].filter((event) =>
          event.tenant === tenant && event.position > subscription.position).map(({ recordedAt }) => recordedAt))
      const now = data.now()
      const failing = live.filter(({ failingSince }) => failingSince !== null).length
      return { live: live.length, failing, lagMs: now - Math.min(now, ...unread) }
    }
  }
}

function isAgent (webhook: WebhookRecord): webhook is Agent {
  return webhook.subscription !== null
}

/** Orders subscriptions: tenants take turns, and so do a tenant's subscriptions, first the one whose turn is oldest. */
function inTurns (agents: readonly Agent[]): Agent[] {
  const turns = new Map<string, number>()
  const sorted = agents.toSorted((one, other) => one.subscription.filledAt - other.subscription.filledAt)
  return sorted.map((agent) => {
    const turn = turns.get(agent.tenant) ?? 0
    turns.set(agent.tenant, turn + 1)
    return { agent, turn }
  }).sort((one, other) => one.turn - other.turn).map(({ agent }) => agent)
}

function createTest ({ principal }: SubscriptionFilter): RowTest<Subscription> {
  return principal === undefined ? null : (subscription) => subscription.principal === principal
}

function showSubscription (agent: Agent, now: number): Subscription {
  const { subscription, lastFailure, failingSince } = agent
  const delivered = agent.log.map(({ deliveredAt }) => deliveredAt ?? 0)
  const lastDeliveredAt = delivered.reduce((last, at) => Math.max(last, at), 0)
  return {
    id: subscription.id,
    webhook_id: agent.id,
    principal: subscription.principal,
    event_type: String(agent.eventTypes[0]),
    filters: copyFilters(agent.filters),
    target_url: agent.targetUrl,
    created_at: formatDateTime(agent.createdAt),
    expires_at: formatDateTime(subscription.expiresAt),
    last_delivered_at: lastDeliveredAt === 0 ? null : formatDateTime(lastDeliveredAt),
    failing_since: failingSince === null ? null : formatDateTime(failingSince),
    last_error: lastFailure?.error ?? null,
    last_response_status: lastFailure?.responseStatus ?? null,
    paused_until: agent.pausedUntil > now ? formatDateTime(agent.pausedUntil) : null
  }
}
