import type { Id } from './ids.js'
import type { RowQuery, RowSource } from './list-source.js'

/** Selects candidates; all conditions given must hold. */
export interface CandidateFilter<RecruiterId extends Id = number> {
  /** Only candidates of this recruiter. The id is compared as in `find`. */
  recruiterId?: RecruiterId
  /**
   * Only candidates whose `full_name` contains this text, 1 to 200 characters: literally, ignoring case. Case is
   * ignored as JavaScript's `toLowerCase` does: É matches é, but e does not match é and ss does not match ß.
   */
  q?: string
  /** Only candidates whose `updated_at` is strictly later, both in milliseconds as they are shown. */
  updatedAfter?: string
}

/** Fields to sort candidates by; never null. */
export type CandidateSortField = 'id' | 'full_name' | 'created_at' | 'updated_at'

/** A candidate as the list publishes it. The option `candidateFields` adds further fields. */
export interface CandidateRow<CandidateId extends Id = number, SourceId extends Id = number> {
  /** Unique within the tenant. An integer up to 2^53-1, or text of 1 to 64 visible ASCII characters without `/`. */
  id: CandidateId
  full_name: string
  /** Their occupation in one line; `null` if unknown. */
  headline: string | null
  /** The source they came from; `null` if unknown. */
  source_id: SourceId | null
}

/** A query for one page of candidates. */
export type CandidateQuery<RecruiterId extends Id = number> = RowQuery<CandidateFilter<RecruiterId>, CandidateSortField>

/** Reads the candidates of a tenant. The type arguments are `string` for the ids that the option `ids` makes text. */
export type CandidateSource<
  CandidateId extends Id = number,
  SourceId extends Id = number,
  RecruiterId extends Id = number
> = RowSource<CandidateRow<CandidateId, SourceId>, CandidateFilter<RecruiterId>, CandidateSortField>
