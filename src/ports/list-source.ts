/** One field to order by. Text is ordered by Unicode code point, dates and numbers by value. */
export interface SortItem<Field extends string = string> {
  field: Field
  direction: 'asc' | 'desc'
}

/** Which rows, in which order, and which slice of them. */
export interface ListQuery<Filter, SortField extends string = string> {
  /** Conditions that must all hold; an absent one holds for every row. */
  filter: Filter
  /** 1 to 4 items. `id` is always among them, so the order is total. */
  sort: ReadonlyArray<SortItem<SortField>>
  /** Rows to pass over, 0 or more; it may lie beyond the last row. */
  offset: number
  /** Rows to return at most, 1 to 200. */
  limit: number
}

/** A query for rows of the host's. */
export interface RowQuery<Filter, SortField extends string = string> extends ListQuery<Filter, SortField> {
  /**
   * The fields to return: those of the row type and those that the host publishes besides. A row may hold more, which
   * are never sent.
   */
  fields: readonly string[]
}

/**
 * Pages through one resource of a tenant. The two methods are apart, and asked at once, because a total can be cached
 * or maintained while a page cannot.
 */
export interface ListSource<Row, Filter, SortField extends string = string, Query = ListQuery<Filter, SortField>> {
  /** The rows of one page in the order asked for; `[]` beyond the last row and for a tenant without rows or unknown. */
  list (tenantSlug: string, query: Query): Promise<Row[]>
  /** How many rows of the tenant pass the filter. */
  count (tenantSlug: string, filter: Filter): Promise<number>
}

export interface CandidateFilter {
  /** Only candidates of this recruiter. */
  recruiterId?: number
  /**
   * Only candidates whose `full_name` contains this text, 1 to 200 characters: literally, in any letter case. Cases are
   * folded as JavaScript's `toLowerCase` does: É is é, but e is not é and ss is not ß.
   */
  q?: string
  /** Only candidates whose `updated_at` is strictly later. */
  updatedAfter?: string
}

export type CandidateSortField = 'id' | 'full_name' | 'created_at' | 'updated_at'

/** What a candidate list publishes. Fields named in the option `candidateFields` stand beside these. */
export interface CandidateRow {
  id: number
  full_name: string
  headline: string | null
  source_id: number | null
}

export type CandidateQuery = RowQuery<CandidateFilter, CandidateSortField>

export type CandidateSource = ListSource<CandidateRow, CandidateFilter, CandidateSortField, CandidateQuery>

export interface JobFilter {
  /** Only jobs whose status is exactly this, 1 to 64 characters. */
  status?: string
  /** Only jobs whose `name` contains this text, 1 to 200 characters: literally, in any letter case, folded likewise. */
  q?: string
  /** Only jobs whose `updated_at` is strictly later. */
  updatedAfter?: string
}

export type JobSortField = 'id' | 'name' | 'status' | 'created_at' | 'updated_at'

/** What a job list publishes. Fields named in the option `jobFields` stand beside these. */
export interface JobRow {
  id: number
  name: string
  status: string
}

export type JobQuery = RowQuery<JobFilter, JobSortField>

export type JobSource = ListSource<JobRow, JobFilter, JobSortField, JobQuery>
