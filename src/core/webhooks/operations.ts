import { isDeepStrictEqual } from 'node:util'
import type { Static, TObject } from '@sinclair/typebox'
import type { EngineOperations } from '../api/calls.js'
import { type EventSchemas, createEventExamples, splitEvent } from '../api/catalogue.js'
import type { EventType } from '../api/events.js'
import { type CreateWebhook, type FailingQuery, maxWebhooks } from '../api/webhooks.js'
import { InputError } from '../shared/errors.js'
import type {
  CreateOptions, Creator, EventFilters, FailingWebhook, Hold, RotatedWebhook, Tenant, Webhook, WebhookChanges,
  WebhookFilter, WebhookSortField, WebhookStore
} from '../ports/index.js'
import { createCachedLimit } from '../shared/cached.js'
import { createFilterTest, omitUndefined } from '../shared/fields.js'
import { parsePaging, readPage } from '../shared/paging.js'
import { type Limit, assertOption } from '../shared/read-options.js'
import { readName } from '../shared/text.js'
import { createDeliveryOperations } from './delivery-log.js'
import type { History } from './history.js'
import type { LimitedTenant } from './options.js'
import {
  type OpenedHeaders, type OwnHeaders, type SecretBox, assertHeaderNames, openHeaders, sealHeaders
} from './secrets.js'
import { type TestParts, sendTest } from './sending/send-test.js'
import {
  type LegacyKey, generateSecret, hintForSecret, isSameSecret, isSecret, readLegacy
} from './sending/signature.js'
import { type TargetRules, parseTargetUrl } from './ssrf/addresses.js'

interface Parts extends TestParts {
  webhooks: WebhookStore
  history: History
  events: EventSchemas
  targetRules: TargetRules
  secrets: SecretBox
  maxWebhooksPerTenant: Limit<LimitedTenant>
  maxWebhooksPerCreator: number | null
  /** Returns why nothing is sent to anyone; `null` if nothing is held. */
  findHold: () => Promise<Hold | null>
}

type NewWebhook = Static<typeof CreateWebhook>

/** The fields to change, with the values of the headers. */
type Changes = Omit<WebhookChanges, 'headers'> & { headers?: OwnHeaders | null }

/** Counting further would take too long. */
const maxPending = 1000
const maxPreviewed = 100

/** The operations, and the list for the vendor. */
export interface WebhookOperations extends EngineOperations {
  /** Lists failing and disabled webhooks of all tenants. */
  listFailing (query: Static<typeof FailingQuery>): Promise<FailingWebhook[]>
}

/**
 * Returns a tenant's webhook operations, for input that matches its schema. An operation on a webhook or delivery that
 * does not exist returns `null`. Throws an `InputError`, and changes nothing, for input that a schema cannot check.
 */
