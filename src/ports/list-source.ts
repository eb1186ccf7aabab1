/** One field to order by. Text is ordered by Unicode code point, dates and numbers by value. */
export interface SortItem<Field extends string = string> {
  /** Its name on the wire. */
  field: Field
  /** `asc` begins with the least, `desc` with the greatest. */
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
