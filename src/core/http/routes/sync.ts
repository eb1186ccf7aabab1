import type { FastifyBaseLogger, FastifySchema, RouteOptions } from 'fastify'
import { syncOperations } from '../../api/sync.js'
import type { ChangeKind, ChangeSource, Id, IdKind, IdKinds, RowFields } from '../../ports/index.js'
import type { PublishedRows } from '../responses/published-rows.js'
import { respondWith } from '../request.js'
import { HttpError, expired } from '../wire-errors.js'
import { type ApiOperation, perform } from './operations.js'
import { parseId } from '../../shared/ids.js'
import { createTokens } from '../../shared/tokens.js'

/** A resource that can be synced. */
interface SyncedResource<Row extends { id: Id }> {
  kind: 'candidate' | 'job'
  /** Where the rows come from. */
  source: object
  published: PublishedRows<Row>
  ids: IdKinds
}

/**
 * Returns the operation that reads all rows of a resource, then its changes; none unless changes are recorded and the
 * source can read them.
 */
export async function listSyncOperations<Row extends { id: Id }> (
  changes: ChangeSource | undefined, { kind, source, published, ids }: SyncedResource<Row>
): Promise<ApiOperation[]> {
  if (changes === undefined || !isSyncable<Row>(source) || !await isRecorded(changes, kind)) return []
  const { item, select, writeRows } = published
  const sync = createSync<Row>({ kind, idKind: ids[kind], rows: source, changes })
  return perform(syncOperations(kind, item, ids), {
    async sync ({ tenant: { id: tenant }, input: { token, per_page: limit } }, request) {
      const page = await sync({
        tenant,
        token,
        limit,
        selected: select(request),
        log: request.log,
        write: (method, rows) => writeRows(method, rows, request)
      })
      const meta = { next_token: page.token, has_more: page.hasMore }
      const items = page.items.map(({ id, text }) =>
        `{"id":${JSON.stringify(id)},"deleted":${text === null},"${kind}":${text}}`)
      respondWith(request, `{"data":[${items.join()}],"meta":${JSON.stringify(meta)}}`)
      return { data: page.items, meta }
    }
  })
}

// Hosts without @fastify/swagger have no type for `hide`.
const hidden: FastifySchema & { hide: true } = { hide: true }

/** Replaces a missing sync operation: otherwise the operation for one row would run, with `sync` as the id. */
export function missingSync (kind: ChangeKind): RouteOptions {
  const reject = async (): Promise<never> => { throw new HttpError('not_found') }
  return {
    method: 'GET', url: `/${kind}s/sync`, exposeHeadRoute: true, schema: hidden, onRequest: reject, handler: reject
  }
}

/** Reads rows for sync. */
interface SyncRows<Row extends { id: Id }> {
  listAfter (tenant: string, query: RowFields & { after: Id | null, limit: number }): Promise<Row[]>
  findMany (tenant: string, ids: readonly Id[], query: RowFields): Promise<Array<Row | null>>
}

/** Returns whether the changes of a kind are recorded. */
async function isRecorded (changes: ChangeSource, kind: ChangeKind): Promise<boolean> {
  return await changes.isRecorded?.(kind) ?? true
}

/** Returns whether a source of rows has the methods for sync. */
function isSyncable<Row extends { id: Id }> (source: object): source is SyncRows<Row> {
  return ['listAfter', 'findMany'].every((method) => typeof Reflect.get(source, method) === 'function')
}

interface Dependencies<Row extends { id: Id }> {
  kind: ChangeKind
  idKind: IdKind
  rows: SyncRows<Row>
  changes: ChangeSource
}

interface Query<Row> {
  tenant: string
  token: string | undefined
  limit: number
  selected: RowFields
  log: Pick<FastifyBaseLogger, 'error'>
  /** Writes rows as JSON. Throws if one does not fit its schema. */
  write (method: string, rows: readonly Row[]): string[]
}

/** One page of a sync, and the state of the client once it has received it. */
interface Read {
  /** `text` is the row as JSON; `null` if it was deleted. */
  items: Array<{ id: Id, text: string | null }>
  hasMore: boolean
  /** The position among the changes. */
  position: string
  /** The id of the last row, as text, while the client still reads all rows; otherwise `null`. */
  afterId: string | null
}

