import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { TUnsafe } from '@sinclair/typebox'
import type { FastifySchema } from 'fastify'
import type { ChangeKind, ChangeSource, Id, IdKinds } from '../../ports/index.js'
import { readTenantSlug } from '../auth.js'
import { SyncTokenExpired, errorResponses } from '../schemas/errors.js'
import { SyncQuery, syncPageOf } from '../schemas/sync.js'
import { createSync, isSyncable } from '../sync/sync.js'
import { HttpError } from '../wire-errors.js'

/** A resource that can be synced. */
export interface SyncedResource<Row extends { id: Id }> {
  kind: ChangeKind
  /** Where the rows come from. */
  source: object
  /** The schema of a published row. */
  item: TUnsafe<Row>
  /** Throws for a row whose ids are not of the kinds of `ids`. */
  assertIds (method: string, row: Row, ids: IdKinds): void
  ids: IdKinds
}

// A host without @fastify/swagger has no type for it.
const hidden: FastifySchema & { hide: true } = { hide: true }

/** The route that gives all rows of a resource, then what changed. It exists if there are changes, and if the source can read rows for them. */
export function syncRoute<Row extends { id: Id }> (
  changes: ChangeSource | undefined, { kind, source, item, assertIds, ids }: SyncedResource<Row>
): FastifyPluginAsyncTypebox {
  const path = `/${kind}s/sync`
  return async (app) => {
    if (changes === undefined || !isSyncable<Row>(source)) {
      // Otherwise the route of one row would answer, with `sync` as the id.
      app.get(path, { exposeHeadRoute: true, schema: hidden, onRequest: refuse }, () => null)
      return
    }

    const sync = createSync<Row>({
      kind,
      idKind: ids[kind],
      fields: Object.keys(item.properties),
      rows: source,
      changes,
      assertRow: (method, row) => assertIds(`${kind}s.${method}`, row, ids)
    })
    app.get(path, {
      exposeHeadRoute: true,
      config: { anyScope: [`${kind}s:read`, `${kind}s:write`] },
      schema: {
        operationId: kind === 'candidate' ? 'syncCandidates' : 'syncJobs',
        tags: [`${kind}s`],
        summary: `Copy all ${kind}s, then follow their changes`,
        description: describe(kind),
        querystring: SyncQuery,
        response: { 200: syncPageOf(kind, item, ids[kind]), ...errorResponses, 410: SyncTokenExpired }
      }
    }, async (request) => {
      const { token, per_page: limit } = request.query
      const page = await sync({ tenantSlug: readTenantSlug(request), token, limit })
      return {
        data: page.items.map(({ id, row }) => ({ id, deleted: row === null, [kind]: row })),
        meta: { next_token: page.token, has_more: page.hasMore }
      }
    })
  }
}

async function refuse (): Promise<never> {
  throw new HttpError('not_found')
}

function describe (kind: ChangeKind): string {
  return [
    `Begin without \`token\`. Send \`next_token\` as \`token\` while \`has_more\` is true, then keep the last one and come back with it. Your copy then holds exactly the ${kind}s of the tenant.`,
    `For each item: if \`deleted\`, delete your copy of \`id\`, otherwise store \`${kind}\`. An item may come twice, but never in an older state. A page may be empty.`,
    'With a 410, begin again without `token`, and afterwards delete what did not come.'
  ].join(' ')
}
