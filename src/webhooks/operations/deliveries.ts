import type { Static } from '@sinclair/typebox'
import { Refusal } from '../../errors.js'
import type {
  Delivery, DeliveryFilter, DeliverySortField, DeliveryWithAttempts, Tenant, WebhookStore, Clock, ReplayResult,
  ReplaySelection
} from '../../ports/index.js'
import { omitUndefined } from '../../shared/fields.js'
import { type Page, readPage } from '../../shared/paging.js'
import { normalizeInstant } from '../../shared/text.js'
import type { EventSchemas } from '../events/catalogue.js'
import type { History } from '../history.js'
import type { DeliveryQuery } from '../schemas/delivery.js'
import { assertUsable } from './event-types.js'

/** Reads the delivery log of a webhook, and retries its deliveries. */
export interface DeliveryOperations {
  /** Returns `null` if the webhook does not exist. */
  listDeliveries(
    tenant: Pick<Tenant, 'id'>,
    webhookId: number,
    query: Static<typeof DeliveryQuery>
  ): Promise<Page<Delivery> | null>
  findDelivery(tenant: Pick<Tenant, 'id'>, webhookId: number, id: number): Promise<DeliveryWithAttempts | null>
  retryDelivery(tenant: Pick<Tenant, 'id'>, webhookId: number, id: number): Promise<Delivery | null>
}

interface Dependencies {
  webhooks: WebhookStore
  history: History
}

/** Counting more would take too long. */
const maxLogTotal = 10_000

export function createDeliveryOperations ({ webhooks, history }: Dependencies): DeliveryOperations {
  return {
    async listDeliveries (tenant, webhookId, query) {
      const page = await readPage<Delivery, DeliveryFilter, DeliverySortField>({
        list: (page) => history.list(tenant.id, webhookId, page),
        count: (filter, options) => history.count(tenant.id, webhookId, filter, options),
        maxTotal: maxLogTotal
      }, query, omitUndefined({
        status: query['filter[status]'],
        eventType: query['filter[event_type]'],
        eventId: query['filter[event_id]']
      }))
      return page.meta.total > 0 || await webhooks.find(tenant.id, webhookId) !== null ? page : null
    },

    findDelivery: (tenant, webhookId, id) => history.find(tenant.id, webhookId, id),

    async retryDelivery (tenant, webhookId, id) {
      const retried = await history.retry(tenant.id, webhookId, id)
      if (retried === null && (await history.find(tenant.id, webhookId, id)) !== null) {
        throw new Refusal('', 'the webhook is not active')
      }
      return retried
    }
  }
}

export interface ReplayInput {
  include: 'undelivered' | 'all'
  /** RFC 3339, like `until`. */
  since?: string
  until?: string
  event_types?: string[]
  event_ids?: string[]
  /** Counts the events without queueing them. */
  dry_run: boolean
}

/** The result of a replay, with the field names of the wire. */
export interface ReplaySummary extends ReplayResult {
  webhook_id: number
  include: 'undelivered' | 'all'
  since: string | null
  until: string | null
}

interface ReplayDependencies {
  webhooks: WebhookStore
  history: Pick<History, 'replay' | 'countReplay'>
  events: EventSchemas
  clock: Clock
}

const maxReplayed = 10_000
const defaultReplayMs = 24 * 60 * 60 * 1000

/** Queues past events of a webhook again, or counts them. Returns `null` if the webhook does not exist. */
export async function replay (
  { webhooks, history, events, clock }: ReplayDependencies,
  tenant: Pick<Tenant, 'id'>,
  id: number,
  input: ReplayInput
): Promise<ReplaySummary | null> {
  const { include, event_types: eventTypes, event_ids: eventIds } = input
  if (eventTypes !== undefined) await assertUsable({ events, webhooks }, tenant.id, eventTypes)
  const period = readPeriod(input)
  const window = eventIds === undefined ? fillPeriod(period, clock.now()) : noPeriod(period)
  if (await webhooks.find(tenant.id, id) === null) return null
  const selection: ReplaySelection = {
    include,
    eventTypes: eventTypes ?? null,
    eventIds: eventIds ?? null,
    since: window.since,
    // Without `until` from the client there is no limit, because the storage's clock may be ahead of ours.
    until: period.until ?? null,
    limit: maxReplayed
  }
  const result = await (input.dry_run
    ? history.countReplay(tenant.id, id, selection)
    : history.replay(tenant.id, id, selection))
  if (result === null) throw new Refusal('', 'the webhook is not active')
  return { webhook_id: id, include, ...window, ...result }
}

interface Period {
  since: string | undefined
  until: string | undefined
}

function readPeriod ({ since, until }: ReplayInput): Period {
  return { since: readInstant('since', since), until: readInstant('until', until) }
}

function readInstant (field: 'since' | 'until', text: string | undefined): string | undefined {
  const instant = text === undefined ? undefined : normalizeInstant(text)
  if (instant === null) {
    throw new Refusal(field, 'must be a date-time of the years 1 to 9999, such as 2030-01-01T00:00:00Z')
  }
  return instant
}

function fillPeriod ({ since, until }: Period, nowMs: number): { since: string, until: string } {
  const window = {
    since: since ?? new Date(nowMs - defaultReplayMs).toISOString(),
    until: until ?? new Date(nowMs).toISOString()
  }
  if (window.since > window.until) throw new Refusal('since', 'must not be after until')
  return window
}

function noPeriod ({ since, until }: Period): { since: null, until: null } {
  if (since !== undefined || until !== undefined) {
    throw new Refusal('event_ids', 'must not be combined with since or until')
  }
  return { since: null, until: null }
}
