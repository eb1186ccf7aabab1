import type { FastifyBaseLogger, RouteOptions } from 'fastify'
import type { ChangeKind, ChangeSource, Connections, EventFeed, EventStorage, Id, IdKind } from '../ports/index.js'
import { runInPlace } from '../shared/connections.js'
import { feedSubject } from '../shared/feed.js'
import { parseId } from '../shared/ids.js'
import { createTokens, type Tokens } from '../shared/tokens.js'
import { expired, guardPort, HttpError } from './wire-errors.js'

/** What clients follow with tokens. `null` if the storage does not keep it. */
export interface Followed {
  changes: Stream<ChangeSource> | null
  feed: Stream<EventFeed> | null
  connections: Connections | undefined
}

interface Stream<Port> {
  source: Port
  tokens: Tokens
}

export function createFollowed (
  { changes, feed, connections }: Pick<EventStorage, 'changes' | 'feed' | 'connections'>
): Followed {
  return { changes: toStream(changes), feed: toStream(feed), connections }
}

function toStream<Port extends { tokenSecret (): Promise<Uint8Array> }> (port: Port | undefined): Stream<Port> | null {
  if (port === undefined) return null
  const source = guardPort(port)
  return { source, tokens: createTokens(source) }
}

/** A row, as the response contains it. */
interface Entry<Item> {
  id: Id
  /** `null` if it was deleted. */
  item: Item | null
}

export interface SyncedRows<Item> {
  kind: ChangeKind
  idKind: IdKind
  /** Returns up to `limit` rows with ids above `after`, by ascending id. */
  listAfter (after: Id | null, limit: number): Promise<Array<Entry<Item>>>
  /** Returns each of these ids. */
  findMany (ids: readonly Id[]): Promise<Array<Entry<Item>>>
}

interface SyncInput {
  tenant: string
  token: string | undefined
  limit: number
  log: Pick<FastifyBaseLogger, 'error'>
}

/** One page of a sync, and the state of the client once it has received it. */
interface Read<Item> {
  entries: Array<Entry<Item>>
  hasMore: boolean
  /** The position among the changes. */
  position: string
  /** The id of the last row, as text, while the client still reads all rows; otherwise `null`. */
  afterId: string | null
}

/** A sync that began without a token, until its last page. */
interface Load {
  /** The position in the feed up to which the copy contains what the events describe. */
  events: string
  /** How often the page that could be the last one was followed by another. */
  tries: number
}

interface SyncPage<Item> {
  entries: Array<Entry<Item>>
  meta: { next_token: string, has_more: boolean, events_token?: string }
}

export async function isRecorded ({ changes }: Followed, kind: ChangeKind): Promise<boolean> {
  return changes !== null && await changes.source.isRecorded?.(kind) !== false
}

/**
 * Reads one page of a sync: all rows by id, then the changes since the first page. Changes that commit while the rows
 * are read are included, so nothing is missed. Throws a 410 for an invalid token and while the storage has missed
 * changes, and a 404 if changes are not recorded.
 */
export async function readSync<Item> (
  followed: Followed, rows: SyncedRows<Item>, input: SyncInput
): Promise<SyncPage<Item>> {
  const { changes, feed } = followed
  const { kind } = rows
  const { tenant, token } = input
  if (changes === null) throw new HttpError('not_found')
  const subject = `${kind}\n${tenant}`
  const [position = null, afterId = null, events = null, tries = '0'] = token === undefined
    ? []
    : await changes.tokens.read(subject, token) ?? expired()
  // Before the first row is read, so that the copy contains what these events describe.
  const start = token === undefined && feed !== null ? await feed.source.end(tenant) : events
  if (position === null && !await isRecorded(followed, kind)) throw new HttpError('not_found')
  const page = await readPage(changes.source, rows, input, { position, afterId })
  const load = start === null ? null : { events: start, tries: Number(tries) }
  const { position: reached } = page
  const last = page.hasMore || load === null ? null : await findEnd(followed, load, { kind, tenant, position: reached })
  const hasMore = page.hasMore || last?.isEnd === false
  const next = last?.load ?? load
  const state = hasMore && next !== null ? [next.events, String(next.tries)] : []
  return {
    entries: page.entries,
    meta: {
      next_token: await changes.tokens.format(subject, [reached, page.afterId, ...state]),
      has_more: hasMore,
      ...feed === null || hasMore || next === null
        ? {}
        : { events_token: await feed.tokens.format(feedSubject(tenant, null), [next.events]) }
    }
  }
}

const maxTries = 10

/**
 * Looks for the end of a load whose copy contains all changes up to a position: a position in the feed such that the
 * copy contains the changes that were committed with the events up to it, and none that was committed with a later one.
 * If writers are too busy for that, the copy may contain some of the latter after the last try.
 */
