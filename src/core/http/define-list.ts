import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TObject, TSchema, TUnsafe } from '@sinclair/typebox'
import type { ListSource } from '../ports/index.js'
import { runInPlace } from '../shared/connections.js'
import { assertKnownNames, assertOption, assertObject } from '../shared/read-options.js'
import { omitUndefined } from '../shared/fields.js'
import { type Page, type PagingQuery, pagingQuery, parsePaging, readPage } from '../shared/paging.js'
import { type StaticOf, type TypeBoxSchema, Type } from '../shared/typebox.js'
import { linkPages } from './responses/rows.js'
import { readCaller, stateOf } from './request.js'
import { parseDateTime, parseSearch } from './input.js'
import { PageOf } from './schemas.js'

/** Options of `defineList`. */
export interface ListOptions<Field extends string, Filters extends Record<string, TypeBoxSchema>> {
  /** Fields to sort by: letters, digits and `_`. One of them is `id`, which is unique within a tenant. */
  sort: readonly Field[]
  /**
   * The order without the parameter `sort`.
   * @default 'id'
   */
  defaultSort?: NoInfer<Field | `-${Field}`>
  /**
   * Schemas of the filters, which are optional parameters `filter[name]`: text, or integers, by default from -(2^53-1)
   * to 2^53-1. `q` is trimmed, ignored if blank, and has at most 200 characters. Text with `format: 'date-time'` is
   * converted to UTC with milliseconds.
   * @default {}
   */
  filters?: Filters
  /**
   * A description of the response, for the document.
   * @default 'A page of the list'
   */
  description?: string
}

/** A list for the option `routes`. */
export interface OwnList<Row, Field extends string, Filter> {
  /** The `querystring` of the route. */
  readonly query: TObject
  /** The route's response with status 200. */
  readonly page: ReturnType<typeof PageOf<TUnsafe<Row>>>
  /**
   * Reads the requested page and its total, sets `Link`, and returns the response. `list` and `count` run in
   * parallel.
   */
  read (request: FastifyRequest, reply: FastifyReply, source: ListSource<Row, Filter, Field>): Promise<Page<Row>>
}

const optionNames = { sort: true, defaultSort: true, filters: true, description: true } satisfies Record<
  keyof ListOptions<string, never>,
  true
>
const namePattern = /^[a-z_]\w*$/i

/**
 * Defines your own list with the parameters (`page`, `per_page`, `sort` and `filter[…]`), errors, `meta` and `Link` of
 * the API's lists. `item` is the schema of one row, from either TypeBox. Throws `invalid_option`.
 */
export function defineList<
  Item extends TypeBoxSchema,
  const Field extends string,
  Filters extends Record<string, TypeBoxSchema> = Record<never, never>
> (
  item: Item,
  options: ListOptions<Field, Filters>
): OwnList<StaticOf<Item>, Field, { [Name in keyof Filters]?: StaticOf<Filters[Name]> }> {
  type Row = StaticOf<Item>
  type Filter = { [Name in keyof Filters]?: StaticOf<Filters[Name]> }
  assertObject(item, 'item', 'a schema')
  assertObject(options, 'options')
  assertKnownNames(options, optionNames)
  const { sort, defaultSort = 'id', filters = {}, description = 'A page of the list' } = options
  assertSort(sort, defaultSort)
  assertFilters(filters)
  const entries = Object.entries(filters as Record<string, TSchema>)
  const query = Type.Object(
    {
      ...pagingQuery(sort, defaultSort),
      ...Object.fromEntries(entries.map(([name, schema]) => [`filter[${name}]`, Type.Optional(bounded(schema))]))
    },
    { additionalProperties: false }
  )

  return {
    query,
    page: PageOf(Type.Unsafe<Row>(item), description),
    async read (request, reply, source) {
      assertRoute(request, query)
      const { tenantId } = readCaller(request)
      const { connections } = stateOf(request)
      const values = request.query as PagingQuery & Record<string, unknown>
      const filter = Object.fromEntries(
        entries.map(([name, schema]) => [name, readFilter(`filter[${name}]`, schema, values)])
      )
      const page = await readPage<Row, Filter, Field>(
        {
          list: (query) => runInPlace(connections, tenantId, async () => source.list(tenantId, query)),
          count: async (filter) =>
            assertTotal(await runInPlace(connections, tenantId, async () => source.count(tenantId, filter)))
        },
        parsePaging(values, omitUndefined(filter) as Filter)
      )
      return linkPages(request, reply, page)
    }
  }
}

/** Larger numbers would lose digits. */
function bounded (schema: TSchema): TSchema {
  if (schema.type !== 'integer') return schema
  return { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, ...schema }
}

function readFilter (field: string, { format }: TSchema, values: Record<string, unknown>): unknown {
  const value = values[field]
  if (typeof value !== 'string') return value
  if (field === 'filter[q]') return parseSearch(value)
  return format === 'date-time' ? parseDateTime(field, value) : value
}

/** Otherwise `sort` might not be validated, or the key not checked. */
function assertRoute ({ routeOptions: { config, schema } }: FastifyRequest, query: TObject): void {
  if (config.recruitingApi === true && schema?.querystring === query) return
  throw new Error("read expects a request of a route in the option routes whose querystring is this list's query")
}

/** Database drivers return `count(*)` as text. */
function assertTotal (total: unknown): number {
  if (typeof total === 'number' && Number.isSafeInteger(total) && total >= 0) return total
  throw new Error(
    `count of a list returned ${typeof total === 'number' ? total : `a ${typeof total}`}, expected an integer from 0`
  )
}

function assertSort (sort: unknown, defaultSort: unknown): asserts sort is readonly string[] {
  const isValid = Array.isArray(sort) && sort.every((field) => typeof field === 'string' && namePattern.test(field)) &&
    sort.includes('id') && new Set(sort).size === sort.length
  assertOption(isValid, 'sort', 'an array of different names, one of them id', sort)
  const isKnown = typeof defaultSort === 'string' && sort.includes(defaultSort.replace(/^-/, ''))
  assertOption(isKnown, 'defaultSort', `one of ${sort.join(', ')}, with a leading - if descending`, defaultSort)
}

function assertFilters (filters: unknown): void {
  assertObject(filters, 'filters')
  for (const [name, schema] of Object.entries(filters)) {
    assertOption(namePattern.test(name), `filters.${name}`, 'a name of letters, digits and _', name)
    const isReadable = isText(schema) || (name !== 'q' && schema?.type === 'integer')
    assertOption(
      isReadable,
      `filters.${name}`,
      name === 'q' ? 'a schema of text' : 'a schema of text or integers',
      schema?.type ?? schema
    )
  }
}

/** Accepts text, or one of several texts. Parameters arrive as text, and only the type `integer` is converted. */
function isText (schema: TSchema | null | undefined): boolean {
  if (schema?.type === 'string') return true
  if (Array.isArray(schema?.enum)) return schema.enum.every((value) => typeof value === 'string')
  return Array.isArray(schema?.anyOf) && schema.anyOf.every(isText)
}
