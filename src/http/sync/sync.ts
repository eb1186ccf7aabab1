import type { ChangeKind, ChangeSource, Id, IdKind, RowFields } from '../../ports/index.js'
import { parseId } from '../../shared/ids.js'
import { HttpError } from '../wire-errors.js'
import { type SyncState, formatToken, parseToken } from './token.js'

/** Reads rows for sync. */
export interface SyncRows<Row extends { id: Id }> {
  listAfter (tenantSlug: string, query: RowFields & { after: Id | null, limit: number }): Promise<Row[]>
  findMany (tenantSlug: string, ids: readonly Id[], query: RowFields): Promise<Array<Row | null>>
}

/** Returns whether a source of rows has the methods for sync. */
export function isSyncable<Row extends { id: Id }> (source: object): source is SyncRows<Row> {
  return ['listAfter', 'findMany'].every((method) => typeof Reflect.get(source, method) === 'function')
}

interface Dependencies<Row extends { id: Id }> {
  kind: ChangeKind
  idKind: IdKind
  fields: readonly string[]
  rows: SyncRows<Row>
  changes: ChangeSource
  /** Throws for a row whose ids are not of the declared kind. */
  assertRow (method: string, row: Row): void
}

/** An item of a sync; `row` is `null` if it is gone. */
export interface SyncItem<Row> { id: Id, row: Row | null }

/** One page of a sync. */
export interface SyncPage<Row> {
  items: Array<SyncItem<Row>>
  token: string
  hasMore: boolean
}

interface Query { tenantSlug: string, token: string | undefined, limit: number }

/** Items with the state of a client that has them. */
interface Read<Row> extends Omit<SyncPage<Row>, 'token'> { state: SyncState }

/**
 * Returns a function that reads one page of a sync: all rows by id, then the changes since the first page. A change that
 * commits while the rows are read is among the changes, so nothing is missed. Throws a 410 for a token that is not valid.
 */
export function createSync<Row extends { id: Id }> (dependencies: Dependencies<Row>): (query: Query) => Promise<SyncPage<Row>> {
  const { kind, changes } = dependencies
  const readSecret = createOnce(() => changes.tokenSecret())

  return async ({ tenantSlug, token, limit }) => {
    const secret = await readSecret()
    const subject = `${kind}\n${tenantSlug}`
    const state = token === undefined ? null : parseToken(secret, subject, token)
    if (token !== undefined && state === null) throw new HttpError('sync_token_expired')
    const page = await readPage(dependencies, tenantSlug, state, limit)
    return { items: page.items, hasMore: page.hasMore, token: formatToken(secret, subject, page.state) }
  }
}

async function readPage<Row extends { id: Id }> (
  dependencies: Dependencies<Row>, tenantSlug: string, state: SyncState | null, limit: number
): Promise<Read<Row>> {
  if (state === null) return readRows(dependencies, tenantSlug, { position: await dependencies.changes.begin(tenantSlug, dependencies.kind), after: null, limit })
  const { position, afterId } = state
  if (afterId === null) return readChanges(dependencies, tenantSlug, position, limit)
  return readRows(dependencies, tenantSlug, { position, after: parseId(afterId, dependencies.idKind) ?? expired(), limit })
}

async function readRows<Row extends { id: Id }> (
  { kind, rows, changes, fields, assertRow }: Dependencies<Row>,
  tenantSlug: string,
  { position, after, limit }: { position: string, after: Id | null, limit: number }
): Promise<Read<Row>> {
  // Also tells whether the position is still known.
  const next = await changes.list(tenantSlug, kind, { after: position, limit: 1 }) ?? expired()
  const page = await rows.listAfter(tenantSlug, { after, limit, fields })
  for (const row of page) assertRow('listAfter', row)
  assertAscending([...after === null ? [] : [after], ...page.map(({ id }) => id)], kind)
  const last = page.length < limit ? undefined : page.at(-1)
  return {
    items: page.map((row) => ({ id: row.id, row })),
    hasMore: last !== undefined || next.ids.length > 0,
    state: { position, afterId: last === undefined ? null : String(last.id) }
  }
}

async function readChanges<Row extends { id: Id }> (
  { kind, idKind, rows, changes, fields, assertRow }: Dependencies<Row>, tenantSlug: string, after: string, limit: number
): Promise<Read<Row>> {
  const page = await changes.list(tenantSlug, kind, { after, limit }) ?? expired()
  const ids = [...new Set(page.ids)].map((id) => parseId(id, idKind)).filter((id) => id !== null)
  // Read after the changes: what changes meanwhile comes again.
  const found = ids.length === 0 ? [] : await rows.findMany(tenantSlug, ids, { fields })
  for (const row of found) if (row !== null) assertRow('findMany', row)
  return {
    items: ids.map((id, index) => ({ id: found[index]?.id ?? id, row: found[index] ?? null })),
    hasMore: page.hasMore,
    state: { position: page.position, afterId: null }
  }
}

/** Rejects rows that share an id or come in another order: sync would miss some of them. */
function assertAscending (ids: readonly Id[], kind: ChangeKind): void {
  const repeated = ids.find((id, index) => index > 0 && !isBefore(ids[index - 1], id))
  if (repeated !== undefined) throw new Error(`${kind}s.listAfter returned the id ${repeated} twice, or not in ascending order`)
}

function isBefore (a: Id | undefined, b: Id): boolean {
  return a !== undefined && a < b
}

function expired (): never {
  throw new HttpError('sync_token_expired')
}

/** Calls `read` once; after a failure, again. */
function createOnce<Value> (read: () => Promise<Value>): () => Promise<Value> {
  let reading: Promise<Value> | null = null
  return () => {
    reading ??= read().catch((error: unknown) => {
      reading = null
      throw error
    })
    return reading
  }
}
