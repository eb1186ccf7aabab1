import type { TSchema, TUnsafe } from '@sinclair/typebox'
import type { Id, IdKind, IdKinds } from '../ports/index.js'
import { Nullable, Type } from '../shared/typebox.js'
import { operation } from './operation.js'
import { answeredId, textIdExamples, tokenExample, tokenQuery } from './parameters.js'
import { readingRows } from './rows.js'

/** The query of a sync. An invalid token gets 410. */
const SyncQuery = Type.Object(
  tokenQuery('`next_token` of the previous page. Omit it to begin. Valid for this tenant and resource', tokenExample),
  { additionalProperties: false }
)

/** Returns the schema of a sync item. `item` is the schema of a published row. */
function changeOf (kind: 'candidate' | 'job', item: TSchema, idKind: IdKind) {
  const id: TUnsafe<Id> = answeredId(
    idKind,
    Type.Integer({ examples: [kind === 'candidate' ? 1042 : 501] }),
    textIdExamples[kind]
  )
  return Type.Object(
    {
      id,
      deleted: Type.Boolean({ description: `Whether the ${kind} was deleted: delete your copy`, examples: [false] }),
      [kind]: Nullable(item)
    },
    {
      title: `${kind === 'candidate' ? 'Candidate' : 'Job'}Change`,
      description: `The ${kind}'s current state: \`${kind}\` is null if it was deleted`
    }
  )
}

/** Returns the operation that reads all rows of a resource, then its changes. `item` is the schema of a row. */
export function syncOperations<Kind extends 'candidate' | 'job'> (kind: Kind, item: TSchema, ids: IdKinds) {
  return {
    sync: operation({
      ...readingRows(kind),
      operationId: kind === 'candidate' ? 'syncCandidates' : 'syncJobs',
      path: `/${kind}s/sync`,
      summary: `Copy all ${kind}s, then follow their changes`,
      description: describe(kind),
      input: SyncQuery,
      item: changeOf(kind, item, ids[kind]),
      shape: 'follow',
      results: { 200: `A page of ${kind}s` }
    })
  }
}

function describe (kind: 'candidate' | 'job'): string {
  return [
    'Begin without `token`. While `has_more` is true, send `next_token` as the next `token`.',
    `Your copy then contains exactly the tenant's ${kind}s. Store the last token to continue later.`,
    `For each item, delete your copy of \`id\` if \`deleted\` is true, otherwise store \`${kind}\`.`,
    'An item can appear twice, but never in an older state. A page can be empty.',
    `After a 410, begin again without \`token\`, then delete every ${kind} that the new sync did not return.`
  ].join(' ')
}
