import type { ListSource, RowQuery } from './list-source.js'

/** Which candidates; all of what is given must hold. */
export interface CandidateFilter {
  /** Only candidates of this recruiter. */
  recruiterId?: number
  /**
   * Only candidates whose `full_name` contains this text, 1 to 200 characters: literally, in any letter case. Cases are
   * folded as JavaScript's `toLowerCase` does: É is é, but e is not é and ss is not ß.
   */
  q?: string
  /** Only candidates whose `updated_at` is strictly later. */
  updatedAfter?: string
}

/** What candidates are sorted by; never null. */
export type CandidateSortField = 'id' | 'full_name' | 'created_at' | 'updated_at'

/** What a candidate list publishes. Fields named in the option `candidateFields` stand beside these. */
export interface CandidateRow {
  /** An integer up to 2^53-1, unique within the tenant. */
  id: number
  full_name: string
  /** What they do, in a line; `null` where it is not known. */
  headline: string | null
  /** Where they came from; `null` where it is not known. */
  source_id: number | null
}

/** A page of candidates. */
export type CandidateQuery = RowQuery<CandidateFilter, CandidateSortField>

/** Pages through the candidates of a tenant. */
export type CandidateSource = ListSource<CandidateRow, CandidateFilter, CandidateSortField, CandidateQuery>
