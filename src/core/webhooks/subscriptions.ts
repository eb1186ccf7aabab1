import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import type { Static } from '@sinclair/typebox'
import type { Given, Performed } from '../api/operation.js'
import type {
  Subscriber, Subscription as ShownSubscription, SubscriptionKey, subscriptionOperations, SubscriptionRequest
} from '../api/subscriptions.js'
import type {
  Clock, EndReason, EventFeed, StoredSubscription, Subscription, SubscriptionFilter, SubscriptionSortField,
  SubscriptionStore, WebhookStore
} from '../ports/index.js'
import { LruMap } from '../shared/cached.js'
import { InputError } from '../shared/errors.js'
import { EventsFault } from '../shared/events-wire.js'
import { canonicalFilters, feedSubject, findStart } from '../shared/feed.js'
import { omitUndefined, readField } from '../shared/fields.js'
import { parsePaging, readPage } from '../shared/paging.js'
import { createTokens } from '../shared/tokens.js'
import type { Agents } from './queue/agents.js'
import type { SecretBox } from './secrets.js'
import type { FindStop } from './sending/send-test.js'
import type { SendResult } from './sending/sender.js'
import { isSameSecret, isSecret } from './sending/signature.js'
import { hostOf, parseTargetUrl, type TargetRules } from './ssrf/addresses.js'

export type SubscriptionOperations = ReturnType<typeof createSubscriptionOperations>

interface Parts {
  subscriptions: SubscriptionStore
  feed: EventFeed
  webhooks: Pick<WebhookStore, 'nextId'>
  agents: Agents
  secrets: SecretBox
  targetRules: TargetRules
  clock: Clock
  findStop: FindStop
}

export const subscriptionLimits = { perTenant: 200, perPrincipal: 20 }

const [usualTtlMs, shortestTtlMs, longestTtlMs] = [3_600_000, 60_000, 86_400_000]
const gracePeriodSeconds = 300
const verifiedForSeconds = 86_400

/** Limits per minute: challenges must not flood a host. */
const [challengesPerPrincipal, challengesPerHost] = [30, 60]