/**
 * Returns a function that reads one page of a sync: all rows by id, then the changes since the first page. Changes that
 * commit while the rows are read are included, so nothing is missed. Throws a 410 for an invalid token and while the
 * storage has missed changes, and a 404 if changes are no longer recorded.
 */
function createSync<Row extends { id: Id }> ({ kind, idKind, rows, changes }: Dependencies<Row>) {
  const tokens = createTokens(changes)

  async function begin (query: Query<Row>): Promise<Read> {
    if (!await isRecorded(changes, kind)) throw new HttpError('not_found')
    return readRows(query, await changes.begin(query.tenant, kind), null, () => {
      const message = 'doctor names the table, and watch repairs it'
      query.log.error({}, `changes of ${kind}s were missed, so ${kind}s/sync returns 410: ${message}`)
      return expired()
    })
  }

  async function readRows (
    { tenant, limit, selected, write }: Query<Row>, position: string, after: Id | null, expire = expired
  ): Promise<Read> {
    // Also checks that the position is still valid.
    const next = await changes.list(tenant, kind, { after: position, limit: 1 }) ?? expire()
    const found = await rows.listAfter(tenant, { after, limit, ...selected })
    const texts = write('listAfter', found)
    assertAscending([...(after === null ? [] : [after]), ...found.map(({ id }) => id)], kind)
    const page = found.slice(0, countFitting(found))
    const last = page.length < found.length || found.length === limit ? page.at(-1) : undefined
    return {
      items: page.map(({ id }, index) => ({ id, text: texts[index] ?? null })),
      hasMore: last !== undefined || next.ids.length > 0,
      position,
      afterId: last === undefined ? null : String(last.id)
    }
  }

  async function readChanges (query: Query<Row>, after: string): Promise<Read> {
    const { tenant, limit, selected, write } = query
    const page = await changes.list(tenant, kind, { after, limit }) ?? expired()
    const ids = [...new Set(page.ids)].map((id) => parseId(id, idKind)).filter((id) => id !== null)
    // Read after the changes, so that a row that changes in between is returned again later.
    const found = ids.length === 0 ? [] : await rows.findMany(tenant, ids, selected)
    const texts = write('findMany', found.filter((row) => row !== null)).values()
    const fitting = countFitting(found)
    if (fitting < found.length) return readChanges({ ...query, limit: fitting }, after)
    const items = ids.map((id, index) => {
      const row = found[index] ?? null
      return { id: row?.id ?? id, text: row && String(texts.next().value) }
    })
    return { items, hasMore: page.hasMore, position: page.position, afterId: null }
  }

  function read (query: Query<Row>, position: string | null, afterId: string | null): Promise<Read> {
    if (position === null) return begin(query)
    if (afterId === null) return readChanges(query, position)
    return readRows(query, position, parseId(afterId, idKind) ?? expired())
  }

  return async (query: Query<Row>) => {
    const subject = `${kind}\n${query.tenant}`
    const { token } = query
    const [position = null, afterId = null] = token === undefined ? [] : await tokens.read(subject, token) ?? expired()
    const page = await read(query, position, afterId)
    return { ...page, token: await tokens.format(subject, [page.position, page.afterId]) }
  }
}

/** A page ends with the row that makes the rows exceed this size. */
const maxPageBytes = 10 * 1024 * 1024

/** Returns how many rows fit into a page: at least one. */
function countFitting (rows: readonly unknown[]): number {
  let bytes = 0
  const full = rows.findIndex((row) => {
    bytes += JSON.stringify(row).length
    return bytes >= maxPageBytes
  })
  return full === -1 ? rows.length : full + 1
}

/** Throws for rows with the same id or in another order, because sync would miss some. */
function assertAscending (ids: readonly Id[], kind: ChangeKind): void {
  const repeated = ids.find((id, index) => index > 0 && !isBefore(ids[index - 1], id))
  if (repeated !== undefined) {
    throw new Error(`${kind}s.listAfter returned the id ${repeated} twice, or not in ascending order`)
  }
}

function isBefore (a: Id | undefined, b: Id): boolean {
  return a !== undefined && a < b
}
