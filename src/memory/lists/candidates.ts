import type { CandidateFilter, CandidateRow, CandidateSortField, Id, IdKinds } from '../../ports/index.js'
import { parseOptionalText, parseReference, parseRowDates, parseRowId, parseText } from '../checks.js'
import { foldCase } from '../../shared/text.js'
import { createRowSource } from './row-source.js'
import type { EditableRows, InitialRows, RowKind, RowSourceContext, WholeRows } from './row-source.js'

/** The known fields of a candidate in memory. */
interface CandidateInput<CandidateId extends Id, SourceId extends Id, RecruiterId extends Id> {
  /** Unique within the tenant. A positive integer, or text if the option `ids` says so. */
  id: CandidateId
  full_name: string
  /** @default null */
  headline?: string | null
  /** @default null */
  source_id?: SourceId | null
  /** @default null */
  recruiter_id?: RecruiterId | null
  /** RFC 3339. @default now */
  created_at?: string
  /** RFC 3339. @default created_at */
  updated_at?: string
}

/**
 * A candidate to store. Further fields are stored too; `candidateFields` can publish them. The union accepts both typed
 * objects, which have no index signature, and literals with further fields.
 */
export type MemoryCandidate<
  CandidateId extends Id = number,
  SourceId extends Id = number,
  RecruiterId extends Id = number
> =
  | CandidateInput<CandidateId, SourceId, RecruiterId>
  | (CandidateInput<CandidateId, SourceId, RecruiterId> & Record<string, unknown>)

/** The candidates of all tenants. */
export type MemoryCandidateSource<
  CandidateId extends Id = number,
  SourceId extends Id = number,
  RecruiterId extends Id = number
> = WholeRows<CandidateRow<CandidateId, SourceId>, CandidateFilter<RecruiterId>, CandidateSortField> &
  EditableRows<MemoryCandidate<CandidateId, SourceId, RecruiterId>>

/** A stored candidate: no field is absent, and dates are in UTC. */
export interface StoredCandidate extends CandidateRow<Id, Id> {
  recruiter_id: Id | null
  created_at: string
  updated_at: string
}

export function createCandidateSource (
  ids: IdKinds,
  context: RowSourceContext,
  initial: readonly InitialRows[]
): MemoryCandidateSource<Id, Id, Id> {
  return createRowSource<MemoryCandidate<Id, Id, Id>, StoredCandidate, CandidateFilter<Id>, CandidateSortField>(
    candidateKind(ids),
    context,
    initial
  )
}

/** Returns the parts of a row source that are specific to candidates. */
export const candidateKind = ({
  candidate,
  source,
  recruiter
}: IdKinds): RowKind<StoredCandidate, CandidateFilter<Id>> => ({
  parse (fields, path, now) {
    const { created_at: createdAt, updated_at: updatedAt } = parseRowDates(fields, path, now)
    return {
      id: parseRowId(fields.id, `${path}.id`, candidate),
      full_name: parseText(fields.full_name, `${path}.full_name`),
      headline: parseOptionalText(fields.headline, `${path}.headline`),
      source_id: parseReference(fields.source_id, `${path}.source_id`, source),
      recruiter_id: parseReference(fields.recruiter_id, `${path}.recruiter_id`, recruiter),
      created_at: createdAt,
      updated_at: updatedAt
    }
  },

  searchText: (row) => row.full_name,

  createTest ({ recruiterId, q, updatedAfter }) {
    if (recruiterId === undefined && q === undefined && updatedAfter === undefined) return null

    // Every name contains the empty text, and every date is greater.
    const needle = foldCase(q ?? '')
    const after = updatedAfter ?? ''
    return ({ row, searchKey }) =>
      (recruiterId === undefined || row.recruiter_id === recruiterId) &&
      searchKey.includes(needle) &&
      row.updated_at > after
  }
})