async function findEnd (
  { changes: changed, feed: fed, connections }: Followed, load: Load,
  { kind, tenant, position }: { kind: ChangeKind, tenant: string, position: string }
): Promise<{ load: Load, isEnd: boolean } | null> {
  if (changed === null || fed === null) return null
  const [{ source: changes }, { source: feed }] = [changed, fed]
  const run = <Result>(work: () => Promise<Result>) => runInPlace(connections, tenant, work)
  const end = await feed.end(tenant)
  // In this order: a change that was committed before is held back, or listed, or in the copy.
  const { heldBackMs } = await run(() => changes.stats())
  const { ids: missing } = await changes.list(tenant, kind, { after: position, limit: 1 }) ?? expired()
  const isComplete = heldBackMs === 0 && missing.length === 0
  // In this order: an event that was committed before the rows were read is held back, or listed.
  const isExact = isComplete && (await run(() => feed.stats())).heldBackMs === 0 &&
    (await feed.list(tenant, { after: end, limit: 1, eventTypes: null }))?.bodies.length === 0
  return {
    load: { events: isComplete ? end : load.events, tries: load.tries + 1 },
    isEnd: isExact || load.tries === maxTries
  }
}

function readPage<Item> (
  changes: ChangeSource, rows: SyncedRows<Item>, { tenant, limit, log }: SyncInput,
  { position, afterId }: { position: string | null, afterId: string | null }
): Promise<Read<Item>> {
  const { kind, idKind } = rows

  async function begin (): Promise<Read<Item>> {
    return readRows(await changes.begin(tenant, kind), null, () => {
      const message = 'doctor names the table, and watch repairs it'
      log.error({}, `changes of the kind ${kind} were missed, so its sync returns 410: ${message}`)
      return expired()
    })
  }

  async function readRows (position: string, after: Id | null, expire = expired): Promise<Read<Item>> {
    // Also checks that the position is still valid.
    const next = await changes.list(tenant, kind, { after: position, limit: 1 }) ?? expire()
    const found = await rows.listAfter(after, limit)
    assertAscending([...(after === null ? [] : [after]), ...found.map(({ id }) => id)], kind)
    const page = found.slice(0, countFitting(found))
    const last = page.length < found.length || found.length === limit ? page.at(-1) : undefined
    return {
      entries: page,
      hasMore: last !== undefined || next.ids.length > 0,
      position,
      afterId: last === undefined ? null : String(last.id)
    }
  }

  async function readChanges (after: string, limit: number): Promise<Read<Item>> {
    const page = await changes.list(tenant, kind, { after, limit }) ?? expired()
    const ids = [...new Set(page.ids)].map((id) => parseId(id, idKind)).filter((id) => id !== null)
    // Read after the changes, so that a row that changes in between is returned again later.
    const entries = ids.length === 0 ? [] : await rows.findMany(ids)
    const fitting = countFitting(entries)
    if (fitting < entries.length) return readChanges(after, fitting)
    return { entries, hasMore: page.hasMore, position: page.position, afterId: null }
  }

  if (position === null) return begin()
  if (afterId === null) return readChanges(position, limit)
  return readRows(position, parseId(afterId, idKind) ?? expired())
}

/** A page ends with the row that makes the rows exceed this size. */
const maxPageBytes = 10 * 1024 * 1024

/** Returns how many rows fit into a page: at least one. */
function countFitting (entries: ReadonlyArray<Entry<unknown>>): number {
  let bytes = 0
  const full = entries.findIndex(({ item }) => {
    bytes += typeof item === 'string' ? item.length : JSON.stringify(item).length
    return bytes >= maxPageBytes
  })
  return full === -1 ? entries.length : full + 1
}

/** Throws for rows with the same id or in another order, because sync would miss some. */
function assertAscending (ids: readonly Id[], kind: ChangeKind): void {
  const repeated = ids.find((id, index) => {
    const previous = ids[index - 1]
    return previous !== undefined && !(previous < id)
  })
  if (repeated !== undefined) {
    throw new Error(`${kind}s.listAfter returned the id ${repeated} twice, or not in ascending order`)
  }
}

// Also recognized by another copy of this package.
const kKind = Symbol.for('fastify-recruiting-api: kind of an own sync')

/** Marks the query of an own list's sync. */
export function markSync<Query extends object> (query: Query, kind: ChangeKind): Query {
  return Object.assign(query, { [kKind]: kind })
}

/** Returns the kind of a route that is the sync of an own list; otherwise `null`. */
export function findOwnKind ({ schema }: RouteOptions): ChangeKind | null {
  const kind: unknown = Reflect.get(Object(schema?.querystring), kKind)
  return typeof kind === 'string' ? kind : null
}

/** Hides the syncs of own lists whose changes are not recorded. They return 404. */
export async function hideUnrecorded (
  routes: readonly RouteOptions[], followed: Followed, log: Pick<FastifyBaseLogger, 'warn'>
): Promise<void> {
  for (const route of routes) {
    const kind = findOwnKind(route)
    if (kind === null || await isRecorded(followed, kind)) continue
    Object.assign(route.schema ?? {}, { hide: true })
    const remedy = 'call watch before the start'
    log.warn({}, `changes of the kind ${kind} are not recorded, so ${route.url} returns 404: ${remedy}`)
  }
}
