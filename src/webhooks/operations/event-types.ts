import type { Static, TObject } from '@sinclair/typebox'
import { Refusal } from '../../errors.js'
import { type Page, readPage } from '../../shared/paging.js'
import { type EventExamples, type EventSchemas, splitEvent } from '../events/catalogue.js'
import type { EventType, EventTypeQuery } from '../schemas/event-type.js'
import { maxWebhooks } from '../../options/options.js'
import type { EventFilters, Tenant, WebhookStore } from '../../ports/index.js'
import { assertOption } from '../../shared/read-options.js'
import { createFilterTest } from '../../shared/fields.js'
import type { History } from '../history.js'

/** Lists the catalogue, as tenants see it. */
export interface EventTypes {
  listEventTypes (query: EventTypeQuery): Promise<Page<Static<typeof EventType>>>
}

/** Returns the list of a catalogue, which never changes. */
export function createEventTypes (events: EventSchemas, exampleOf: EventExamples): EventTypes {
  // Names are ASCII, so this is the order of code points.
  const ascending = Object.entries(events).sort(([one], [other]) => one < other ? -1 : 1)
  return {
    listEventTypes: (query) => readPage<Static<typeof EventType>, null, 'name'>({
      async list ({ sort: [first], offset, limit }) {
        const sorted = first?.direction === 'desc' ? ascending.toReversed() : ascending
        return sorted.slice(offset, offset + limit).map((event) => describeEvent(event, exampleOf))
      },
      count: async () => ascending.length
    }, query, null)
  }
}

function describeEvent ([name, declared]: [string, TObject], exampleOf: EventExamples): Static<typeof EventType> {
  const { schema, deprecation, descriptions } = splitEvent(declared)
  const { description = null } = schema
  return {
    name,
    description,
    ...(descriptions === null ? {} : { descriptions }),
    schema,
    example: exampleOf(name),
    ...(deprecation === null ? {} : { deprecated: deprecation })
  }
}

/** Throws unless the event type is in the catalogue. */
export function assertKnown (events: EventSchemas, field: string, type: string): void {
  if (!Object.hasOwn(events, type)) throw new Refusal(field, 'must be an event type of the catalogue')
}

/** Throws unless all event types are in the catalogue. */
export function assertAllKnown (events: EventSchemas, types: readonly string[]): void {
  for (const [index, type] of types.entries()) assertKnown(events, `event_types[${index}]`, type)
}

interface Subscriptions {
  events: EventSchemas
  webhooks: Pick<WebhookStore, 'list'>
}

/** Returns the event types that webhooks of the tenant subscribe to, which may have left the catalogue. */
export async function listUsedTypes (webhooks: Subscriptions['webhooks'], tenantId: string): Promise<Set<string>> {
  const own = await webhooks.list(tenantId, {
    filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: maxWebhooks
  })
  return new Set(own.flatMap(({ event_types: types }) => types))
}

/** Throws unless each event type is in the catalogue, or a webhook of the tenant subscribes to it. */
export async function assertUsable (
  { events, webhooks }: Subscriptions, tenantId: string, types: readonly string[]
): Promise<void> {
  if (types.every((type) => Object.hasOwn(events, type))) return
  const used = await listUsedTypes(webhooks, tenantId)
  for (const [index, type] of types.entries()) if (!used.has(type)) assertKnown(events, `event_types[${index}]`, type)
}

export interface PreviewInput {
  event_types: string[]
  filters?: EventFilters | null
}

/** How many events a webhook would receive, with the field names of the wire. */
export interface Preview {
  events: number
  matching: number
}

const maxEvents = 100

/** Counts recent events, and those that match the filters. Throws `invalid_option` for a storage without a feed. */
export async function preview (
  { history, ...subscriptions }: Subscriptions & { history: History },
  tenant: Pick<Tenant, 'id'>,
  { event_types: eventTypes, filters = null }: PreviewInput
): Promise<Preview> {
  const { latest } = history
  assertOption(latest !== undefined, 'storage.feed', 'a storage with a feed', latest)
  await assertUsable(subscriptions, tenant.id, eventTypes)
  const bodies = await latest(tenant.id, { limit: maxEvents, eventTypes })
  return { events: bodies.length, matching: bodies.filter((body) => createFilterTest(body)(filters)).length }
}
