/** What sets candidates and jobs apart. */
export interface RowKind {
  /** The option that names the relation, and what it holds. */
  option: 'candidates' | 'jobs'
  /** The columns there must be, with the types they may have. */
  columns: Readonly<Record<string, readonly string[]>>
  /** The columns that are compared with a text: only the very same one may be equal. */
  exact: readonly string[]
  /** The column that `q` looks into. */
  searched: string
}

const text = ['text', 'character varying']
const integer = ['bigint', 'integer', 'smallint']
const time = ['timestamp with time zone']

/** What a relation of candidates has. */
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

/** What a relation of jobs has. */
export const jobKind: RowKind = {
  option: 'jobs',
  columns: { tenant_slug: text, id: integer, name: text, status: text, created_at: time, updated_at: time },
  exact: ['tenant_slug', 'status'],
  searched: 'name'
}
