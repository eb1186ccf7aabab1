import type { Static } from '@sinclair/typebox'
import { Refusal } from '../../errors.js'
import { readName } from '../../shared/text.js'
import type {
  Clock,
  EventFilters,
  FailingWebhook,
  Hold,
  RotatedWebhook,
  Tenant,
  Webhook,
  WebhookChanges,
  WebhookFilter,
  WebhookSortField,
  WebhookStore
} from '../../ports/index.js'
import { createCachedLimit } from '../../shared/cached.js'
import type { Limit } from '../../shared/read-options.js'
import { omitUndefined } from '../../shared/fields.js'
import { type Page, readPage } from '../../shared/paging.js'
import type { EventSchemas } from '../events/catalogue.js'
import { type TargetRules, parseTargetUrl } from '../ssrf/addresses.js'
import type { WebhookQuery, WebhookWithHealth } from '../schemas/webhook.js'
import { type OwnHeaders, type SecretBox, assertHeaderNames, sealHeaders } from '../secrets.js'
import { generateSecret, isSameSecret, isSecret } from '../sending/signature.js'
import { assertAllKnown, assertUsable, listUsedTypes } from './event-types.js'
import { type LimitedTenant, maxWebhooks } from '../../options/options.js'

export interface WebhookInput {
  name: string
  target_url: string
  event_types: string[]
  status: 'active' | 'inactive'
  headers?: OwnHeaders | null
  filters?: EventFilters | null
}

export interface WebhookUpdate extends Omit<WebhookChanges, 'headers'> {
  headers?: OwnHeaders | null
}

/** A webhook with its unsealed secret, for the only response that shows it. */
export type WithSecret<T extends Webhook> = Omit<T, 'headers' | 'filters'> & {
  headers?: Webhook['headers']
  filters?: Webhook['filters']
  secret: string
}

/** Lists, reads and changes webhooks. */
export interface Management {
  list(tenant: Pick<Tenant, 'id'>, query: Static<typeof WebhookQuery>): Promise<Page<Webhook>>
  find(tenant: Pick<Tenant, 'id'>, id: number): Promise<WebhookWithHealth | null>
  /** Returns the event types that the tenant's webhooks subscribe to, in the catalogue or not. */
  listUsedEventTypes(tenant: Pick<Tenant, 'id'>): Promise<ReadonlySet<string>>
  /** Lists failing and disabled webhooks of all tenants. */
  listFailing(options: { limit: number }): Promise<FailingWebhook[]>
  create(tenant: Tenant, input: WebhookInput): Promise<WithSecret<Webhook>>
  /** Creates a webhook with this secret, or returns the one that has it and the same address. */
  import(tenant: Tenant, input: WebhookInput & { secret: string }): Promise<Webhook>
  update(tenant: Pick<Tenant, 'id'>, id: number, changes: WebhookUpdate): Promise<Webhook | null>
  /** Returns `false` if the webhook does not exist. */
  delete(tenant: Pick<Tenant, 'id'>, id: number): Promise<boolean>
  rotateSecret(
    tenant: Pick<Tenant, 'id'>,
    id: number,
    input: { grace_period_seconds: number }
  ): Promise<WithSecret<RotatedWebhook> | null>
}

/** The parts that webhooks are managed with. */
export interface ManagementDependencies {
  webhooks: WebhookStore
  events: EventSchemas
  targetRules: TargetRules
  secrets: SecretBox
  maxWebhooksPerTenant: Limit<LimitedTenant>
  clock: Clock
  /** Returns why sending is held; `null` if it is not. */
  findHold: () => Promise<Hold | null>
}

/** Counting further would take too long. */
const maxPending = 1000

