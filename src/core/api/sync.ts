import type { TSchema } from '@sinclair/typebox'
import type { ChangeKind, IdKinds } from '../ports/index.js'
import { Nullable, Type } from '../shared/typebox.js'
import { operation } from './operation.js'
import { answeredId, textIdExamples, tokenExample, tokenQuery } from './parameters.js'
import { readingRows } from './rows.js'

/** Returns the query of a sync. An invalid token gets 410. */
export function syncQuery () {
  return Type.Object(
    tokenQuery('`next_token` of the previous page. Omit it to begin. Valid for this tenant and resource', tokenExample),
    { additionalProperties: false }
  )
}

/** Returns the schema of a sync item. `item` is the schema of a row, `id` that of its id. */
export function changeOf (kind: ChangeKind, item: TSchema, id: TSchema) {
  const title = kind.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return Type.Object(
    {
      id,
      deleted: Type.Boolean({ description: `Whether the ${kind} was deleted: delete your copy`, examples: [false] }),
      [kind]: Nullable(item)
    },
    { title: `${title}Change`, description: `The ${kind}'s current state: \`${kind}\` is null if it was deleted` }
  )
}

/** Returns the operation that reads all rows of a resource, then its changes. `item` is the schema of a row. */
export function syncOperations<Kind extends 'candidate' | 'job'> (kind: Kind, item: TSchema, ids: IdKinds) {
  const [title, example] = kind === 'candidate' ? ['Candidates', 1042] : ['Jobs', 501]
  const id = answeredId(ids[kind], Type.Integer({ examples: [example] }), textIdExamples[kind])
  return {
    sync: operation({
      ...readingRows(kind),
      operationId: `sync${title}`,
      path: `/${kind}s/sync`,
      summary: `Copy all ${kind}s, then follow their changes`,
      description: describeSync(kind),
      input: syncQuery(),
      item: changeOf(kind, item, id),
      shape: 'sync',
      results: { 200: `A page of ${kind}s` }
    })
  }
}

export function describeSync (kind: ChangeKind): string {
  return [
    'Begin without `token`. While `has_more` is true, send `next_token` as the next `token`.',
    "Your copy then contains exactly the tenant's items. Store the last token to continue later.",
    `For each item, delete your copy of \`id\` if \`deleted\` is true, otherwise store \`${kind}\`.`,
    'An item can appear twice, but never in an older state. A page can be empty.',
    'After a 410, begin again without `token`, then delete every item that the new sync did not return.'
  ].join(' ')
}
