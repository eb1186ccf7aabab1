import type { EventFilters, Tenant } from '../../ports/index.js'
import { assertOption } from '../../shared/read-options.js'
import { createFilterTest } from '../../shared/filters.js'
import type { EventSchemas } from '../events/catalogue.js'
import type { History } from '../history.js'
import { assertAllKnown } from './event-types.js'

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
  { history, events }: { history: History, events: EventSchemas },
  tenant: Pick<Tenant, 'id'>,
  { event_types: eventTypes, filters = null }: PreviewInput
): Promise<Preview> {
  const { latest } = history
  assertOption(latest !== undefined, 'storage.feed', 'a storage with a feed', latest)
  assertAllKnown(events, eventTypes)
  const bodies = await latest(tenant.id, { limit: maxEvents, eventTypes })
  return { events: bodies.length, matching: bodies.filter((body) => createFilterTest(body)(filters)).length }
}