export function createWebhookOperations (parts: Parts): WebhookOperations {
  const {
    webhooks, history, events, targetRules, secrets, maxWebhooksPerTenant, maxWebhooksPerCreator, findHold, findStop,
    clock
  } = parts
  const exampleOf = createEventExamples(events)
  // Names are ASCII, so this is the order of code points.
  const ascending = Object.entries(events).sort(([one], [other]) => one < other ? -1 : 1)
  const findMaximum = createCachedLimit(maxWebhooksPerTenant, {
    path: 'maxWebhooksPerTenant',
    minimum: 1,
    maximum: maxWebhooks,
    clock
  })

  function normalize<T extends Changes> (input: T): T {
    const { name, target_url: target, filters } = input
    return {
      ...input,
      ...(name !== undefined ? { name: readName(name) } : {}),
      ...(target !== undefined ? { target_url: parseTargetUrl(target, targetRules).href } : {}),
      ...(filters !== undefined ? { filters: noneIfEmpty(filters) } : {})
    }
  }

  function readMaximum ({ id, slug }: Tenant): Promise<number> {
    return findMaximum(id, { tenantSlug: slug, tenantId: id })
  }

  /** Returns `null`, and stores nothing, if the tenant already has `maximum` webhooks. */
  async function store (
    tenant: Tenant, { headers = null, ...input }: NewWebhook, creator: Creator, secret: string,
    options: CreateOptions, legacy: LegacyKey | null = null
  ): Promise<Webhook | null> {
    const id = await webhooks.nextId(tenant.id, options.transaction)
    const sealed = await secrets.seal(secret, tenant.id, id)
    const target = { tenantId: tenant.id, webhookId: id, url: input.target_url }
    return webhooks.create(tenant.id, {
      ...input,
      id,
      tenantSlug: tenant.slug,
      secret: sealed,
      headers: await sealHeaders(secrets, { own: headers ?? {}, legacy }, target),
      created_by: creator
    }, options)
  }

  function listAll (tenantId: string): Promise<Webhook[]> {
    return webhooks.list(tenantId, {
      filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: maxWebhooks
    })
  }

  /** Finds the webhook with the same address, and the same secret or, without one, the same previous secret. */
  async function findSame (
    tenant: Tenant, own: Webhook[], url: string, secret: string | undefined, legacy: LegacyKey | null
  ): Promise<Webhook | null> {
    for (const webhook of own.filter(({ target_url: other }) => other === url)) {
      if (secret === undefined) {
        const stored = await openStored(tenant, webhook)
        if (stored.legacy !== null && stored.legacy.secret === legacy?.secret) return webhook
        continue
      }
      const sealed = (await webhooks.findSecrets(tenant.id, webhook.id)) ?? []
      for (const text of sealed) {
        if (isSameSecret(await secrets.open(text, tenant.id, webhook.id), secret)) return webhook
      }
    }
    return null
  }

  async function openStored (tenant: Tenant, { id, target_url: url }: Webhook): Promise<OpenedHeaders> {
    return openHeaders(secrets, await webhooks.findHeaders(tenant.id, id), { tenantId: tenant.id, webhookId: id, url })
  }

  /** Changes when and how the previous signature is sent. */
  async function changeLegacy (tenant: Tenant, webhook: Webhook, legacy: LegacyKey | null): Promise<Webhook> {
    if (legacy === null) return webhook
    const stored = await openStored(tenant, webhook)
    if (isDeepStrictEqual(stored.legacy, legacy)) return webhook
    const target = { tenantId: tenant.id, webhookId: webhook.id, url: webhook.target_url }
    const headers = await sealHeaders(secrets, { ...stored, legacy }, target)
    return await webhooks.update(tenant.id, webhook.id, { headers }) ?? webhook
  }

  function assertKnown (field: string, type: string): void {
    if (!Object.hasOwn(events, type)) throw new InputError(field, 'must be an event type of the catalogue')
  }

  function assertAllKnown (types: readonly string[], others: ReadonlySet<string> = new Set()): void {
    for (const [index, type] of types.entries()) if (!others.has(type)) assertKnown(`event_types[${index}]`, type)
  }

  async function listUsedEventTypes ({ id }: Pick<Tenant, 'id'>): Promise<ReadonlySet<string>> {
    return new Set((await listAll(id)).flatMap(({ event_types: types }) => types))
  }

  /** Throws unless each event type is in the catalogue, or a webhook of the tenant subscribes to it. */
  async function assertUsable (tenantId: string, types: readonly string[]): Promise<void> {
    if (types.every((type) => Object.hasOwn(events, type))) return
    assertAllKnown(types, await listUsedEventTypes({ id: tenantId }))
  }

  /** Starts over if `target_url` changed meanwhile: new headers or secrets must not go to the old address. */
  async function findTarget (
    tenant: Tenant, id: number
  ): Promise<{ webhook: Webhook, sealed: string[], headers: string | null } | null> {
    const webhook = await webhooks.find(tenant.id, id)
    const sealed = await webhooks.findSecrets(tenant.id, id)
    const headers = await webhooks.findHeaders(tenant.id, id)
    const now = await webhooks.find(tenant.id, id)
    if (webhook === null || sealed === null || now === null) return null
    return now.target_url === webhook.target_url ? { webhook, sealed, headers } : findTarget(tenant, id)
  }

  return {
    ...createDeliveryOperations({ webhooks, history, clock, findStop, assertUsable }),

    listUsedEventTypes,

    list: ({ tenant, input }) =>
      readPage<Webhook, WebhookFilter, WebhookSortField>({
        list: (page) => webhooks.list(tenant.id, page),
        count: (filter) => webhooks.count(tenant.id, filter)
      }, parsePaging(input, omitUndefined({ status: input['filter[status]'] }))),

    async find ({ tenant, id }) {
      const [webhook, health, graceEnd, hold] = await Promise.all([
        webhooks.find(tenant.id, id), webhooks.findHealth(tenant.id, id),
        webhooks.findGraceEnd(tenant.id, id), findHold()
      ])
      return webhook && health && {
        ...webhook,
        health: hold === null ? health : { ...health, held: true },
        previous_secret_expires_at: graceEnd
      }
    },

    listFailing: ({ limit }) => webhooks.listFailing({ limit, maxPending }),

    async create ({ tenant, input, caller, keep, transaction }) {
      const secret = generateSecret()
      assertAllKnown(input.event_types)
      assertHeaderNames(input.headers)
      const normalized = normalize(input)
      const maximum = await readMaximum(tenant)
      const show = (webhook: Webhook) => withSecret(webhook, secret)
      const maxPerCreator = caller.type === 'code' ? null : maxWebhooksPerCreator
      const options = { maxPerTenant: maximum, maxPerCreator, answer: keep?.(show), transaction }
      const webhook = await store(tenant, normalized, caller, secret, options)
      if (webhook !== null) return show(webhook)
      if (maxPerCreator === null || await webhooks.count(tenant.id, {}) >= maximum) return rejectMore(maximum)
      throw new InputError('', `the ${creatorNames[caller.type]} already has the maximum of ${maxPerCreator} webhooks`)
    },

    async import ({ tenant, input: { secret, legacy: given, ...input }, caller }) {
      if (secret !== undefined ? !isSecret(secret) : given?.secret === undefined) {
        const hint = hintForSecret(secret ?? '')
        throw new InputError('secret', `must be whsec_ and 24 to 64 bytes in base64${hint === null ? '' : `: ${hint}`}`)
      }
      assertAllKnown(input.event_types)
      assertHeaderNames(input.headers, given)
      const legacy = given === undefined ? null : readLegacy(given, secret, clock.now())
      const normalized = normalize(input)
      for (;;) {
        const own = await listAll(tenant.id)
        const same = await findSame(tenant, own, normalized.target_url, secret, legacy)
        if (same !== null) return changeLegacy(tenant, same, legacy)
        const maximum = await readMaximum(tenant)
        if (own.length >= maximum) rejectMore(maximum)
        // Not stored if another request has created a webhook in between, which may be the same one.
        const options = { maxPerTenant: own.length + 1 }
        const created = await store(tenant, normalized, caller, secret ?? generateSecret(), options, legacy)
        if (created !== null) return created
      }
    },

    async update ({ tenant, id, input }) {
      await assertUsable(tenant.id, input.event_types ?? [])
      const { headers, ...normalized } = normalize<Changes>(input)
      const { target_url: target } = normalized
      if (headers === undefined && target === undefined) return webhooks.update(tenant.id, id, normalized)
      const current = await webhooks.find(tenant.id, id)
      if (current === null) return null
      // If another request changes the address first, the headers have another origin and are not sent.
      const url = target ?? current.target_url
      if (headers === undefined && url === current.target_url) return webhooks.update(tenant.id, id, normalized)
      const { legacy } = await openStored(tenant, current)
      assertHeaderNames(headers, legacy ?? undefined)
      const place = { tenantId: tenant.id, webhookId: id, url }
      const sealed = await sealHeaders(secrets, { own: headers ?? {}, legacy }, place)
      return webhooks.update(tenant.id, id, { ...normalized, headers: sealed })
    },

    delete: async ({ tenant, id }) => await webhooks.delete(tenant.id, id) ? {} : null,

    async rotateSecret ({ tenant, id, input: { grace_period_seconds: seconds }, keep }) {
      const secret = generateSecret()
      const show = (webhook: RotatedWebhook) => withSecret(webhook, secret)
      const rotation = { secret: await secrets.seal(secret, tenant.id, id), gracePeriodSeconds: seconds }
      const webhook = await webhooks.rotateSecret(tenant.id, id, rotation, keep?.(show))
      return webhook && show(webhook)
    },

    async sendTest ({ tenant, id, input: { event_type: eventType } }) {
      if (eventType !== undefined) assertKnown('event_type', eventType)
      const target = await findTarget(tenant, id)
      if (target === null) return null
      const { webhook: { target_url: url, event_types: [firstType = ''] }, sealed, headers } = target
      const type = eventType ?? firstType
      const data = exampleOf(type)
      if (data === null) {
        throw new InputError('event_type', 'must be an event type with an example that fits its schema')
      }
      return sendTest(parts, {
        type,
        data,
        tenant,
        webhookId: id,
        url,
        secrets: await Promise.all(sealed.map((text) => secrets.open(text, tenant.id, id))),
        headers: await openHeaders(secrets, headers, { tenantId: tenant.id, webhookId: id, url })
      })
    },

    listEventTypes: ({ input }) => readPage<Static<typeof EventType>, null, 'name'>({
      async list ({ sort: [first], offset, limit }) {
        const sorted = first?.direction === 'desc' ? ascending.toReversed() : ascending
        return sorted.slice(offset, offset + limit).map(([name, event]) => describeEvent(name, event, exampleOf(name)))
      },
      count: async () => ascending.length
    }, parsePaging(input, null)),

    async preview ({ tenant, input: { event_types: eventTypes, filters = null, changed = null } }) {
      const { latest } = history
      assertOption(latest !== undefined, 'storage.feed', 'a storage with a feed', latest)
      await assertUsable(tenant.id, eventTypes)
      const bodies = await latest(tenant.id, { limit: maxPreviewed, eventTypes })
      const matching = bodies.filter((body) => createFilterTest(body)(filters, changed))
      return { events: bodies.length, matching: matching.length }
    }
  }
}

function describeEvent (name: string, event: TObject, example: object | null): Static<typeof EventType> {
  const { schema, deprecation, descriptions } = splitEvent(event)
  const { description = null } = schema
  return {
    name,
    description,
    ...(descriptions === null ? {} : { descriptions }),
    schema,
    example,
    ...(deprecation === null ? {} : { deprecated: deprecation })
  }
}

function rejectMore (maximum: number): never {
  throw new InputError('', `the tenant already has the maximum of ${maximum} webhooks`)
}

const creatorNames = { key: 'key', session: 'user', code: 'code' }

function noneIfEmpty (filters: EventFilters | null): EventFilters | null {
  return Object.keys(filters ?? {}).length === 0 ? null : filters
}

/** Adds the unsealed secret, for the only response that shows it. Omits optional fields without a value. */
function withSecret<T extends Webhook> ({ headers, filters, changed, contact, ...webhook }: T, secret: string) {
  const given = Object.entries({ headers, filters, changed, contact }).filter(([, value]) => value !== null)
  const shown: Partial<Pick<T, 'headers' | 'filters' | 'changed' | 'contact'>> = Object.fromEntries(given)
  return { ...webhook, ...shown, secret }
}
