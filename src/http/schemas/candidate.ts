import { Type } from '@sinclair/typebox'
import type { CandidateSortField, IdKinds } from '../../ports/index.js'
import { pagingQuery } from '../../shared/paging.js'
import { Nullable } from '../../shared/schemas.js'
import { answeredId, requestedId, textIdExamples } from './ids.js'
import { Search, UpdatedAfter } from './parameters.js'

const id = Type.Integer({ examples: [1042] })
const sourceId = Type.Integer({ description: 'The source they came from', examples: [3] })

/** A candidate with integer ids, without the fields of the option `candidateFields`. */
export const Candidate = Type.Object({
  id,
  full_name: Type.String({ examples: ['Ada Lovelace'] }),
  headline: Nullable(Type.String({ description: 'Their profession in one line', examples: ['Analyst, engines'] })),
  source_id: Nullable(sourceId)
}, { title: 'Candidate' })

/** Returns the schema of a candidate with ids of these kinds. */
export function candidateOf ({ candidate, source }: IdKinds) {
  return Type.Object({
    ...Candidate.properties,
    id: answeredId(candidate, id, textIdExamples.candidate),
    source_id: Nullable(answeredId(source, sourceId, textIdExamples.source))
  }, { title: 'Candidate' })
}

export const candidateSortFields: readonly CandidateSortField[] = ['id', 'full_name', 'created_at', 'updated_at']

const recruiterId = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Only candidates of this recruiter',
  examples: [12]
})

/** Returns the query of the candidate list. */
export function candidateQuery ({ recruiter }: IdKinds) {
  return Type.Object({
    ...pagingQuery(candidateSortFields, 'id'),
    'filter[recruiter_id]': Type.Optional(requestedId(recruiter, recruiterId, textIdExamples.recruiter)),
    'filter[q]': Type.Optional(Search),
    'filter[updated_after]': Type.Optional(UpdatedAfter)
  }, { additionalProperties: false })
}
