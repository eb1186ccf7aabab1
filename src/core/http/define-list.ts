import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TObject, TSchema, TUnsafe } from '@sinclair/typebox'
import { changeOf, syncQuery } from '../api/sync.js'
import type { ChangeKind, Id, ListSource } from '../ports/index.js'
import { runInPlace } from '../shared/connections.js'
import { idRules, isId, readChangeKind } from '../shared/ids.js'
import { assertKnownNames, assertOption, assertObject } from '../shared/read-options.js'
import { omitUndefined } from '../shared/fields.js'
import { type Page, type PagingQuery, pagingQuery, parsePaging, readPage } from '../shared/paging.js'
import { type StaticOf, type TypeBoxSchema, Type } from '../shared/typebox.js'
import { linkPages } from './responses/rows.js'
import { readCaller, stateOf } from './request.js'
import { parseFilter } from './input.js'
import { PageOf } from './schemas.js'
import { markSync, readSync } from './sync.js'

/** Options of `defineList`. */
export interface ListOptions<
  Field extends string, Filters extends Record<string, TypeBoxSchema>, Kind extends string | undefined = undefined
> {
  /** Fields to sort by: letters, digits and `_`. One of them is `id`, which is unique within a tenant. */
  sort: readonly Field[]
  /**
   * The order without the parameter `sort`.
   * @default 'id'
   */
  defaultSort?: NoInfer<Field | `-${Field}`>
  /**
   * Schemas of the filters, which are optional parameters `filter[name]`: text, booleans, or integers, by default from
   * -(2^53-1) to 2^53-1. `q` is trimmed, ignored if blank, and has at most 200 characters. Text with the format
   * `date-time` is converted to UTC with milliseconds.
   * @default {}
   */
  filters?: Filters
  /**
   * A description of the response, for the document.
   * @default 'A page of the list'
   */
  description?: string
  /**
   * The kind of the items, such as `application`: the list then has `sync`. `watch` or `changed` must record the
   * changes of this kind. 1 to 32 of `a-z`, `0-9` and `_`, beginning with a letter, and not `candidate` or `job`. The
   * item must be an object with an `id`: an integer up to 2^53-1, or text of 1 to 64 visible ASCII characters without
   * `/`.
   * @default no sync
   */
  kind?: Kind
}

/** A list for the option `routes`. */
export interface OwnList<Row, Field extends string, Filter> {
  /** The `querystring` of the route. */
  readonly query: TObject
  /** The route's response with status 200. */
  readonly page: ReturnType<typeof PageOf<'page', TUnsafe<Row>>>
  /**
   * Reads the requested page and its total, sets `Link`, and returns the response. `list` and `count` run in
   * parallel.
   */
  read (request: FastifyRequest, reply: FastifyReply, source: ListSource<Row, Filter, Field>): Promise<Page<Row>>
}

type IdOf<Row> = Row extends { id: infer OwnId extends Id } ? OwnId : Id

/** Reads the rows of a list for its sync. */
export interface OwnRows<Row> {
  /**
   * Returns up to `limit` rows of the tenant with ids above `after`, or the first ones if it is `null`, by ascending
   * id. Text is ordered by Unicode code point.
   */
  listAfter (tenantId: string, query: { after: IdOf<Row> | null, limit: number }): Promise<Row[]>
  /** Returns the tenant's rows with these ids, in any order. */
  findMany (tenantId: string, ids: Array<IdOf<Row>>): Promise<Row[]>
}

/** A page of the sync of a list. The item has the name of the list's kind; it is `null` if it was deleted. */
export interface OwnSyncPage<Row> {
  data: Array<{ id: Id, deleted: boolean, [kind: string]: Row | Id | boolean | null }>
  meta: { next_token: string, has_more: boolean, events_token?: string }
}

/** The sync of a list, for a route such as `/applications/sync`: all items, then their changes. */
export interface OwnSync<Row> {
  /** The `querystring` of the route. */
  readonly query: TObject
  /** The route's response with status 200. */
  readonly page: TUnsafe<OwnSyncPage<Row>>
  /** Reads the requested page. Throws a 410 for an invalid token, and a 404 if changes are not recorded. */
  read (request: FastifyRequest, rows: OwnRows<Row>): Promise<OwnSyncPage<Row>>
}

const optionNames = { sort: true, defaultSort: true, filters: true, description: true, kind: true } satisfies Record<
  keyof ListOptions<string, never>,
  true
>
const namePattern = /^[a-z_]\w*$/i

/**
 * Defines your own list with the parameters (`page`, `per_page`, `sort` and `filter[…]`), errors, `meta` and `Link` of
 * the API's lists. `item` is the schema of one row, from either TypeBox. With the option `kind`, it also has a `sync`
 * like those of candidates and jobs. Throws `invalid_option`.
 */
export function defineList<
  Item extends TypeBoxSchema,
  const Field extends string,
  Filters extends Record<string, TypeBoxSchema> = Record<never, never>,
  Kind extends string | undefined = undefined
