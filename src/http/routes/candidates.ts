import type { CandidateFilter, CandidateSortField, Id, IdKinds } from '../../ports/index.js'
import { Nullable } from '../../shared/schemas.js'
import { Type } from '../../shared/typebox.js'
import { answeredId, requestedId, textIdExamples } from '../schemas.js'
import { type RowList, searchIn, updatedAfter } from './rows.js'

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

const recruiterId = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Only candidates of this recruiter',
  examples: [12]
})

/** Returns the list of candidates, with ids of these kinds. */
export function candidateList ({ recruiter }: IdKinds): RowList<CandidateFilter<Id>, CandidateSortField> {
  return {
    kind: 'candidate',
    sortable: ['id', 'full_name', 'created_at', 'updated_at'],
    filters: {
      'filter[recruiter_id]': {
        schema: requestedId(recruiter, recruiterId, textIdExamples.recruiter),
        field: 'recruiter_id',
        as: 'recruiterId'
      },
      'filter[q]': searchIn('full_name'),
      'filter[updated_after]': updatedAfter
    }
  }
}
