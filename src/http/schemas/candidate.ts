import { Type } from '@sinclair/typebox'
import type { CandidateSortField } from '../../ports/index.js'
import { pagingQuery } from '../../shared/paging.js'
import { Search, UpdatedAfter } from './parameters.js'
import { Nullable } from '../../shared/schemas.js'

/** A candidate, without the fields of the option `candidateFields`. */
export const Candidate = Type.Object({
  id: Type.Integer({ examples: [1042] }),
  full_name: Type.String({ examples: ['Ada Lovelace'] }),
  headline: Nullable(Type.String({ description: 'Their profession in one line', examples: ['Analyst, engines'] })),
  source_id: Nullable(Type.Integer({ description: 'The source they came from', examples: [3] }))
}, { title: 'Candidate' })

/** Fields that `sort` accepts. */
export const candidateSortFields: readonly CandidateSortField[] = ['id', 'full_name', 'created_at', 'updated_at']

/** The query of the candidate list. */
export const CandidateQuery = Type.Object({
  ...pagingQuery(candidateSortFields, 'id'),
  'filter[recruiter_id]': Type.Optional(Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Only candidates of this recruiter',
    examples: [12]
  })),
  'filter[q]': Type.Optional(Search),
  'filter[updated_after]': Type.Optional(UpdatedAfter)
}, { additionalProperties: false })
