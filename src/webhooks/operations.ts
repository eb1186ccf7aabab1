import type { DeliveryStore, ReplayResult, RotatedWebhook, Webhook, WebhookChanges, WebhookStore } from '../ports/index.js'
import { Refusal } from '../errors.js'
import { type TargetRules, parseTargetUrl } from './guard/destination.js'
import type { EventCatalogue } from './events/catalogue.js'
import type { SecretBox } from './secrets/secret-box.js'
import { type TestDependencies, type TestResult, sendTest } from './sending/send-test.js'
import { generateSecret } from './sending/signature.js'

/** Input of `create`. */
export interface WebhookInput {
  name: string
  target_url: string
  event_types: string[]
  status: 'active' | 'inactive'
}

/** A webhook with its unsealed secret, for the only response that shows it. */
export type WithSecret<T extends Webhook> = T & { secret: string }

/** Input of `replay`. Dates are RFC 3339 in UTC with milliseconds. */
export interface ReplayInput {
  include: 'undelivered' | 'all'
  since?: string
  until?: string
  event_types?: string[]
  event_ids?: string[]
}

/** The result of a replay, with the field names of the wire. */
export interface ReplaySummary extends ReplayResult {
  webhook_id: number
  include: 'undelivered' | 'all'
  since: string | null
  until: string | null
}

/**
 * The operations that change, test and replay webhooks. Each returns `null` if the webhook does not exist, and throws a
 * `Refusal` for invalid input without changing anything.
 */
export interface WebhookOperations {
  create (tenantSlug: string, input: WebhookInput): Promise<WithSecret<Webhook>>
  update (tenantSlug: string, id: number, changes: WebhookChanges): Promise<Webhook | null>
  rotateSecret (tenantSlug: string, id: number, gracePeriodSeconds: number): Promise<WithSecret<RotatedWebhook> | null>
  dispatchTest (tenantSlug: string, id: number, eventType?: string): Promise<TestResult | null>
  replay (tenantSlug: string, id: number, input: ReplayInput): Promise<ReplaySummary | null>
}

interface Dependencies extends TestDependencies {
  webhooks: WebhookStore
  deliveries: DeliveryStore
  events: EventCatalogue
  targetRules: TargetRules
  secrets: SecretBox
  maxWebhooksPerTenant: number
}

const maxNameLength = 255
const maxReplayed = 10_000
const defaultReplayMs = 24 * 60 * 60 * 1000

/** Creates the operations. They check the input of clients and seal secrets for the storage. */
export function createWebhookOperations (dependencies: Dependencies): WebhookOperations {
  const { webhooks, deliveries, targetRules, secrets, clock, maxWebhooksPerTenant } = dependencies

  function normalize<T extends WebhookChanges> (input: T): T {
    const { name, target_url: target, event_types: types } = input
    if (types !== undefined) assertAllKnown(types)
    return {
      ...input,
      ...(name !== undefined ? { name: normalizeName(name) } : {}),
      ...(target !== undefined ? { target_url: parseTargetUrl(target, targetRules).href } : {})
    }
  }

  function assertAllKnown (types: readonly string[]): void {
    for (const [index, type] of types.entries()) assertKnown(`event_types[${index}]`, type)
  }

  function assertKnown (field: string, type: string): void {
    if (!Object.hasOwn(dependencies.events, type)) throw new Refusal(field, 'must be an event type of the catalogue')
  }

  return {
    async create (tenantSlug, input) {
      const normalized = normalize(input)
      const id = await webhooks.nextId(tenantSlug)
      const secret = generateSecret()
      const sealed = secrets.seal(secret, tenantSlug, id)
      const webhook = await webhooks.create(tenantSlug, { ...normalized, id, secret: sealed }, maxWebhooksPerTenant)
      if (webhook === null) throw new Refusal('', `the tenant already has the maximum of ${maxWebhooksPerTenant} webhooks`)
      return { ...webhook, secret }
    },

    async update (tenantSlug, id, changes) {
      return webhooks.update(tenantSlug, id, normalize(changes))
    },

    async rotateSecret (tenantSlug, id, gracePeriodSeconds) {
      const secret = generateSecret()
      const sealed = secrets.seal(secret, tenantSlug, id)
      const webhook = await webhooks.rotateSecret(tenantSlug, id, { secret: sealed, gracePeriodSeconds })
      return webhook && { ...webhook, secret }
    },

    async dispatchTest (tenantSlug, id, eventType) {
      if (eventType !== undefined) assertKnown('event_type', eventType)
      const webhook = await webhooks.find(tenantSlug, id)
      const sealed = await webhooks.findSecrets(tenantSlug, id)
      if (webhook === null || sealed === null) return null
      const [type = ''] = eventType === undefined ? webhook.event_types : [eventType]
      return sendTest(dependencies, {
        type,
        tenantSlug,
        webhookId: id,
        url: webhook.target_url,
        secrets: sealed.map((text) => secrets.open(text, tenantSlug, id))
      })
    },

    async replay (tenantSlug, id, input) {
      const { include, event_types: eventTypes, event_ids: eventIds } = input
      if (eventTypes !== undefined) assertAllKnown(eventTypes)
      const window = readWindow(input, clock.now())
      if (await webhooks.find(tenantSlug, id) === null) return null
      const result = await deliveries.replay(tenantSlug, id, {
        include,
        eventTypes: eventTypes ?? null,
        eventIds: eventIds ?? null,
        since: window.since,
        // Without `until` from the client there is no limit, because the storage's clock may be ahead of ours.
        until: input.until ?? null,
        limit: maxReplayed
      })
      if (result === null) throw new Refusal('', 'the webhook is not active')
      return { webhook_id: id, include, ...window, ...result }
    }
  }
}

function normalizeName (text: string): string {
  const name = text.trim()
  const { length } = [...name]
  if (length < 1 || length > maxNameLength) throw new Refusal('name', `must be 1 to ${maxNameLength} characters`)
  if (/\p{Cc}/u.test(name)) throw new Refusal('name', 'must not contain control characters')
  return name
}

function readWindow ({ since, until, event_ids: eventIds }: ReplayInput, nowMs: number): { since: string | null, until: string | null } {
  if (eventIds !== undefined) {
    if (since !== undefined || until !== undefined) throw new Refusal('event_ids', 'must not be combined with since or until')
    return { since: null, until: null }
  }
  const window = {
    since: since ?? new Date(nowMs - defaultReplayMs).toISOString(),
    until: until ?? new Date(nowMs).toISOString()
  }
  if (window.since > window.until) throw new Refusal('since', 'must not be after until')
  return window
}
