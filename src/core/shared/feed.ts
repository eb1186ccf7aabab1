import type { EventFeed, EventFilters } from '../ports/index.js'

/** Returns the subject of tokens of a tenant's events: a token is only valid for the same types and filters. */
export function feedSubject (
  tenant: string, eventTypes: readonly string[] | null, filters: EventFilters | null = null
): string {
  const types = eventTypes?.toSorted().join() ?? ''
  return `event\n${tenant}\n${types}${filters === null ? '' : `\n${canonicalFilters(filters)}`}`
}

/** Returns the same text for filters that differ only in the order of their paths and values. */
export function canonicalFilters (filters: EventFilters): string {
  const entries = Object.entries(filters).map(([path, values]) => {
    return [path, [...new Set(values.map((value) => JSON.stringify(value)))].sort()] as const
  })
  return JSON.stringify(entries.sort(([one], [other]) => one < other ? -1 : 1))
}

/** Before any event. */
const oldest = '0001-01-01T00:00:00.000Z'

interface Start {
  /** The position to continue from; `null` if it is unknown. */
  after: string | null
  /** The reader wants only events recorded at this time or later; `null` for no limit. */
  since: string | null
  eventTypes: readonly string[] | null
  filters: EventFilters | null
}

/**
 * Returns where a reader that accepts gaps continues, and whether it may miss events: at its position, at the oldest
 * event if others were pruned, at new events if its position is unknown, and always at `since` or later.
 */
export async function findStart (
  feed: Pick<EventFeed, 'end' | 'endBefore' | 'list'>, tenant: string, { after, since, ...selected }: Start
): Promise<{ position: string, isTruncated: boolean }> {
  const peek = async (from: string) => await feed.list(tenant, { after: from, limit: 1, ...selected })
  const isLost = after === null || await peek(after) === null
  const position = !isLost ? after : await (after === null ? feed.end(tenant) : feed.endBefore(tenant, oldest))
  const start = since === null ? position : await feed.endBefore(tenant, since, position)
  if (isLost || start === position) return { position: start, isTruncated: isLost }
  const [all, rest] = [await peek(position), await peek(start)]
  const isSkipped = all?.bodies[0] !== rest?.bodies[0] || (all?.bodies.length === 0 && all.hasMore)
  return { position: start, isTruncated: isSkipped }
}
