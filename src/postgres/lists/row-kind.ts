import type { IdKind, IdKinds } from '../../ports/index.js'

/** The differences between candidates and jobs. */
export interface RowKind {
  /** The option that names the relation. */
  option: 'candidates' | 'jobs'
  /** Required columns, with their allowed types. */
  columns: Readonly<Record<string, readonly string[]>>
  /** Required columns that hold ids. */
  ids: Readonly<Record<string, keyof IdKinds>>
  /** Columns that need a collation by which only identical texts are equal. */
  exact: readonly string[]
  /** The column that `q` searches. */
  searched: string
}

/** Types of columns that hold text. */
export const textTypes = ['text', 'character varying']
/** Types of columns that hold integers. */
export const integerTypes = ['bigint', 'integer', 'smallint']
const time = ['timestamp with time zone']

/** Types of columns that hold ids of a kind. */
export const idTypes: Readonly<Record<IdKind, readonly string[]>> = { integer: integerTypes, string: ['uuid', ...textTypes] }

/** The relation of candidates. */
export const candidateKind: RowKind = {
  option: 'candidates',
  columns: {
    tenant_slug: textTypes,
    full_name: textTypes,
    headline: textTypes,
    created_at: time,
    updated_at: time
  },
  ids: { id: 'candidate', source_id: 'source', recruiter_id: 'recruiter' },
  exact: ['tenant_slug', 'id', 'recruiter_id'],
  searched: 'full_name'
}

/** The relation of jobs. */
export const jobKind: RowKind = {
  option: 'jobs',
  columns: { tenant_slug: textTypes, name: textTypes, status: textTypes, created_at: time, updated_at: time },
  ids: { id: 'job' },
  exact: ['tenant_slug', 'id', 'status'],
  searched: 'name'
}
