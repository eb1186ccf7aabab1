import type { FastifyBaseLogger } from 'fastify'
import type { ChangeKind, ChangeSource, Id, IdKind, RowFields } from '../ports/index.js'
import { parseId } from '../shared/ids.js'
import { createTokens, expired } from './tokens.js'
import { HttpError } from './wire-errors.js'

/** Reads rows for sync. */
interface SyncRows<Row extends { id: Id }> {
  listAfter (tenant: string, query: RowFields & { after: Id | null, limit: number }): Promise<Row[]>
  findMany (tenant: string, ids: readonly Id[], query: RowFields): Promise<Array<Row | null>>
}

/** Returns whether the changes of a kind are recorded. */
export async function isRecorded (changes: ChangeSource, kind: ChangeKind): Promise<boolean> {
  return await changes.isRecorded?.(kind) ?? true
}

/** Returns whether a source of rows has the methods for sync. */
export function isSyncable<Row extends { id: Id }> (source: object): source is SyncRows<Row> {
  return ['listAfter', 'findMany'].every((method) => typeof Reflect.get(source, method) === 'function')
}

interface Dependencies<Row extends { id: Id }> {
  kind: ChangeKind
  idKind: IdKind
  selected: RowFields
  rows: SyncRows<Row>
  changes: ChangeSource
}

/** An item of a sync; `row` is `null` if it no longer exists. */
interface SyncItem<Row> { id: Id, row: Row | null }

/** One page of a sync. */
interface SyncPage<Row> {
  items: Array<SyncItem<Row>>
  token: string
  hasMore: boolean
}

interface Query<Row> {
  tenant: string
  token: string | undefined
  limit: number
  log: Pick<FastifyBaseLogger, 'error'>
  /** Throws if a row does not fit its schema. */
  assertRows (method: string, rows: readonly Row[]): void
}

/** Items, and the state of the client once it has received them. */
interface Read<Row> extends Omit<SyncPage<Row>, 'token'> { state: SyncState }

/**
 * Returns a function that reads one page of a sync: all rows by id, then the changes since the first page. A change
 * that commits while the rows are read is among the changes, so nothing is missed. Throws a 410 for a token that is
 * not valid and while the storage has missed changes, and a 404 if changes are no longer recorded.
 */
export function createSync<Row extends { id: Id }> (
  dependencies: Dependencies<Row>
): (query: Query<Row>) => Promise<SyncPage<Row>> {
  const { kind, changes } = dependencies
  const tokens = createTokens(changes)

  return async (query) => {
    const { tenant, token } = query
    const subject = `${kind}\n${tenant}`
    const [position = null, afterId = null] = (await tokens.read(subject, token)) ?? []
    const { items, hasMore, state } =
      position === null
        ? await beginRows(dependencies, query)
        : await readPage(dependencies, query, { position, afterId })
    return { items, hasMore, token: await tokens.format(subject, [state.position, state.afterId]) }
  }
}

async function readPage<Row extends { id: Id }> (
  dependencies: Dependencies<Row>, query: Query<Row>, { position, afterId }: SyncState
): Promise<Read<Row>> {
  if (afterId === null) return readChanges(dependencies, query, position)
  return readRows(dependencies, query, { position, after: parseId(afterId, dependencies.idKind) ?? expired() })
}

async function beginRows<Row extends { id: Id }> (
  dependencies: Dependencies<Row>, query: Query<Row>
): Promise<Read<Row>> {
  const { changes, kind } = dependencies
  const { tenant, log } = query
  if (!await isRecorded(changes, kind)) throw new HttpError('not_found')
  function missed (): never {
    log.error(
      {},
      `changes of ${kind}s were missed, so ${kind}s/sync answers 410: doctor names the table, and watch repairs it`
    )
    return expired()
  }
  return readRows(dependencies, query, {
    position: await changes.begin(tenant, kind),
    after: null,
    expire: missed
  })
}

async function readRows<Row extends { id: Id }> (
  { kind, rows, changes, selected }: Dependencies<Row>,
  { tenant, limit, assertRows }: Query<Row>,
  { position, after, expire = expired }: { position: string, after: Id | null, expire?: () => never }
): Promise<Read<Row>> {
  // Also checks that the position is still known.
  const next = (await changes.list(tenant, kind, { after: position, limit: 1 })) ?? expire()
  const found = await rows.listAfter(tenant, { after, limit, ...selected })
  assertRows('listAfter', found)
  assertAscending([...(after === null ? [] : [after]), ...found.map(({ id }) => id)], kind)
  const page = found.slice(0, countFitting(found))
  const last = page.length < found.length || found.length === limit ? page.at(-1) : undefined
  return {
    items: page.map((row) => ({ id: row.id, row })),
    hasMore: last !== undefined || next.ids.length > 0,
    state: { position, afterId: last === undefined ? null : String(last.id) }
  }
}

async function readChanges<Row extends { id: Id }> (
  dependencies: Dependencies<Row>,
  query: Query<Row>,
  after: string
): Promise<Read<Row>> {
  const { kind, idKind, rows, changes, selected } = dependencies
  const { tenant, limit, assertRows } = query
  const page = await changes.list(tenant, kind, { after, limit }) ?? expired()
  const ids = [...new Set(page.ids)].map((id) => parseId(id, idKind)).filter((id) => id !== null)
  // Read after the changes, so an item that changes in between is returned again later.
  const found = ids.length === 0 ? [] : await rows.findMany(tenant, ids, selected)
  assertRows('findMany', found.filter((row) => row !== null))
  const fitting = countFitting(found)
  if (fitting < found.length) return readChanges(dependencies, { ...query, limit: fitting }, after)
  return {
    items: ids.map((id, index) => ({ id: found[index]?.id ?? id, row: found[index] ?? null })),
    hasMore: page.hasMore,
    state: { position: page.position, afterId: null }
  }
}

/** A page of sync ends with the row that exceeds this size of all rows. */
const maxPageBytes = 10 * 1024 * 1024

/** Returns how many of the first rows a page has: at least one. */
function countFitting (rows: readonly unknown[]): number {
  let bytes = 0
  const full = rows.findIndex((row) => {
    bytes += JSON.stringify(row).length
    return bytes >= maxPageBytes
  })
  return full === -1 ? rows.length : full + 1
}

/** Rejects rows that share an id or come in another order: sync would miss some of them. */
function assertAscending (ids: readonly Id[], kind: ChangeKind): void {
  const repeated = ids.find((id, index) => index > 0 && !isBefore(ids[index - 1], id))
  if (repeated !== undefined) {
    throw new Error(`${kind}s.listAfter returned the id ${repeated} twice, or not in ascending order`)
  }
}

function isBefore (a: Id | undefined, b: Id): boolean {
  return a !== undefined && a < b
}

/** The position of a client. */
interface SyncState {
  /** The position among the changes. */
  position: string
  /** While the client still reads all rows: the id of the last one, as text; otherwise `null`. */
  afterId: string | null
}
