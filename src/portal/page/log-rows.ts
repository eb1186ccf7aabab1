import type { Delivery, DeliveryStatus, Page } from './api.js'

/** Filters of the log; an empty text filters nothing. */
export interface LogFilter {
  status: DeliveryStatus | ''
  eventType: string
  eventId: string
}

/** The state of a log when the user opened one of its deliveries. */
export interface LogPlace {
  webhookId: number
  filter: LogFilter
  log: LogRows
  deliveryId: number
}

/** The part of a log that was loaded. */
export interface LogRows {
  /** Newest first. */
  rows: readonly Delivery[]
  /** Deliveries in the log, as the server counted last. */
  total: number
  /** How many of the newest deliveries are in `rows` for certain: from there the next page is loaded. */
  loaded: number
}

/** The difference between the newest page and the rows. */
export interface Difference {
  added: number
  removed: number
}

type DeliveryPage = Page<Delivery>

/** Begins with the newest page. */
export function startRows ({ data, meta }: DeliveryPage): LogRows {
  return { rows: data, total: meta.total, loaded: data.length }
}

export function hasMore ({ loaded, total }: LogRows): boolean {
  return loaded < total
}

/**
 * Adds a further page. New deliveries push the pages down, so rows come twice. Deliveries that left the log, for
 * example because they are no longer pending, pull them up: then the previous page is loaded again, so that no row is
 * missing.
 */
export function appendRows (log: LogRows, { data, meta: { page, per_page: perPage, total } }: DeliveryPage): LogRows {
  const reached = Math.max(0, log.loaded - Math.max(0, log.total - total))
  const begin = (page - 1) * perPage
  const loaded = begin > reached ? reached : Math.max(reached, begin + data.length)
  const isBeyond = data.length === 0 && begin <= reached
  return { rows: merge(log.rows, data), total: isBeyond ? loaded : total, loaded }
}

/** Compares the rows with the newest page. */
export function compareRows (log: LogRows, newest: DeliveryPage): Difference {
  const known = new Set(log.rows.map(({ id }) => id))
  const added = newest.data.filter(({ id }) => !known.has(id)).length
  // More than a page was added: the totals tell how many.
  const isApart = added > 0 && added === newest.data.length
  return {
    added: isApart ? Math.max(added, newest.meta.total - log.total) : added,
    removed: isApart ? 0 : findRemoved(log, newest).size
  }
}

/** Shows the newest page: adds and removes rows. A page that shares none with them begins the log anew. */
export function renewRows (log: LogRows, newest: DeliveryPage): LogRows {
  const { added, removed } = compareRows(log, newest)
  if (added >= newest.data.length) return startRows(newest)
  const gone = findRemoved(log, newest)
  const { total } = newest.meta
  return {
    rows: merge(
      log.rows.filter(({ id }) => !gone.has(id)),
      newest.data
    ),
    total,
    loaded: Math.min(total, log.loaded + added - removed)
  }
}

/** Updates the rows in place. */
export function updateRows (log: LogRows, { data }: DeliveryPage): LogRows {
  const current = new Map(data.map((row) => [row.id, row]))
  return { ...log, rows: log.rows.map((row) => current.get(row.id) ?? row) }
}

/** Rows that the page would have if they were still in the log. */
function findRemoved (log: LogRows, { data, meta }: DeliveryPage): Set<number> {
  const current = new Set(data.map(({ id }) => id))
  const lowest = data.length === meta.total ? 0 : data.at(-1)?.id ?? 0
  return new Set(log.rows.map(({ id }) => id).filter((id) => id >= lowest && !current.has(id)))
}

function merge (rows: readonly Delivery[], more: readonly Delivery[]): Delivery[] {
  const byId = new Map([...rows, ...more].map((row) => [row.id, row]))
  return [...byId.values()].sort((a, b) => b.id - a.id)
}
