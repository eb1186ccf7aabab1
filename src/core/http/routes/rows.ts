import { parameterOf, type RowList, rowOperations } from '../../api/rows.js'
import type { Id, IdKinds, RowSource } from '../../ports/index.js'
import type { RowFilter } from '../../ports/lists.js'
import { readPage } from '../../shared/paging.js'
import { parseSearch, parseUpdatedAfter } from '../input.js'
import { respondWith } from '../request.js'
import { type PublishedRows, rejectHiddenFields } from '../responses/published-rows.js'
import { type ApiOperation, perform } from './operations.js'

/** Converts a valid value; `undefined` for no filter. */
const parsers: Partial<Record<RowFilter['test'], (text: string) => unknown>> = {
  contains: parseSearch,
  after: parseUpdatedAfter
}

/** Returns the operations that list candidates or jobs and read one. */
export function listRowOperations<Row extends { id: Id }, Filter extends { q?: string }, SortField extends string> (
  source: RowSource<Row, Filter, SortField>,
  { item, fields, select, writeRows }: PublishedRows<Row>,
  list: RowList<'candidate' | 'job', Filter, SortField>,
  ids: IdKinds
): ApiOperation[] {
  const { kind, filters } = list
  const { page: readBoth } = source
  const parameters = Object.entries<RowFilter>(filters).map(([name, filter]) =>
    [parameterOf(name), name, filter] as const)
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

  return perform(rowOperations(list, item, ids), {
    async list ({ tenant: { id: tenant }, input }, request) {
      rejectHiddenFields(request, kind, fields, filteredFields)
      const page = await readPage<Row, Filter, SortField>({
        list: (page) => source.list(tenant, { ...page, ...select(request) }),
        count: (filter) => source.count(tenant, filter),
        page: readBoth && ((page) => readBoth(tenant, { ...page, ...select(request) }))
      }, input, readFilter(input))
      const rows = writeRows(readBoth === undefined ? 'list' : 'page', page.data, request)
      respondWith(request, `{"data":[${rows.join()}],"meta":${JSON.stringify(page.meta)}}`)
      return page
    },
    async find ({ tenant, id }, request) {
      const row = await source.find(tenant.id, id, select(request))
      if (row === null) return null
      respondWith(request, `{"data":${writeRows('find', [row], request).join()}}`)
      return row
    }
  })
}
