import type { FastifyRequest } from 'fastify'
import type { TSchema } from '@sinclair/typebox'
import type { Id, IdKinds, RowSource } from '../../ports/index.js'
import { pagingQuery, readPage } from '../../shared/paging.js'
import { Type } from '../../shared/typebox.js'
import { operation } from '../../webhooks/operation-table.js'
import { parseSearch, parseUpdatedAfter } from '../input.js'
import { createFieldLimit, type PublishedRows, refuseHiddenFields } from '../responses/published-rows.js'
import { DataOf, PageOf, rowParams, Search, UpdatedAfter } from '../schemas.js'
import type { ApiOperation } from './operations.js'

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

/** Returns the operations that list candidates or jobs and read one. */
export function rowOperations<Row extends { id: Id }, Filter extends object, SortField extends string> (
  source: RowSource<Row, Filter, SortField>,
  { item, selected, assertRows }: PublishedRows<Row>,
  { kind, sortable, filters }: RowList<Filter, SortField>,
  ids: IdKinds
): ApiOperation[] {
  const title = kind === 'candidate' ? 'Candidate' : 'Job'
  const { fields, textFields } = selected
  const limitList = createFieldLimit(kind, item, PageOf)
  const limitOne = createFieldLimit(kind, item, DataOf)
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

  return [
    operation({
      ...readingRows(kind),
      operationId: `list${title}s`,
      path: `/${kind}s`,
      summary: `List ${kind}s`,
      description: `Returns the ${kind}s that pass all filters, sorted by id unless \`sort\` is given.`,
      input: Type.Object({ ...pagingQuery(sortable, 'id'), ...schemas }, { additionalProperties: false }),
      item,
      shape: 'page',
      results: { 200: `A page of ${kind}s` },
      async run (request: FastifyRequest, { tenant: { id: tenant }, input }) {
        refuseHiddenFields(request, kind, fields, filteredFields)
        const page = await readPage<Row, Filter, SortField>({
          list: ({ filter, sort, offset, limit }) =>
            source.list(tenant, { filter, sort, offset, limit, fields, textFields }),
          count: (filter) => source.count(tenant, filter)
        }, input, readFilter(input))
        assertRows('list', page.data, request)
        limitList(request)
        return page
      }
    }),
    {
      ...readingRows(kind),
      operationId: `get${title}`,
      path: `/${kind}s/:id`,
      summary: `Get a ${kind}`,
      description: 'Returns the same fields as the list.',
      params: rowParams(kind, ids),
      item,
      shape: 'one',
      results: { 200: `The ${kind}` },
      resource: kind,
      async run (request, { tenant, id }) {
        const row = await source.find(tenant.id, id, selected)
        if (row === null) return null
        assertRows('find', [row], request)
        limitOne(request)
        return row
      }
    }
  ]
}

/** The common part of operations that read candidates or jobs. */
export function readingRows (kind: 'candidate' | 'job') {
  return { method: 'GET', tag: `${kind}s`, scopes: [], anyScope: [`${kind}s:read`, `${kind}s:write`] } as const
}