/** Checks the input that no schema can judge, and seals secrets for the storage. */
export function createManagement ({
  webhooks,
  events,
  targetRules,
  secrets,
  maxWebhooksPerTenant,
  findHold,
  clock
}: ManagementDependencies): Management {
  const findMaximum = createCachedLimit(maxWebhooksPerTenant, {
    path: 'maxWebhooksPerTenant',
    minimum: 1,
    maximum: maxWebhooks,
    clock
  })

  function normalize<T extends WebhookUpdate> (input: T): T {
    const { name, target_url: target, headers = null, filters } = input
    assertHeaderNames(headers)
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
    tenant: Tenant,
    { headers = null, ...input }: WebhookInput,
    secret: string,
    maximum: number
  ): Promise<Webhook | null> {
    const id = await webhooks.nextId(tenant.id)
    const sealed = await secrets.seal(secret, tenant.id, id)
    return webhooks.create(
      tenant.id,
      {
        ...input,
        id,
        tenantSlug: tenant.slug,
        secret: sealed,
        headers: await sealHeaders(secrets, headers, { tenantId: tenant.id, webhookId: id, url: input.target_url })
      },
      maximum
    )
  }

  function listAll (tenant: Tenant): Promise<Webhook[]> {
    return webhooks.list(tenant.id, {
      filter: {},
      sort: [{ field: 'id', direction: 'asc' }],
      offset: 0,
      limit: maxWebhooks
    })
  }

  async function findSame (tenant: Tenant, own: Webhook[], url: string, secret: string): Promise<Webhook | null> {
    for (const webhook of own.filter(({ target_url: other }) => other === url)) {
      const sealed = (await webhooks.findSecrets(tenant.id, webhook.id)) ?? []
      for (const text of sealed) {
        if (isSameSecret(await secrets.open(text, tenant.id, webhook.id), secret)) return webhook
      }
    }
    return null
  }

  return {
    async list (tenant, query) {
      return readPage<Webhook, WebhookFilter, WebhookSortField>(
        {
          list: (page) => webhooks.list(tenant.id, page),
          count: (filter) => webhooks.count(tenant.id, filter)
        },
        query,
        omitUndefined({ status: query['filter[status]'] })
      )
    },

    async find (tenant, id) {
      const [webhook, health, graceEnd, hold] = await Promise.all([
        webhooks.find(tenant.id, id),
        webhooks.findHealth(tenant.id, id),
        webhooks.findGraceEnd(tenant.id, id),
        findHold()
      ])
      return (
        webhook &&
        health && {
          ...webhook,
          health: hold === null ? health : { ...health, held: true },
          previous_secret_expires_at: graceEnd
        }
      )
    },

    listUsedEventTypes: ({ id }) => listUsedTypes(webhooks, id),

    listFailing: ({ limit }) => webhooks.listFailing({ limit, maxPending }),

    async create (tenant, input) {
      const secret = generateSecret()
      assertAllKnown(events, input.event_types)
      const normalized = normalize(input)
      const maximum = await readMaximum(tenant)
      return withSecret(await store(tenant, normalized, secret, maximum) ?? refuseMore(maximum), secret)
    },

    async import (tenant, { secret, ...input }) {
      if (!isSecret(secret)) throw new Refusal('secret', 'must be whsec_ and 24 to 64 bytes in base64')
      assertAllKnown(events, input.event_types)
      const normalized = normalize(input)
      for (;;) {
        const own = await listAll(tenant)
        const same = await findSame(tenant, own, normalized.target_url, secret)
        if (same !== null) return same
        const maximum = await readMaximum(tenant)
        if (own.length >= maximum) refuseMore(maximum)
        // Not stored if another request has created a webhook since the list: it may be the same one.
        const created = await store(tenant, normalized, secret, own.length + 1)
        if (created !== null) return created
      }
    },

    async update (tenant, id, changes) {
      await assertUsable({ events, webhooks }, tenant.id, changes.event_types ?? [])
      const { headers, ...normalized } = normalize(changes)
      const { target_url: target } = normalized
      if (headers === undefined && target === undefined) return webhooks.update(tenant.id, id, normalized)
      const current = await webhooks.find(tenant.id, id)
      if (current === null) return null
      // Another request may change the address before this one: then the headers have another origin and stay sealed.
      const url = target ?? current.target_url
      const sealed = await sealHeaders(secrets, headers ?? null, { tenantId: tenant.id, webhookId: id, url })
      const isKept = headers === undefined && url === current.target_url
      return webhooks.update(tenant.id, id, isKept ? normalized : { ...normalized, headers: sealed })
    },

    delete: (tenant, id) => webhooks.delete(tenant.id, id),

    async rotateSecret (tenant, id, { grace_period_seconds: gracePeriodSeconds }) {
      const secret = generateSecret()
      const sealed = await secrets.seal(secret, tenant.id, id)
      const webhook = await webhooks.rotateSecret(tenant.id, id, { secret: sealed, gracePeriodSeconds })
      return webhook && withSecret(webhook, secret)
    }
  }
}

function refuseMore (maximum: number): never {
  throw new Refusal('', `the tenant already has the maximum of ${maximum} webhooks`)
}

function noneIfEmpty (filters: EventFilters | null): EventFilters | null {
  return Object.keys(filters ?? {}).length === 0 ? null : filters
}

/** Omits `headers` and `filters` if there are none. */
function withSecret<T extends Webhook> ({ headers, filters, ...webhook }: T, secret: string): WithSecret<T> {
  return { ...webhook, ...(headers === null ? {} : { headers }), ...(filters === null ? {} : { filters }), secret }
}
