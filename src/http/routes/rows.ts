import type { FastifyPluginAsync } from 'fastify'
import type { TSchema } from '@sinclair/typebox'
import type { Id, IdKinds, RowSource } from '../../ports/index.js'
import { type PagingQuery, pagingQuery, readPage } from '../../shared/paging.js'
import { Type } from '../../shared/typebox.js'
import { parseSearch, parseUpdatedAfter } from '../input/query.js'
import { readTenant } from '../request.js'
import type { PublishedRows } from '../responses/published-rows.js'
import { found, linkPages, storableId } from '../responses/rows.js'
import { createFieldLimit, refuseHiddenFields } from '../responses/visible-fields.js'
import { errorResponses } from '../schemas/errors.js'
import { DataOf, PageOf, rowParams, Search, UpdatedAfter } from '../schemas/parameters.js'

/** A filter of a list. */
export interface RowFilter<Filter> {
  schema: TSchema
  /** The field that it reads: a key that does not see the field cannot use the filter. */
  field: string
  /** Its name in the filter of the port. */
  as: keyof Filter & string
  /** Converts a value of the schema; `undefined` for no filter. @default the value as it is */
  parse? (text: string): unknown
}

interface NameAndTime {
  q?: string
  updatedAfter?: string
}

/** Finds text in a field. */
export function searchIn (field: string): RowFilter<NameAndTime> {
  return { schema: Search, field, as: 'q', parse: parseSearch }
}

export const updatedAfter: RowFilter<NameAndTime> = {
  schema: UpdatedAfter, field: 'updated_at', as: 'updatedAfter', parse: parseUpdatedAfter
}

/** The list of candidates or of jobs. */
export interface RowList<Filter, SortField> {
  kind: 'candidate' | 'job'
  /** Fields to sort by. */
  sortable: readonly SortField[]
  /** By their parameters, such as `filter[status]`. */
  filters: Readonly<Record<string, RowFilter<Filter>>>
}

/** Returns a plugin with the routes that list candidates or jobs and read one. */
export function rowRoutes<Row extends { id: Id }, Filter extends object, SortField extends string> (
  source: RowSource<Row, Filter, SortField>,
  { item, selected, assertRow }: PublishedRows<Row>,
  { kind, sortable, filters }: RowList<Filter, SortField>,
  ids: IdKinds
): FastifyPluginAsync {
  const title = kind === 'candidate' ? 'Candidate' : 'Job'
  const Listed = (shown: typeof item) => PageOf(shown, `A page of ${kind}s`)
  const Read = (shown: typeof item) => DataOf(shown, `The ${kind}`)
  const limitList = createFieldLimit(kind, item, Listed)
  const limitOne = createFieldLimit(kind, item, Read)
  const parameters = Object.entries(filters)
  const schemas = Object.fromEntries(parameters.map(([name, { schema }]) => [name, Type.Optional(schema)]))
  const filteredFields = Object.fromEntries(parameters.map(([name, { field }]) => [name, field]))

  function readFilter (query: object): Filter {
    const filter: Partial<Record<string, unknown>> = {}
    for (const [name, { as, parse }] of parameters) {
      const given: unknown = Reflect.get(query, name)
      const value = given === undefined || parse === undefined ? given : parse(String(given))
      if (value !== undefined) filter[as] = value
    }
    return filter as Filter
  }

  const listSchema = {
    operationId: `list${title}s`,
    tags: [`${kind}s`],
    summary: `List ${kind}s`,
    description: `Returns the ${kind}s that pass all filters, sorted by id unless \`sort\` is given.`,
    querystring: Type.Object({ ...pagingQuery(sortable, 'id'), ...schemas }, { additionalProperties: false }),
    response: { 200: Listed(item), ...errorResponses }
  }
  const findSchema = {
    operationId: `get${title}`,
    tags: [`${kind}s`],
    summary: `Get a ${kind}`,
    description: 'Returns the same fields as the list.',
    params: rowParams(kind, ids),
    response: { 200: Read(item), ...errorResponses }
  }

  return async (app) => {
    const config = { anyScope: [`${kind}s:read`, `${kind}s:write`] }
    app.get<{ Querystring: PagingQuery }>(`/${kind}s`, {
      exposeHeadRoute: true,
      config,
      schema: listSchema
    }, async (request, reply) => {
      const { id: tenant } = readTenant(request)
      refuseHiddenFields(request, kind, selected.fields, filteredFields)
      const page = await readPage<Row, Filter, SortField>({
        list: (query) => source.list(tenant, { ...query, ...selected }),
        count: (filter) => source.count(tenant, filter)
      }, request.query, readFilter(request.query))
      for (const row of page.data) assertRow('list', row, request)
      limitList(request)
      return linkPages(request, reply, page)
    })

    app.get<{ Params: { id: Id } }>(`/${kind}s/:id`, {
      exposeHeadRoute: true,
      config: { ...config, resource: kind },
      schema: findSchema
    }, async (request) => {
      const id = storableId(request.params.id)
      const row = found(await source.find(readTenant(request).id, id, selected))
      assertRow('find', row, request)
      limitOne(request)
      return { data: row }
    })
  }
}
