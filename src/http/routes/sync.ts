import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { TUnsafe } from '@sinclair/typebox'
import type { FastifySchema } from 'fastify'
import type { ChangeKind, ChangeSource, Id, IdKind, IdKinds } from '../../ports/index.js'
import { Nullable } from '../../shared/schemas.js'
import { readTenant } from '../request.js'
import type { PublishedRows } from '../responses/published-rows.js'
import { createFieldLimit } from '../responses/visible-fields.js'
import { errorResponses, SyncTokenExpired } from '../schemas/errors.js'
import { answeredId, textIdExamples, tokenExample, TokenMeta, tokenQuery } from '../schemas/parameters.js'
import { createSync, isRecorded, isSyncable } from '../sync.js'
import { HttpError } from '../wire-errors.js'
import { Type } from '../../shared/typebox.js'

/** The query of a sync. Any other text as token is a 410. */
const SyncQuery = Type.Object(
  tokenQuery('`next_token` of the page before; absent to begin. Valid for this tenant and resource', tokenExample),
  { additionalProperties: false }
)

/** Returns the schema of a page of a sync. `item` is the schema of a published row. */
function syncPageOf<Row> (kind: 'candidate' | 'job', item: TUnsafe<Row>, idKind: IdKind) {
  const id: TUnsafe<Id> = answeredId(
    idKind,
    Type.Integer({ examples: [kind === 'candidate' ? 1042 : 501] }),
    textIdExamples[kind]
  )
  const change = Type.Object(
    {
      id,
      deleted: Type.Boolean({ description: `Whether the ${kind} is gone: delete your copy`, examples: [false] }),
      [kind]: Nullable(item)
    },
    {
      title: `${kind === 'candidate' ? 'Candidate' : 'Job'}Change`,
      description: `A ${kind} as it is now; null if it no longer exists`
    }
  )
  return Type.Object({ data: Type.Array(change), meta: TokenMeta }, { description: `A page of ${kind}s` })
}

/** A resource that can be synced. */
interface SyncedResource<Row extends { id: Id }> {
  kind: ChangeKind
  /** Where the rows come from. */
  source: object
  published: PublishedRows<Row>
  ids: IdKinds
}

// A host without @fastify/swagger has no type for it.
const hidden: FastifySchema & { hide: true } = { hide: true }

/**
 * The route that returns all rows of a resource, then its changes. Registered only if changes are recorded and the
 * source can read them.
 */
export function syncRoute<Row extends { id: Id }> (
  changes: ChangeSource | undefined, { kind, source, published, ids }: SyncedResource<Row>
): FastifyPluginAsyncTypebox {
  const path = `/${kind}s/sync`
  const { item, selected, assertRow } = published
  return async (app) => {
    if (changes === undefined || !isSyncable<Row>(source) || !await isRecorded(changes, kind)) {
      // Without it, the route of one row would run, with `sync` as the id.
      app.get(path, { exposeHeadRoute: true, schema: hidden, onRequest: refuse }, () => null)
      return
    }

    const Page = (shown: typeof item) => syncPageOf(kind, shown, ids[kind])
    const limitPage = createFieldLimit(kind, item, Page)
    const sync = createSync<Row>({
      kind,
      idKind: ids[kind],
      selected,
      rows: source,
      changes
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
        response: { 200: Page(item), ...errorResponses, 410: SyncTokenExpired }
      }
    }, async (request) => {
      const { token, per_page: limit } = request.query
      const page = await sync({
        tenant: readTenant(request).id,
        token,
        limit,
        log: request.log,
        assertRow: (method, row) => assertRow(method, row, request)
      })
      limitPage(request)
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
