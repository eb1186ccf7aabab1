import type { CandidateFilter, CandidateSortField, IdKinds } from '../../ports/index.js'
import { candidateFilters } from '../../ports/lists.js'
import { Nullable, Type } from '../../shared/typebox.js'
import { answeredId, textIdExamples } from '../schemas.js'
import type { RowList } from './rows.js'

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

/** The list of candidates. */
export const candidateList: RowList<CandidateFilter, CandidateSortField> = {
  kind: 'candidate',
  sortable: ['id', 'full_name', 'created_at', 'updated_at'],
  filters: candidateFilters
}
