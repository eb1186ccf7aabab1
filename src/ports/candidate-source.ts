import type { RowQuery, RowSource } from './list-source.js'

/** Selects candidates; all conditions given must hold. */
export interface CandidateFilter {
  /** Only candidates of this recruiter. */
  recruiterId?: number
  /**
   * Only candidates whose `full_name` contains this text, 1 to 200 characters: literally, ignoring case. Case is
   * ignored as JavaScript's `toLowerCase` does: É matches é, but e does not match é and ss does not match ß.
   */
  q?: string
  /** Only candidates whose `updated_at` is strictly later. */
  updatedAfter?: string
}

/** Fields to sort candidates by; never null. */
export type CandidateSortField = 'id' | 'full_name' | 'created_at' | 'updated_at'

/** A candidate as the list publishes it. The option `candidateFields` adds further fields. */
export interface CandidateRow {
  /** An integer up to 2^53-1, unique within the tenant. */
  id: number
  full_name: string
  /** Their occupation in one line; `null` if unknown. */
  headline: string | null
  /** The source they came from; `null` if unknown. */
  source_id: number | null
}

/** A query for one page of candidates. */
export type CandidateQuery = RowQuery<CandidateFilter, CandidateSortField>

/** Reads the candidates of a tenant. */
export type CandidateSource = RowSource<CandidateRow, CandidateFilter, CandidateSortField>