/** Creates the operations on agents' subscriptions: those of agents, and those of people. */
export function createSubscriptionOperations (
  { subscriptions, feed, webhooks, agents, secrets, targetRules, clock, findStop }: Parts
) {
  const tokens = createTokens(feed)
  const countOf = createMinuteCounts(clock)

  function readUrl (url: string): string {
    try {
      return parseTargetUrl(url, targetRules).href
    } catch (error) {
      if (!(error instanceof InputError)) throw error
      throw new EventsFault('InvalidParams', `delivery.url ${error.message}`)
    }
  }

  /** Sends the challenge, once. Throws unless the callback returns it. */
  async function challenge (
    { tenant, principal, url }: Subscriber & SubscriptionKey, id: string, webhookId: number, secret: string
  ): Promise<void> {
    const stop = await findStop(tenant.id)
    if (stop !== null) throw new EventsFault('Unsupported', 'Nothing is sent now', { feature: 'deliveryMode' })
    for (const [name, most] of [
      [JSON.stringify([tenant.id, principal]), challengesPerPrincipal], [hostOf(url), challengesPerHost]
    ] as const) {
      if (countOf(name) > most) throw exhausted('challenges', most)
    }
    const text = randomUUID()
    const subscription = { id, webhook_id: webhookId, target_url: url }
    const callback = { tenantId: tenant.id, secrets: [secret], subscription }
    const sent = await agents.send(callback, { type: 'verification', challenge: text }, 4096)
    if (sent.error !== null) throw callbackFault(describeFailure(sent.error, sent.responseStatus))
    if (!hasEcho(sent, text)) throw callbackFault('challenge_failed')
  }

  /** Returns where a new subscription begins. */
  async function findPosition ({ tenant, eventType, filters, cursor, since }: Subscriber & SubscriptionRequest) {
    if (cursor === null) return { position: await feed.end(tenant.id), isTruncated: false }
    const [after = null] = await tokens.read(feedSubject(tenant.id, [eventType], filters), cursor) ?? []
    return findStart(feed, tenant.id, { after, since, eventTypes: [eventType], filters })
  }

  /** Creates or refreshes; `null` if another call was faster. */
  async function putOnce (request: Subscriber & SubscriptionRequest, id: string) {
    const { tenant, principal, eventType, filters, url, secret, ttlMs } = request
    const live = await subscriptions.find(tenant.id, id)
    // After failures, some events may have been given up: begins again at the agent's cursor, if it is still valid.
    const isFailing = live !== null && live.subscription.failing_since !== null && request.cursor !== null
    const begin = live === null || isFailing ? await findPosition(request) : null
    const isRestarted = isFailing && begin?.isTruncated === false
    const known = isRestarted ? null : live
    const webhookId = known?.subscription.webhook_id ?? await webhooks.nextId(tenant.id)
    const [current = null] = known?.secrets ?? []
    const isSame = current !== null && isSameSecret(await secrets.open(current, tenant.id, webhookId), secret)
    const sealed = isSame ? current : await secrets.seal(secret, tenant.id, webhookId)
    const isVerified = await subscriptions.isVerified(tenant.id, principal, url, verifiedForSeconds)
    if (!isVerified) await challenge(request, id, webhookId, sealed)
    const start = known === null ? begin : null
    if (isRestarted) await subscriptions.end(tenant.id, { id }, 'unsubscribed')
    const stored = await subscriptions.put(tenant.id, {
      id,
      webhookId,
      tenantSlug: tenant.slug,
      principal,
      targetUrl: url,
      eventType,
      filters,
      secret: isSame ? null : sealed,
      gracePeriodSeconds,
      ttlSeconds: Math.ceil(Math.min(Math.max(ttlMs ?? usualTtlMs, shortestTtlMs), longestTtlMs) / 1000),
      position: start?.position ?? null,
      isVerified: !isVerified
    }, subscriptionLimits)
    if (stored === 'replaced') return null
    if (typeof stored === 'string') throw exhausted('subscriptions', subscriptionLimits[stored])
    return { stored, before: live, isTruncated: start?.isTruncated ?? false }
  }

  async function end (
    tenantId: string, which: Parameters<SubscriptionStore['end']>[1], reason: EndReason
  ): Promise<StoredSubscription[]> {
    const ended = await subscriptions.end(tenantId, which, reason)
    // An agent that unsubscribes needs no notice.
    if (reason === 'unsubscribed' || await findStop(tenantId) !== null) return ended
    agents.notifyEnded(ended.map((one) => ({ ...one, reason })))
    return ended
  }

  const operations: Performed<typeof subscriptionOperations> = {
    list: ({ tenant, input }) =>
      readPage<Static<typeof ShownSubscription>, SubscriptionFilter, SubscriptionSortField>({
        list: async (page) => (await subscriptions.list(tenant.id, page)).map(showSubscription),
        count: (filter) => subscriptions.count(tenant.id, filter)
      }, parsePaging(input, omitUndefined({ principal: input['filter[key_id]'] }))),
    async end ({ tenant, id }: Given<unknown>) {
      return (await end(tenant.id, { id: String(id) }, 'disconnected')).length === 0 ? null : {}
    }
  }

  return {
    ...operations,
    endAll: end,
    keepTypes: agents.keepTypes,

    /** Returns the id of the subscription. */
    async subscribe (request: Subscriber & SubscriptionRequest) {
      if (!isSecret(request.secret)) {
        throw new EventsFault('InvalidParams', 'delivery.secret must be whsec_ and 24 to 64 bytes in base64')
      }
      const checked = { ...request, url: readUrl(request.url) }
      const id = formatId(checked)
      for (let tries = 0; tries < 3; tries++) {
        const put = await putOnce(checked, id)
        if (put === null) continue
        const { stored: { position, subscription }, before, isTruncated } = put
        const { tenant, eventType, filters } = checked
        return {
          id,
          refreshBefore: subscription.expires_at,
          cursor: await agents.formatCursor(tenant.id, eventType, filters, position),
          truncated: isTruncated,
          ...before === null ? {} : { deliveryStatus: describeStatus(before.subscription, clock.now()) }
        }
      }
      throw exhausted('concurrent requests', 1)
    },

    /** Returns the id of the subscription that ended; `null` if there was none. */
    async unsubscribe (key: Subscriber & SubscriptionKey): Promise<string | null> {
      const [ended] = await end(key.tenant.id, { id: formatId({ ...key, url: readUrl(key.url) }) }, 'unsubscribed')
      return ended?.subscription.id ?? null
    }
  }
}

