import type { ListSource, RowQuery } from './list-source.js'

/** Which jobs; all of what is given must hold. */
export interface JobFilter {
  /** Only jobs whose status is exactly this, 1 to 64 characters. */
  status?: string
  /** Only jobs whose `name` contains this text, 1 to 200 characters: literally, in any letter case, folded likewise. */
  q?: string
  /** Only jobs whose `updated_at` is strictly later. */
  updatedAfter?: string
}

/** What jobs are sorted by; never null. */
export type JobSortField = 'id' | 'name' | 'status' | 'created_at' | 'updated_at'

/** What a job list publishes. Fields named in the option `jobFields` stand beside these. */
export interface JobRow {
  /** An integer up to 2^53-1, unique within the tenant. */
  id: number
  name: string
  /** `published`, or a word of the vendor's: 1 to 64 characters if it is to be found by `filter[status]`. */
  status: string
}

/** A page of jobs. */
export type JobQuery = RowQuery<JobFilter, JobSortField>

/** Pages through the jobs of a tenant. */
export type JobSource = ListSource<JobRow, JobFilter, JobSortField, JobQuery>
