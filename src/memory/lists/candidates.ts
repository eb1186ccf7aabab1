import type { CandidateFilter, CandidateRow, CandidateSortField } from '../../ports/index.js'
import { parseId, parseInteger, parseOptionalText, parseRowDates, parseText } from '../checks.js'
import { createRowSource } from './row-source.js'
import type { EditableRows, InitialRows, RowKind, WholeRows } from './row-source.js'

/** The known fields of a candidate in memory. */
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
 * A candidate to store. Further fields are stored too; `candidateFields` can publish them. The union accepts both typed
 * objects, which have no index signature, and literals with further fields.
 */
export type MemoryCandidate = CandidateInput | CandidateInput & Record<string, unknown>

/** The candidates of all tenants. */
export type MemoryCandidateSource =
  & WholeRows<CandidateRow, CandidateFilter, CandidateSortField>
  & EditableRows<MemoryCandidate>

/** A stored candidate: no field is absent, and dates are in UTC. */
export interface StoredCandidate extends CandidateRow {
  recruiter_id: number | null
  created_at: string
  updated_at: string
}

/** Creates a source of candidates in memory. */
export function createCandidateSource (now: () => number, initial: readonly InitialRows[]): MemoryCandidateSource {
  return createRowSource<MemoryCandidate, StoredCandidate, CandidateFilter, CandidateSortField>(candidateKind, now, initial)
}

/** The parts of a row source that are specific to candidates. */
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

    // Every name contains the empty text, and every date is greater.
    const needle = q?.toLowerCase() ?? ''
    const after = updatedAfter ?? ''
    return ({ row, searchKey }) =>
      (recruiterId === undefined || row.recruiter_id === recruiterId) &&
      searchKey.includes(needle) &&
      row.updated_at > after
  }
}