/** The same parts always have the same id. It authorizes nothing. */
function formatId ({ tenant, principal, url, eventType, filters }: Subscriber & SubscriptionKey): string {
  const key = JSON.stringify([tenant.id, principal, url, eventType, filters && canonicalFilters(filters)])
  return `sub_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`
}

function showSubscription (one: Subscription): Static<typeof ShownSubscription> {
  const { id, event_type: type, filters, created_at: createdAt, expires_at: expiresAt } = one
  return {
    id,
    key_id: one.principal,
    event_type: type,
    filters,
    callback_host: new URL(one.target_url).host,
    status: one.paused_until !== null ? 'throttled' : one.failing_since !== null ? 'failing' : 'active',
    last_delivered_at: one.last_delivered_at,
    last_error: one.last_error,
    last_response_status: one.last_response_status,
    created_at: createdAt,
    expires_at: expiresAt
  }
}

/** Describes a subscription's deliveries up to its refresh. */
function describeStatus (one: Subscription, nowMs: number) {
  const { last_error: error, failing_since: failingSince, paused_until: pausedUntil } = one
  return {
    active: true,
    lastDeliveryAt: one.last_delivered_at,
    lastError: error === null ? null : describeFailure(error, one.last_response_status),
    ...failingSince === null ? {} : { failedSince: failingSince },
    ...pausedUntil === null ? {} : { throttled: true, retryAfterMs: Math.max(0, Date.parse(pausedUntil) - nowMs) }
  }
}

/** Returns the category of a failure. A blocked address looks like one without a server. */
function describeFailure (error: NonNullable<SendResult['error']>, status: number | null): string {
  if (error === 'http_status') return Number(status) >= 500 ? 'http_5xx' : 'http_4xx'
  return error === 'timeout' ? 'timeout' : error === 'tls' ? 'tls_error' : 'connection_refused'
}

function hasEcho ({ responseExcerpt = '' }: SendResult, challenge: string): boolean {
  try {
    const echo = Buffer.from(String(readField(JSON.parse(responseExcerpt), 'challenge')))
    const expected = Buffer.from(challenge)
    return echo.length === expected.length && timingSafeEqual(echo, expected)
  } catch {
    return false
  }
}

function callbackFault (reason: string): EventsFault {
  return new EventsFault('CallbackEndpointError', `The callback could not be verified: ${reason}`, { reason })
}

function exhausted (limit: string, max: number): EventsFault {
  return new EventsFault('ResourceExhausted', `The limit of ${limit} is reached`, { limit, max })
}

const [minuteMs, maxNames] = [60_000, 10_000]

/** Returns a function that counts a name, and returns its count in the current minute. */
function createMinuteCounts (clock: Clock): (name: string) => number {
  const counts = new LruMap<{ minute: number, count: number }>(maxNames)
  return (name) => {
    const minute = Math.floor(clock.now() / minuteMs)
    const entry = counts.getOrCreate(name, () => ({ minute, count: 0 }))
    if (entry.minute !== minute) Object.assign(entry, { minute, count: 0 })
    return ++entry.count
  }
}
