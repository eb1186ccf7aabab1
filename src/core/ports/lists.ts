import type { Id, IdKinds } from './ids.js'

/** One field to order by. Text is ordered by Unicode code point, dates and numbers by value. */
export interface SortItem<Field extends string = string> {
  /** Its name on the wire. */
  field: Field
  /** `asc` starts with the lowest value, `desc` with the highest. */
  direction: 'asc' | 'desc'
  /** The type of a field of the option `candidateFilters` or `jobFilters`; absent for all others. */
  type?: FieldType
}

/** The type of a field that clients can filter by. `time` is a date-time. */
export type FieldType = 'text' | 'integer' | 'boolean' | 'time'

/** What clients can do with a field: `filter[name]`, `filter[name_after]`, or `sort`. */
export type FieldUse = 'equals' | 'after' | 'sort'

/** A field of the option `candidateFilters` or `jobFilters`. */
export interface OwnFilter {
  /** The name of the field, as on the wire. */
  field: string
  type: FieldType
  uses: readonly FieldUse[]
}

/** A condition on a field of the option `candidateFilters` or `jobFilters`. */
export interface OwnCondition {
  /** The name of the field, as on the wire. */
  field: string
  /**
   * A type: the field equals the value. Text is compared exactly, a `time` in milliseconds. `after`: the field is
   * strictly later than the value, in milliseconds. A field that is null passes neither.
   */
  test: FieldType | 'after'
  /** Text of 1 to 255 characters, a boolean, an integer up to 2^53-1, or a time in UTC with milliseconds. */
  value: string | number | boolean
}

/** Selects rows, their order and one slice of them. */
export interface ListQuery<Filter, SortField extends string = string> {
  /** Conditions that must all match; an absent condition matches every row. */
  filter: Filter
  /** 1 to 4 items. One of them is `id`, so the order is total. */
  sort: ReadonlyArray<SortItem<SortField>>
  /** Rows to skip, 0 or more; it can exceed the number of rows. */
  offset: number
  /** Maximum number of rows to return, 1 to 200. */
  limit: number
}

/** Selects the fields of candidates or jobs, which the host stores. */
export interface RowFields {
  /**
   * Fields to return: those of the row type and those that the host publishes in addition. Other fields of a row are
   * never sent. A value that does not fit the published schema is never converted: the request gets 500.
   */
  fields: readonly string[]
  /**
   * The `fields` that are published as text or as arrays of text. A storage with numbers in such a field returns their
   * digits, such as `'9007199254740993'`.
   */
  textFields?: readonly string[]
  /**
   * Called with the id, as text, and the field of a row whose value is JSON with a number that no JavaScript number
   * equals, such as `1e400`. The row has null in place of this number.
   */
  onInexactNumber? (id: string, field: string): void
}

/** A query for candidates or jobs. */
export interface RowQuery<Filter, SortField extends string = string> extends ListQuery<Filter, SortField>, RowFields {}

/**
 * Pages through one resource of a tenant. `list` and `count` are separate and run in parallel, because a total can be
 * cached and a page cannot.
 */
export interface ListSource<Row, Filter, SortField extends string = string, Query = ListQuery<Filter, SortField>> {
  /**
   * Returns one page of rows in the requested order; `[]` beyond the last row and for a tenant that is unknown or has
   * no rows.
   */
  list (tenant: string, query: Query): Promise<Row[]>
  /** Counts the rows of the tenant that pass the filter. */
  count (tenant: string, filter: Filter): Promise<number>
}

/** A page of rows, and the number of all rows that pass the filter. */
export interface RowPage<Row> {
  rows: Row[]
  total: number
}

/** Reads candidates or jobs of a tenant. A row of another tenant is treated as if it did not exist. */
export interface RowSource<Row extends { id: unknown }, Filter, SortField extends string, FoundId = Row['id']>
  extends ListSource<Row, Filter, SortField, RowQuery<Filter, SortField>> {
  /** Returns what `list` and `count` return, from one read, which costs less. Without it, both are called. */
  page? (tenant: string, query: RowQuery<Filter, SortField>): Promise<RowPage<Row>>
  /**
   * Returns one row of the tenant as `list` returns it; `null` if there is none with this id. Ids are compared exactly,
   * but a storage may ignore the letter case of uuids. An id that the storage cannot store, such as text that is not a
   * uuid, matches no row.
   */
  find (tenant: string, id: FoundId, query: RowFields): Promise<Row | null>
  /**
   * Returns up to `limit` rows of the tenant with ids above `after`, or the first ones if it is `null`, by ascending
   * id. For sync.
   */
  listAfter? (tenant: string, query: RowFields & { after: FoundId | null, limit: number }): Promise<Row[]>
  /** Returns the row of each of these ids, as `find` does, in the order of the ids. For sync. */
  findMany? (tenant: string, ids: readonly FoundId[], query: RowFields): Promise<Array<Row | null>>
  /**
   * Whether filters can have `own` conditions, and `sort` fields with a type. The options `candidateFilters` and
   * `jobFilters` need it.
   */
  ownFilters?: boolean
}