> (
  item: Item,
  options: ListOptions<Field, Filters, Kind>
): OwnList<StaticOf<Item>, Field, { [Name in keyof Filters]?: StaticOf<Filters[Name]> }> &
  (Kind extends string ? { readonly sync: OwnSync<StaticOf<Item>> } : unknown)
export function defineList (
  item: TSchema, options: ListOptions<string, Record<string, TSchema>, string | undefined>
): OwnList<unknown, string, Record<string, unknown>> & { readonly sync?: OwnSync<unknown> } {
  type Filter = Record<string, unknown>
  assertObject(item, 'item', 'a schema')
  assertObject(options, 'options')
  assertKnownNames(options, optionNames)
  const { sort, defaultSort = 'id', filters = {}, description = 'A page of the list', kind } = options
  assertSort(sort, defaultSort)
  assertFilters(filters)
  const entries = Object.entries(filters)
  const query = Type.Object(
    {
      ...pagingQuery(sort, defaultSort),
      ...Object.fromEntries(entries.map(([name, schema]) => [`filter[${name}]`, Type.Optional(bounded(schema))]))
    },
    { additionalProperties: false }
  )

  return {
    query,
    ...kind === undefined ? {} : { sync: defineSync(readOwnKind(kind), item, description) },
    page: PageOf('page', Type.Unsafe<unknown>(item), description),
    async read (request, reply, source) {
      assertRoute(request, query)
      const { tenantId } = readCaller(request)
      const { connections } = stateOf(request).server
      const values = request.query as PagingQuery & Record<string, unknown>
      const filter = Object.fromEntries(
        entries.map(([name, { format }]) => [name, parseFilter(`filter[${name}]`, format, values[`filter[${name}]`])])
      )
      const page = await readPage<unknown, Filter, string>(
        {
          list: (query) => runInPlace(connections, tenantId, async () => source.list(tenantId, query)),
          count: async (filter) =>
            assertTotal(await runInPlace(connections, tenantId, async () => source.count(tenantId, filter)))
        },
        parsePaging(values, omitUndefined(filter))
      )
      return linkPages(request, reply, page)
    }
  }
}

const rowKinds = ['candidate', 'job']

function readOwnKind (value: string): ChangeKind {
  const kind = readChangeKind(value, 'kind')
  assertOption(!rowKinds.includes(kind), 'kind', 'another name than those of candidates and jobs', kind)
  return kind
}

function defineSync (kind: ChangeKind, item: TSchema, description: string): OwnSync<unknown> {
  const id: TSchema | undefined = item.type === 'object' ? item.properties.id : undefined
  const idKind = id?.type === 'string' ? 'string' : 'integer'
  const expected = 'the schema of an object whose id is text or an integer'
  assertOption(id?.type === idKind, 'item', expected, id?.type ?? item.type)
  const query = markSync(syncQuery(), kind)

  return {
    query,
    page: Type.Unsafe(PageOf('sync', changeOf(kind, item, id), description)),
    async read (request, rows) {
      assertRoute(request, query)
      const { tenantId: tenant } = readCaller(request)
      const { connections, followed } = stateOf(request).server
      const { token, per_page: limit } = request.query as { token?: string, per_page: number }

      async function read (method: string, work: () => Promise<unknown[]>): Promise<Array<{ id: Id, item: unknown }>> {
        const found = await runInPlace(connections, tenant, async () => work())
        return found.map((item) => {
          const id: unknown = Reflect.get(Object(item), 'id')
          if (isId(id, idKind)) return { id, item }
          throw new Error(`${kind}s.${method} returned a row whose id is a ${typeof id}, expected ${idRules[idKind]}`)
        })
      }

      const { entries, meta } = await readSync<unknown>(followed, {
        kind,
        idKind,
        listAfter: (after, limit) => read('listAfter', () => rows.listAfter(tenant, { after, limit })),
        async findMany (ids) {
          const found = await read('findMany', () => rows.findMany(tenant, [...ids]))
          const known = new Set(found.map(({ id }) => id))
          return [...found, ...ids.filter((id) => !known.has(id)).map((id) => ({ id, item: null }))]
        }
      }, { tenant, token, limit, log: request.log })
      return { data: entries.map(({ id, item }) => ({ id, deleted: item === null, [kind]: item as Id })), meta }
    }
  }
}

/** Larger numbers would lose digits. */
function bounded (schema: TSchema): TSchema {
  if (schema.type !== 'integer') return schema
  return { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, ...schema }
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
    const isReadable = isText(schema) || (name !== 'q' && ['integer', 'boolean'].includes(schema?.type))
    assertOption(
      isReadable,
      `filters.${name}`,
      name === 'q' ? 'a schema of text' : 'a schema of text, integers or booleans',
      schema?.type ?? schema
    )
  }
}

/** Accepts text, or one of several texts. */
function isText (schema: TSchema | null | undefined): boolean {
  if (schema?.type === 'string') return true
  if (Array.isArray(schema?.enum)) return schema.enum.every((value) => typeof value === 'string')
  return Array.isArray(schema?.anyOf) && schema.anyOf.every(isText)
}
