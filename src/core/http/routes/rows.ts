import { parameterOf, type RowList, rowOperations } from '../../api/rows.js'
import type { Id, IdKinds, ListQuery, RowSource } from '../../ports/index.js'
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
  published: PublishedRows<Row>,
  list: RowList<'candidate' | 'job', Filter, SortField>,
  ids: IdKinds
): ApiOperation[] {
  const { item, select, writeRows } = published
  const { kind, filters } = list
  const { page: readBoth } = source
  const parameters = Object.entries<RowFilter>(filters).map(([name, filter]) =>
    [parameterOf(name), name, filter] as const)
  const filteredFields = Object.fromEntries(parameters.map(([parameter, , { field }]) => [parameter, field]))

  function readFilter (query: object): Filter {
    const filter: Partial<Record<string, unknown>> = {}
    for (const [parameter, name, { test }] of parameters) {
      const given: unknown = Reflect.get(query, parameter)
      if (given === undefined) continue
      const parse = parsers[test]
      const value = parse === undefined ? given : parse(String(given))
      if (value !== undefined) filter[name] = value
    }
    return filter as Filter
  }

  return perform(rowOperations(list, item, ids), {
    async list ({ tenant: { id: tenant }, input }, request) {
      rejectHiddenFields(request, kind, published.fields, filteredFields)
      const { fields, textFields, onInexactNumber } = select(request)
      const complete = ({ filter, sort, offset, limit }: ListQuery<Filter, SortField>) =>
        ({ filter, sort, offset, limit, fields, textFields, onInexactNumber })
      const page = await readPage<Row, Filter, SortField>({
        list: (query) => source.list(tenant, complete(query)),
        count: (filter) => source.count(tenant, filter),
        page: readBoth && ((query) => readBoth(tenant, complete(query)))
      }, input, readFilter(input))
      const rows = writeRows(readBoth === undefined ? 'list' : 'page', page.data, request)
      let text = ''
      for (const row of rows) text += text === '' ? row : `,${row}`
      respondWith(request, `{"data":[${text}],"meta":${JSON.stringify(page.meta)}}`)
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
