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

const text = ['text', 'character varying']
const integer = ['bigint', 'integer', 'smallint']
const time = ['timestamp with time zone']

/** The relation of candidates. */
export const candidateKind: RowKind = {
  option: 'candidates',
  columns: {
    tenant_slug: text,
    id: integer,
    full_name: text,
    headline: text,
    source_id: integer,
    recruiter_id: integer,
    created_at: time,
    updated_at: time
  },
  exact: ['tenant_slug'],
  searched: 'full_name'
}

/** The relation of jobs. */
export const jobKind: RowKind = {
  option: 'jobs',
  columns: { tenant_slug: text, id: integer, name: text, status: text, created_at: time, updated_at: time },
  exact: ['tenant_slug', 'status'],
  searched: 'name'
}
