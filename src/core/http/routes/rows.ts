import type { FastifyRequest } from 'fastify'
import type { TSchema } from '@sinclair/typebox'
import type { Id, IdKinds, RowSource } from '../../ports/index.js'
import type { RowFilter, RowFilters } from '../../ports/lists.js'
import { type Page, pagingQuery, readPage } from '../../shared/paging.js'
import { Type } from '../../shared/typebox.js'
import { operation } from '../../webhooks/operation-table.js'
import { parseSearch, parseUpdatedAfter } from '../input.js'
import { type PublishedRows, rejectHiddenFields } from '../responses/published-rows.js'
import { requestedId, rowParams, Search, textIdExamples, UpdatedAfter } from '../schemas.js'
import type { ApiOperation } from './operations.js'

/** The list of candidates or of jobs. */
export interface RowList<Filter extends { q?: string }, SortField> {
  kind: 'candidate' | 'job'
  /** Fields to sort by. */
  sortable: readonly SortField[]
  filters: RowFilters<Filter>
}

/** Converts a valid value; `undefined` for no filter. */
const parsers: Partial<Record<RowFilter['test'], (text: string) => unknown>> = {
  contains: parseSearch,
  after: parseUpdatedAfter
}

function schemaOf (filter: RowFilter, ids: IdKinds): TSchema {
  switch (filter.test) {
    case 'id': {
      const { id, description, example } = filter
      const bounds = { minimum: 1, maximum: Number.MAX_SAFE_INTEGER }
      return requestedId(ids[id], Type.Integer({ ...bounds, description, examples: [example] }), textIdExamples[id])
    }
    case 'text': {
      const { description, example } = filter
      return Type.String({ minLength: 1, maxLength: 64, description, examples: [example] })
    }
    case 'contains': return Search
    case 'after': return UpdatedAfter
  }
}

/** Returns the parameter of a filter, such as `filter[recruiter_id]` for `recruiterId`. */
function parameterOf (name: string): string {
  return `filter[${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}]`
}

/** Returns the operations that list candidates or jobs and read one. */
export function rowOperations<Row extends { id: Id }, Filter extends { q?: string }, SortField extends string> (
  source: RowSource<Row, Filter, SortField>,
  { item, fields, select, assertRows, limitFields }: PublishedRows<Row>,
  { kind, sortable, filters }: RowList<Filter, SortField>,
  ids: IdKinds
): ApiOperation[] {
  const title = kind === 'candidate' ? 'Candidate' : 'Job'
  const parameters = Object.entries<RowFilter>(filters).map(([name, filter]) =>
    [parameterOf(name), name, filter] as const)
  const schemas = Object.fromEntries(
    parameters.map(([parameter, , filter]) => [parameter, Type.Optional(schemaOf(filter, ids))])
  )
  const filteredFields = Object.fromEntries(parameters.map(([parameter, , { field }]) => [parameter, field]))

  function readFilter (query: object): Filter {
    const filter: Partial<Record<string, unknown>> = {}
    for (const [parameter, name, { test }] of parameters) {
      const given: unknown = Reflect.get(query, parameter)
      const parse = parsers[test]
      const value = given === undefined || parse === undefined ? given : parse(String(given))
      if (value !== undefined) filter[name] = value
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
        rejectHiddenFields(request, kind, fields, filteredFields)
        const page = await readPage<Row, Filter, SortField>({
          list: (page) => source.list(tenant, { ...page, ...select(request) }),
          count: (filter) => source.count(tenant, filter)
        }, input, readFilter(input))
        assertRows('list', page.data, request)
        limitFields(request, ({ data, meta }: Page<Row>, writeRow) =>
          `{"data":[${data.map(writeRow).join()}],"meta":${JSON.stringify(meta)}}`)
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
        const row = await source.find(tenant.id, id, select(request))
        if (row === null) return null
        assertRows('find', [row], request)
        limitFields(request, ({ data }: { data: Row }, writeRow) => `{"data":${writeRow(data)}}`)
        return row
      }
    }
  ]
}

/** The common part of operations that read candidates or jobs. */
export function readingRows (kind: 'candidate' | 'job') {
  return { method: 'GET', tag: `${kind}s`, scopes: [], anyScope: [`${kind}s:read`, `${kind}s:write`] } as const
}
