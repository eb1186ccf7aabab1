import type { CandidateFilter, CandidateRow, CandidateSortField, ListSource } from '../../ports/index.js'
import { parseId, parseInteger, parseOptionalText, parseRowDates, parseText } from '../checks.js'
import { createRowSource } from './row-source.js'
import type { EditableRows, InitialRows, RowKind } from './row-source.js'

/** What a candidate in memory has. */
interface CandidateInput {
  /** A positive integer, unique within the tenant. */
  id: number
  full_name: string
  /** @default null */
  headline?: string | null
  /** @default null */
  source_id?: number | null
  /** @default null */
  recruiter_id?: number | null
  /** RFC 3339. @default now */
  created_at?: string
  /** RFC 3339. @default created_at */
  updated_at?: string
}

/**
 * A candidate to keep in memory. Any further field is kept beside these, to be published by `candidateFields`. (Two
 * types, because what has an interface of its own fits the first alone, and a literal with further fields the second.)
 */
export type MemoryCandidate = CandidateInput | CandidateInput & Record<string, unknown>

/** The candidates of every tenant. */
export type MemoryCandidateSource =
  & ListSource<CandidateRow, CandidateFilter, CandidateSortField>
  & EditableRows<MemoryCandidate>

/** Nothing is absent, dates are in UTC. */
export interface StoredCandidate extends CandidateRow {
  recruiter_id: number | null
  created_at: string
  updated_at: string
}

/** Keeps candidates in memory. */
export function createCandidateSource (now: () => number, initial: readonly InitialRows[]): MemoryCandidateSource {
  return createRowSource<MemoryCandidate, StoredCandidate, CandidateFilter, CandidateSortField>(candidateKind, now, initial)
}

/** What sets candidates apart. */
export const candidateKind: RowKind<StoredCandidate, CandidateFilter> = {
  parse (fields, path, now) {
    const { created_at: createdAt, updated_at: updatedAt } = parseRowDates(fields, path, now)
    return {
      id: parseId(fields.id, `${path}.id`),
      full_name: parseText(fields.full_name, `${path}.full_name`),
      headline: parseOptionalText(fields.headline, `${path}.headline`),
      source_id: parseInteger(fields.source_id, `${path}.source_id`),
      recruiter_id: parseInteger(fields.recruiter_id, `${path}.recruiter_id`),
      created_at: createdAt,
      updated_at: updatedAt
    }
  },

  searchText: (row) => row.full_name,

  createTest ({ recruiterId, q, updatedAfter }) {
    if (recruiterId === undefined && q === undefined && updatedAfter === undefined) return null

    // The empty text is part of every name and comes before every date.
    const needle = q?.toLowerCase() ?? ''
    const after = updatedAfter ?? ''
    return ({ row, searchKey }) =>
      (recruiterId === undefined || row.recruiter_id === recruiterId) &&
      searchKey.includes(needle) &&
      row.updated_at > after
  }
}
