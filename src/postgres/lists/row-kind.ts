/** The differences between candidates and jobs. */
export interface RowKind {
  /** The option that names the relation. */
  option: 'candidates' | 'jobs'
  /** Required columns, with their allowed types. */
  columns: Readonly<Record<string, readonly string[]>>
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

/** The relation of candidates. */
export const candidateKind: RowKind = {
  option: 'candidates',
  columns: {
    tenant_slug: textTypes,
    id: integerTypes,
    full_name: textTypes,
    headline: textTypes,
    source_id: integerTypes,
    recruiter_id: integerTypes,
    created_at: time,
    updated_at: time
  },
  exact: ['tenant_slug'],
  searched: 'full_name'
}

/** The relation of jobs. */
export const jobKind: RowKind = {
  option: 'jobs',
  columns: { tenant_slug: textTypes, id: integerTypes, name: textTypes, status: textTypes, created_at: time, updated_at: time },
  exact: ['tenant_slug', 'status'],
  searched: 'name'
}
