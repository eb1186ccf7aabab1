import type { TUnsafe } from '@sinclair/typebox'
import { InputError } from './errors.js'
import type { ListQuery, OwnFilter, RowPage, SortItem } from '../ports/index.js'
import { Type } from './typebox.js'

const maxPage = 2147483647
const maxPerPage = 200

export function pagingQuery<Field extends string> (sortable: readonly Field[], defaultSort: string) {
  const item = `-?(${sortable.join('|')})`
  const choice = sortable.length === 1 ? sortable[0] : `up to 3 of ${sortable.join(', ')}, separated by commas`
  const sort: TUnsafe<Sort<Field>> & { default: string } = {
    ...Type.Unsafe<Sort<Field>>(Type.String({
      pattern: `^${item}(,${item}){0,2}$`,
      default: defaultSort,
      examples: [`-${sortable.at(-1)}`],
      // Also part of a message: `must be up to 3 of …`.
      description: `${choice}; a leading minus sign sorts descending`
    })),
    // For the type.
    default: defaultSort
  }
  return {
    page: Type.Integer({
      minimum: 1,
      maximum: maxPage,
      default: 1,
      description: 'The page number, from 1. Pages beyond the last one are empty'
    }),
    per_page: Type.Integer({
      minimum: 1,
      maximum: maxPerPage,
      default: 25,
      description: 'Maximum number of items per page'
    }),
    sort
  }
}

/** Up to 3 fields. Editors suggest the names. */
export type Sort<Field extends string> = Field | `-${Field}` | (string & Record<never, never>)

export interface PagingQuery {
  page: number
  per_page: number
  sort: string
}

/** One page of a list, as responses show it. */
export interface Page<Row> {
  data: Row[]
  meta: {
    page: number
    per_page: number
    total: number
    total_pages: number
    /** Present if there are more rows than `total`. */
    total_is_capped?: true
  }
}

interface Source<Row, Filter, Field extends string> {
  list (query: ListQuery<Filter, Field>): Promise<Row[]>
  /** Counting may stop at `limit`. */
  count (filter: Filter, options: { limit?: number }): Promise<number>
  /** Reads both. */
  page?: ((query: ListQuery<Filter, Field>) => Promise<RowPage<Row>>) | undefined
  /** The highest total to count. @default none */
  maxTotal?: number
}

/** Returns what to ask of a source. Throws an `InputError` for a repeated field in `sort`. */
export function parsePaging<Filter, Field extends string> (
  { page, per_page: perPage, sort }: PagingQuery, filter: Filter, own: readonly OwnFilter[] = []
): ListQuery<Filter, Field> {
  return { filter, sort: parseSort<Field>(sort, own), offset: (page - 1) * perPage, limit: perPage }
}

export async function readPage<Row, Filter, Field extends string> (
  source: Source<Row, Filter, Field>, query: ListQuery<Filter, Field>
): Promise<Page<Row>> {
  const { maxTotal } = source
  const { filter, offset, limit: perPage } = query
  const { rows: data, total: counted } = await (source.page?.(query) ?? readBoth(
    () => source.list(query),
    () => source.count(filter, maxTotal === undefined ? {} : { limit: maxTotal + 1 })
  ))
  const total = Math.min(counted, maxTotal ?? counted)
  const meta = {
    page: offset / perPage + 1, per_page: perPage, total, total_pages: Math.ceil(total / perPage)
  }
  return { data, meta: counted > total ? { ...meta, total_is_capped: true } : meta }
}

/** Reads a page and its total in parallel. */
export async function readBoth<Row> (list: () => Promise<Row[]>, count: () => Promise<number>): Promise<RowPage<Row>> {
  // The total takes longer, so it starts first. If the list rejects, the count must not become an unhandled rejection.
  const counting = count()
  counting.catch(() => {})
  const rows = await list()
  return { rows, total: await counting }
}

/** Parses `sort` and appends `id`, so that no two rows tie. */
function parseSort<Field extends string> (sort: string, own: readonly OwnFilter[]): Array<SortItem<Field>> {
  // The schema of the query has already rejected unknown fields.
  const items = sort.split(',').map((text): SortItem<Field> => {
    const isDescending = text.startsWith('-')
    const field = (isDescending ? text.slice(1) : text) as Field
    const type = own.find((one) => one.field === field)?.type
    const direction = isDescending ? 'desc' : 'asc'
    return type === undefined ? { field, direction } : { field, direction, type }
  })
  const fields = items.map(({ field }) => field)
  const repeated = fields.find((field, index) => fields.indexOf(field) < index)
  if (repeated !== undefined) throw new InputError('sort', `names ${repeated} more than once`, 'query')
  const id = 'id' as Field
  return fields.includes(id) ? items : [...items, { field: id, direction: items.at(-1)?.direction ?? 'asc' }]
}
