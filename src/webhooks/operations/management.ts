import type { Static } from '@sinclair/typebox'
import { Refusal } from '../../errors.js'
import type { FailingWebhook, RotatedWebhook, Webhook, WebhookChanges, WebhookFilter, WebhookSortField, WebhookStore } from '../../ports/index.js'
import { omitUndefined } from '../../shared/omit-undefined.js'
import { type Page, readPage } from '../../shared/paging.js'
import type { EventCatalogue } from '../events/catalogue.js'
import { type TargetRules, parseTargetUrl } from '../guard/destination.js'
import type { WebhookQuery, WebhookWithHealth } from '../schemas/webhook.js'
import type { SecretBox } from '../secrets/secret-box.js'
import { generateSecret } from '../sending/signature.js'
import { assertAllKnown } from './event-types.js'

/** Input of `create`. */
export interface WebhookInput {
  name: string
  target_url: string
  event_types: string[]
  status: 'active' | 'inactive'
}

/** A webhook with its unsealed secret, for the only response that shows it. */
export type WithSecret<T extends Webhook> = T & { secret: string }

/** Lists, reads and changes webhooks. */
export interface Management {
  list (tenantSlug: string, query: Static<typeof WebhookQuery>): Promise<Page<Webhook>>
  find (tenantSlug: string, id: number): Promise<WebhookWithHealth | null>
  /** Lists failing and disabled webhooks of all tenants. */
  listFailing (options: { limit: number }): Promise<FailingWebhook[]>
  create (tenantSlug: string, input: WebhookInput): Promise<WithSecret<Webhook>>
  update (tenantSlug: string, id: number, changes: WebhookChanges): Promise<Webhook | null>
  /** Returns `false` if the webhook does not exist. */
  delete (tenantSlug: string, id: number): Promise<boolean>
  rotateSecret (tenantSlug: string, id: number, input: { grace_period_seconds: number }): Promise<WithSecret<RotatedWebhook> | null>
}

/** The parts that webhooks are managed with. */
export interface ManagementDependencies {
  webhooks: WebhookStore
  events: EventCatalogue
  targetRules: TargetRules
  secrets: SecretBox
  maxWebhooksPerTenant: number
}

const maxNameLength = 255
/** Counting further would take longer than it is worth. */
const maxPending = 1000

/** Checks the input that no schema can judge, and seals secrets for the storage. */
export function createManagement ({ webhooks, events, targetRules, secrets, maxWebhooksPerTenant }: ManagementDependencies): Management {
  function normalize<T extends WebhookChanges> (input: T): T {
    const { name, target_url: target, event_types: types } = input
    if (types !== undefined) assertAllKnown(events, types)
    return {
      ...input,
      ...(name !== undefined ? { name: normalizeName(name) } : {}),
      ...(target !== undefined ? { target_url: parseTargetUrl(target, targetRules).href } : {})
    }
  }

  return {
    async list (tenantSlug, query) {
      return readPage<Webhook, WebhookFilter, WebhookSortField>({
        list: (page) => webhooks.list(tenantSlug, page),
        count: (filter) => webhooks.count(tenantSlug, filter)
      }, query, omitUndefined({ status: query['filter[status]'] }))
    },

    async find (tenantSlug, id) {
      const [webhook, health] = await Promise.all([webhooks.find(tenantSlug, id), webhooks.findHealth(tenantSlug, id)])
      return webhook && health && { ...webhook, health }
    },

    listFailing: ({ limit }) => webhooks.listFailing({ limit, maxPending }),

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

    delete: (tenantSlug, id) => webhooks.delete(tenantSlug, id),

    async rotateSecret (tenantSlug, id, { grace_period_seconds: gracePeriodSeconds }) {
      const secret = generateSecret()
      const sealed = secrets.seal(secret, tenantSlug, id)
      const webhook = await webhooks.rotateSecret(tenantSlug, id, { secret: sealed, gracePeriodSeconds })
      return webhook && { ...webhook, secret }
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
