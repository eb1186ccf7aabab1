import type { RouteOptions } from 'fastify'
import { syncOperations } from '../../api/sync.js'
import type { Id, IdKinds, RowFields } from '../../ports/index.js'
import { hidden } from '../document/operation.js'
import { respondWith } from '../request.js'
import type { PublishedRows } from '../responses/published-rows.js'
import { type Followed, isRecorded, readSync } from '../sync.js'
import { HttpError } from '../wire-errors.js'
import { type ApiOperation, perform } from './operations.js'

/** Returns the sync of a resource, unless its changes are not recorded or its source cannot read them. */
export async function listSyncOperations<Row extends { id: Id }> (
  followed: Followed, kind: 'candidate' | 'job', source: object, published: PublishedRows<Row>, ids: IdKinds
): Promise<ApiOperation[]> {
  if (!isSyncable<Row>(source) || !await isRecorded(followed, kind)) return []
  const { item, select, writeRows } = published
  return perform(syncOperations(kind, item, ids), {
    async sync ({ tenant: { id: tenant }, input: { token, per_page: limit } }, request) {
      const selected = select(request)
      const { entries, meta } = await readSync<string>(followed, {
        kind,
        idKind: ids[kind],
        async listAfter (after, limit) {
          const rows = await source.listAfter(tenant, { after, limit, ...selected })
          const texts = writeRows('listAfter', rows, request)
          return rows.map(({ id }, index) => ({ id, item: texts[index] ?? null }))
        },
        async findMany (wanted) {
          const rows = await source.findMany(tenant, wanted, selected)
          const texts = writeRows('findMany', rows.filter((row) => row !== null), request).values()
          return wanted.map((id, index) => {
            const row = rows[index] ?? null
            return { id: row?.id ?? id, item: row && String(texts.next().value) }
          })
        }
      }, { tenant, token, limit, log: request.log })
      const items = entries.map(({ id, item }) =>
        `{"id":${JSON.stringify(id)},"deleted":${item === null},"${kind}":${item}}`)
      respondWith(request, `{"data":[${items.join()}],"meta":${JSON.stringify(meta)}}`)
      return { data: entries, meta }
    }
  })
}

/** Replaces a missing sync operation: otherwise the operation for one row would run, with `sync` as the id. */
export function missingSync (kind: 'candidate' | 'job'): RouteOptions {
  const reject = async (): Promise<never> => { throw new HttpError('not_found') }
  return {
    method: 'GET', url: `/${kind}s/sync`, exposeHeadRoute: true, schema: hidden, onRequest: reject, handler: reject
  }
}

interface SyncRows<Row extends { id: Id }> {
  listAfter (tenant: string, query: RowFields & { after: Id | null, limit: number }): Promise<Row[]>
  findMany (tenant: string, ids: readonly Id[], query: RowFields): Promise<Array<Row | null>>
}

function isSyncable<Row extends { id: Id }> (source: object): source is SyncRows<Row> {
  return ['listAfter', 'findMany'].every((method) => typeof Reflect.get(source, method) === 'function')
}
