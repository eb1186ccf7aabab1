import type { TSchema, TUnsafe } from '@sinclair/typebox'
import type { FastifyRequest, FastifySchema, RouteOptions } from 'fastify'
import type { ChangeKind, ChangeSource, Id, IdKind, IdKinds } from '../../ports/index.js'
import { Nullable } from '../../shared/schemas.js'
import { Type } from '../../shared/typebox.js'
import { operation } from '../../webhooks/operation-table.js'
import type { PublishedRows } from '../responses/published-rows.js'
import { createFieldLimit } from '../responses/visible-fields.js'
import { answeredId, FollowPageOf, textIdExamples, tokenExample, tokenQuery } from '../schemas/parameters.js'
import { createSync, isRecorded, isSyncable } from '../sync.js'
import { HttpError } from '../wire-errors.js'
import type { ApiOperation } from './operations.js'
import { readingRows } from './rows.js'

/** The query of a sync. Any other text as token is a 410. */
const SyncQuery = Type.Object(
  tokenQuery('`next_token` of the page before; absent to begin. Valid for this tenant and resource', tokenExample),
  { additionalProperties: false }
)

/** Returns the schema of an item of a sync. `item` is the schema of a published row. */
function changeOf (kind: ChangeKind, item: TSchema, idKind: IdKind) {
  const id: TUnsafe<Id> = answeredId(
    idKind,
    Type.Integer({ examples: [kind === 'candidate' ? 1042 : 501] }),
    textIdExamples[kind]
  )
  return Type.Object(
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
}

/** A resource that can be synced. */
interface SyncedResource<Row extends { id: Id }> {
  kind: ChangeKind
  /** Where the rows come from. */
  source: object
  published: PublishedRows<Row>
  ids: IdKinds
}

/**
 * Returns the operation that reads all rows of a resource, then its changes; `null` unless changes are recorded and the
 * source can read them.
 */
export async function syncOperation<Row extends { id: Id }> (
  changes: ChangeSource | undefined, { kind, source, published, ids }: SyncedResource<Row>
): Promise<ApiOperation | null> {
  if (changes === undefined || !isSyncable<Row>(source) || !await isRecorded(changes, kind)) return null
  const { item, selected, assertRows } = published
  const limitPage = createFieldLimit(kind, item, (shown) => FollowPageOf(changeOf(kind, shown, ids[kind])))
  const sync = createSync<Row>({
    kind,
    idKind: ids[kind],
    selected,
    rows: source,
    changes
  })
  return operation({
    ...readingRows(kind),
    operationId: kind === 'candidate' ? 'syncCandidates' : 'syncJobs',
    path: `/${kind}s/sync`,
    summary: `Copy all ${kind}s, then follow their changes`,
    description: describe(kind),
    input: SyncQuery,
    item: changeOf(kind, item, ids[kind]),
    shape: 'follow',
    results: { 200: `A page of ${kind}s` },
    async run (request: FastifyRequest, { tenant: { id: tenant }, input: { token, per_page: limit } }) {
      const page = await sync({
        tenant,
        token,
        limit,
        log: request.log,
        assertRows: (method, rows) => assertRows(method, rows, request)
      })
      limitPage(request)
      return {
        data: page.items.map(({ id, row }) => ({ id, deleted: row === null, [kind]: row })),
        meta: { next_token: page.token, has_more: page.hasMore }
      }
    }
  })
}

// A host without @fastify/swagger has no type for it.
const hidden: FastifySchema & { hide: true } = { hide: true }

/** The route instead of an operation that is missing: otherwise the one of one row would run, with `sync` as the id. */
export function missingSync (kind: ChangeKind): RouteOptions {
  const refuse = async (): Promise<never> => { throw new HttpError('not_found') }
  return {
    method: 'GET', url: `/${kind}s/sync`, exposeHeadRoute: true, schema: hidden, onRequest: refuse, handler: refuse
  }
}

function describe (kind: ChangeKind): string {
  return [
    `Begin without \`token\`. Send \`next_token\` as \`token\` while \`has_more\` is true, then keep the last one and come back with it. Your copy then holds exactly the ${kind}s of the tenant.`,
    `For each item: if \`deleted\`, delete your copy of \`id\`, otherwise store \`${kind}\`. An item may come twice, but never in an older state. A page may be empty.`,
    'With a 410, begin again without `token`, and afterwards delete what did not come.'
  ].join(' ')
}
