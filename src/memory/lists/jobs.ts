import type { Id, IdKinds, JobFilter, JobRow, JobSortField } from '../../ports/index.js'
import { parseRowDates, parseRowId, parseText } from '../checks.js'
import { foldCase } from '../../shared/text.js'
import { createRowSource } from './row-source.js'
import type { EditableRows, InitialRows, RowKind, RowSourceContext, WholeRows } from './row-source.js'

/** The known fields of a job in memory. */
interface JobInput<JobId extends Id> {
  /** Unique within the tenant. A positive integer, or text if the option `ids` says so. */
  id: JobId
  name: string
  status: string
  /** RFC 3339. @default now */
  created_at?: string
  /** RFC 3339. @default created_at */
  updated_at?: string
}

/** A job to store. Further fields are stored too; `jobFields` can publish them. */
export type MemoryJob<JobId extends Id = number> = JobInput<JobId> | JobInput<JobId> & Record<string, unknown>

/** The jobs of all tenants. */
export type MemoryJobSource<JobId extends Id = number> =
  WholeRows<JobRow<JobId>, JobFilter, JobSortField> & EditableRows<MemoryJob<JobId>>

/** A stored job: no field is absent, and dates are in UTC. */
export interface StoredJob extends JobRow<Id> {
  created_at: string
  updated_at: string
}

export function createJobSource (
  ids: IdKinds,
  context: RowSourceContext,
  initial: readonly InitialRows[]
): MemoryJobSource<Id> {
  return createRowSource<MemoryJob<Id>, StoredJob, JobFilter, JobSortField>(jobKind(ids), context, initial)
}

/** Returns the parts of a row source that are specific to jobs. */
export const jobKind = ({ job }: IdKinds): RowKind<StoredJob, JobFilter> => ({
  parse (fields, path, now) {
    const { created_at: createdAt, updated_at: updatedAt } = parseRowDates(fields, path, now)
    return {
      id: parseRowId(fields.id, `${path}.id`, job),
      name: parseText(fields.name, `${path}.name`),
      status: parseText(fields.status, `${path}.status`),
      created_at: createdAt,
      updated_at: updatedAt
    }
  },

  searchText: (row) => row.name,

  createTest ({ status, q, updatedAfter }) {
    if (status === undefined && q === undefined && updatedAfter === undefined) return null

    // Every name contains the empty text, and every date is greater.
    const needle = foldCase(q ?? '')
    const after = updatedAfter ?? ''
    return ({ row, searchKey }) =>
      (status === undefined || row.status === status) &&
      searchKey.includes(needle) &&
      row.updated_at > after
  }
})
