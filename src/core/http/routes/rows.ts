import type { TObject, TSchema } from '@sinclair/typebox'
import { listParameters, type RowList, rowOperations } from '../../api/rows.js'
import type { Id, IdKinds, ListQuery, OwnCondition, OwnFilter, RowSource } from '../../ports/index.js'
import { InputError } from '../../shared/errors.js'
import { parsePaging, readPage } from '../../shared/paging.js'
import { parseFilter } from '../input.js'
import { respondWith } from '../request.js'
import type { PublishedRows } from '../responses/published-rows.js'
import { type ApiOperation, perform } from './operations.js'

export function listRowOperations<Row extends { id: Id }, Filter extends { q?: string }, SortField extends string> (
  source: RowSource<Row, Filter, SortField>,
  published: PublishedRows<Row>,
  list: RowList<'candidate' | 'job', Filter, SortField>,
  ids: IdKinds,
  own: readonly OwnFilter[]
): ApiOperation[] {
  const { item, hiddenFrom, select, writeRows } = published
  const { page: readBoth } = source
  const operations = rowOperations(list, item, ids, own)
  const { properties } = operations.list.input as TSchema as TObject
  const parameters = listParameters(list, own).map((one) => ({ ...one, format: properties[one.parameter]?.format }))

  function readFilter (query: object): Filter {
    const filter: Partial<Record<string, unknown>> = {}
    const conditions: OwnCondition[] = []
    for (const { parameter, name, format, filter: { test, field } } of parameters) {
      const value = parseFilter(parameter, format, Reflect.get(query, parameter))
      if (value === undefined) continue
      if (name === null) conditions.push({ field, test, value } as OwnCondition)
      else filter[name] = value
    }
    if (conditions.length > 0) filter.own = conditions
    return filter as Filter
  }

  return perform(operations, {
    async list ({ tenant: { id: tenant }, input }, request) {
      const asked = parsePaging<Filter, SortField>(input, readFilter(input), own)
      const isHidden = hiddenFrom(request)
      if (isHidden !== null) {
        // The rows of the result, and their order, would reveal the field.
        const given = parameters.filter(({ parameter }) => Reflect.get(input, parameter) !== undefined)
        const hidden = [
          ...given.map(({ parameter, filter: { field } }) => ({ parameter, field })),
          ...asked.sort.map(({ field }) => ({ parameter: 'sort', field }))
        ].find(({ field }) => isHidden(field))
        if (hidden !== undefined) {
          throw new InputError(hidden.parameter, `the API key cannot read the field ${hidden.field}`, 'query')
        }
      }
      const { fields, textFields, onInexactNumber } = select(request)
      const complete = ({ filter, sort, offset, limit }: ListQuery<Filter, SortField>) =>
        ({ filter, sort, offset, limit, fields, textFields, onInexactNumber })
      const page = await readPage<Row, Filter, SortField>({
        list: (query) => source.list(tenant, complete(query)),
        count: (filter) => source.count(tenant, filter),
        page: readBoth && ((query) => readBoth(tenant, complete(query)))
      }, asked)
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
