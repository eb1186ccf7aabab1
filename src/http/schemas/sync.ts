import { type TUnsafe, Type } from '@sinclair/typebox'
import type { Id, IdKind } from '../../ports/index.js'
import { Nullable } from '../../shared/schemas.js'
import { answeredId, textIdExamples } from './ids.js'

/** The query of a sync. Any other text as token is a 410. */
export const SyncQuery = Type.Object({
  token: Type.Optional(Type.String({
    pattern: '\\S',
    description: '`next_token` of the page before; absent to begin. Valid for this tenant and resource',
    examples: ['WyI3ZjNhOTEuNzQyLiIsbnVsbF0.vJ3hq0mW8d1L5uYb2nQ4s6Xz9c7RkTfGpEaHoNiMjUw']
  })),
  per_page: Type.Integer({ minimum: 1, maximum: 200, default: 100, description: 'Maximum number of items per page' })
}, { additionalProperties: false })

const SyncMeta = Type.Object({
  next_token: Type.String({
    description: 'Send it as `token` for the next page; keep the last one for the next sync',
    examples: ['WyI3ZjNhOTEuNzQyLiIsbnVsbF0.vJ3hq0mW8d1L5uYb2nQ4s6Xz9c7RkTfGpEaHoNiMjUw']
  }),
  has_more: Type.Boolean({ description: 'Whether there is more to read now', examples: [false] })
}, { title: 'SyncMeta', description: 'How to go on' })

/** Returns the schema of a page of a sync. `item` is the schema of a published row. */
export function syncPageOf<Row> (kind: 'candidate' | 'job', item: TUnsafe<Row>, idKind: IdKind) {
  const id: TUnsafe<Id> = answeredId(idKind, Type.Integer({ examples: [kind === 'candidate' ? 1042 : 501] }), textIdExamples[kind])
  const change = Type.Object({
    id,
    deleted: Type.Boolean({ description: `Whether the ${kind} is gone: delete your copy`, examples: [false] }),
    [kind]: Nullable(item)
  }, { title: `${kind === 'candidate' ? 'Candidate' : 'Job'}Change`, description: `A ${kind} as it is now; null if it is gone` })
  return Type.Object({ data: Type.Array(change), meta: SyncMeta }, { description: `A page of ${kind}s` })
}
