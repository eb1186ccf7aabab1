import type { Id } from './ids.js'
import type { RowQuery, RowSource } from './list-source.js'

/** Selects jobs; all conditions given must hold. */
export interface JobFilter {
  /** Only jobs whose status is exactly this, 1 to 64 characters. */
  status?: string
  /** Only jobs whose `name` contains this text, 1 to 200 characters: literally, ignoring case as for candidates. */
  q?: string
  /** Only jobs whose `updated_at` is strictly later, both in milliseconds as they are shown. */
  updatedAfter?: string
}

/** Fields to sort jobs by; never null. */
export type JobSortField = 'id' | 'name' | 'status' | 'created_at' | 'updated_at'

/** A job as the list publishes it. The option `jobFields` adds further fields. */
export interface JobRow<JobId extends Id = number> {
  /** Unique within the tenant. An integer up to 2^53-1, or text of 1 to 64 visible ASCII characters without `/`. */
  id: JobId
  name: string
  /** `published`, or a status of the vendor. `filter[status]` finds statuses of 1 to 64 characters. */
  status: string
}

/** A query for one page of jobs. */
export type JobQuery = RowQuery<JobFilter, JobSortField>

/** Reads the jobs of a tenant. The type argument is `string` if the option `ids` makes their ids text. */
export type JobSource<JobId extends Id = number> = RowSource<JobRow<JobId>, JobFilter, JobSortField>