/**
 * Declares one filter for the API, the built-in storages and the conformance kit. `field` is the field that it reads,
 * in PostgreSQL a column: a key that cannot read the field cannot use the filter. `description` and `example` are for
 * the OpenAPI document.
 */
export type RowFilter =
  /** The field equals this id, whose kind is in the option `ids`. */
  | { test: 'id', field: string, id: keyof IdKinds, description: string, example: number }
  /** The field contains this text. Only `q`, because storages store this field in lower case. */
  | { test: 'contains', field: string }
  /** The test of an `OwnCondition`. Text has up to 64 characters unless `maxLength` is given. */
  | { [Test in OwnCondition['test']]: OwnRowFilter<Test> }[OwnCondition['test']]

interface OwnRowFilter<Test> {
  test: Test
  field: string
  description: string
  example: unknown
  maxLength?: number
}

/** The filters of one list, by their names in the port. `recruiterId` is the parameter `filter[recruiter_id]`. */
export type RowFilters<Filter extends AnyFilter = { q?: string }> = Readonly<
  Record<Exclude<keyof Filter, 'own'>, RowFilter>
>

/** The conditions of every list of candidates or jobs. */
interface AnyFilter {
  q?: string
  own?: readonly OwnCondition[]
}

/** Selects candidates; all given conditions must match. */
export interface CandidateFilter<RecruiterId extends Id = number> {
  /** Only candidates of this recruiter. The id is compared as in `find`. */
  recruiterId?: RecruiterId
  /**
   * Only candidates whose `full_name` contains this text, 1 to 200 characters: literally, ignoring case. Case is
   * ignored as JavaScript's `toLowerCase` does: É matches é, but e does not match é and ss does not match ß. Both
   * lower-case forms of Σ are equal: σ matches ς.
   */
  q?: string
  /** Only candidates whose `updated_at` is strictly later, both in milliseconds as published. */
  updatedAfter?: string
  /** Conditions on fields of the option `candidateFilters`. Only for sources with `ownFilters`. */
  own?: readonly OwnCondition[]
}

const updatedAfter = {
  test: 'after',
  field: 'updated_at',
  description: 'Only items updated after this time',
  example: '2026-03-01T00:00:00Z'
} as const

/** Declares each condition of `CandidateFilter`. */
export const candidateFilters = {
  recruiterId: {
    test: 'id', field: 'recruiter_id', id: 'recruiter', description: 'Only candidates of this recruiter', example: 12
  },
  q: { test: 'contains', field: 'full_name' },
  updatedAfter
} as const satisfies RowFilters<CandidateFilter>

/** The filter of candidates with ids of these types. */
export type CandidateFilterOf<Ids extends { source: Id, recruiter: Id } = { source: Id, recruiter: Id }> =
  CandidateFilter<Ids['recruiter']>

/** Fields to sort candidates by; never null. */
export type CandidateSortField = 'id' | 'full_name' | 'created_at' | 'updated_at'

/** A published candidate. The option `candidateFields` adds fields. */
export interface CandidateRow<CandidateId extends Id = number, SourceId extends Id = number> {
  /** Unique within the tenant. An integer up to 2^53-1, or text of 1 to 64 visible ASCII characters without `/`. */
  id: CandidateId
  full_name: string
  /** Their occupation in one line; `null` if unknown. */
  headline: string | null
  /** The source they came from; `null` if unknown. */
  source_id: SourceId | null
}

/** A query for one page of candidates. */
export type CandidateQuery<RecruiterId extends Id = number> = RowQuery<CandidateFilter<RecruiterId>, CandidateSortField>

/** Reads the candidates of a tenant. The type arguments are `string` for the ids that the option `ids` makes text. */
export type CandidateSource<
  CandidateId extends Id = number,
  SourceId extends Id = number,
  RecruiterId extends Id = number
> = RowSource<CandidateRow<CandidateId, SourceId>, CandidateFilter<RecruiterId>, CandidateSortField>

/** A source of candidates with ids of unknown kinds. */
export type AnyCandidateSource = RowSource<CandidateRow<Id, Id>, CandidateFilter<never>, CandidateSortField, never>

/** Selects jobs; all given conditions must match. */
export interface JobFilter {
  /** Only jobs with exactly this status, 1 to 64 characters. */
  status?: string
  /** Only jobs whose `name` contains this text, 1 to 200 characters: literally, ignoring case as for candidates. */
  q?: string
  /** Only jobs whose `updated_at` is strictly later, both in milliseconds as published. */
  updatedAfter?: string
  /** Conditions on fields of the option `jobFilters`. Only for sources with `ownFilters`. */
  own?: readonly OwnCondition[]
}

/** Declares each condition of `JobFilter`. */
export const jobFilters = {
  status: { test: 'text', field: 'status', description: 'Only jobs with exactly this status', example: 'published' },
  q: { test: 'contains', field: 'name' },
  updatedAfter
} as const satisfies RowFilters<JobFilter>

/** Fields to sort jobs by; never null. */
export type JobSortField = 'id' | 'name' | 'status' | 'created_at' | 'updated_at'

/** A published job. The option `jobFields` adds fields. */
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
