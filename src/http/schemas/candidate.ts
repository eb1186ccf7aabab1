import { Type } from '@sinclair/typebox'
import type { CandidateSortField } from '../../ports/index.js'
import { Nullable, Search, UpdatedAfter, pagingQuery } from './common.js'

export const Candidate = Type.Object({
  id: Type.Integer(),
  full_name: Type.String(),
  headline: Nullable(Type.String()),
  source_id: Nullable(Type.Integer())
})

export const candidateSortFields: readonly CandidateSortField[] = ['id', 'full_name', 'created_at', 'updated_at']

export const CandidateQuery = Type.Object({
  ...pagingQuery(candidateSortFields, 'id'),
  'filter[recruiter_id]': Type.Optional(Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Only candidates of this recruiter'
  })),
  'filter[q]': Type.Optional(Search),
  'filter[updated_after]': Type.Optional(UpdatedAfter)
}, { additionalProperties: false })
