import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { TUnsafe } from '@sinclair/typebox'
import type { CandidateFilter, CandidateRow, CandidateSortField, CandidateSource, Id, IdKinds } from '../../ports/index.js'
import { omitUndefined } from '../../shared/omit-undefined.js'
import { readPage } from '../../shared/paging.js'
import { readTenantSlug } from '../auth.js'
import { parseSearch, parseUpdatedAfter } from '../input/list-query.js'
import { linkPages } from '../answers/page.js'
import { found, storableId } from '../answers/resource.js'
import { type IdField, assertIds } from '../answers/row-ids.js'
import { DataOf, PageOf } from '../schemas/answers.js'
import { candidateQuery } from '../schemas/candidate.js'
import { errorResponses } from '../schemas/errors.js'
import { rowParams } from '../schemas/parameters.js'

/** Returns the fields of a candidate that hold ids. */
export function candidateIdFields (ids: IdKinds): IdField[] {
  return [
    { field: 'id', option: 'ids.candidate', kind: ids.candidate, isNullable: false },
    { field: 'source_id', option: 'ids.source', kind: ids.source, isNullable: true }
  ]
}

/** Routes that list candidates and read one. `item` is the schema of a published candidate. */
export function candidateRoutes (
  candidates: CandidateSource<Id, Id, Id>,
  item: TUnsafe<CandidateRow<Id, Id>>,
  ids: IdKinds
): FastifyPluginAsyncTypebox {
  const fields = Object.keys(item.properties)
  const idFields = candidateIdFields(ids)
  return async (app) => {
    const config = { anyScope: ['candidates:read', 'candidates:write'] }
    app.get('/candidates', {
      exposeHeadRoute: true,
      config,
      schema: {
        operationId: 'listCandidates',
        tags: ['candidates'],
        summary: 'List candidates',
        description: 'Returns the candidates that pass all filters, sorted by id unless `sort` is given.',
        querystring: candidateQuery(ids),
        response: { 200: PageOf(item, 'A page of candidates'), ...errorResponses }
      }
    }, async (request, reply) => {
      const tenantSlug = readTenantSlug(request)
      const { query } = request
      const page = await readPage<CandidateRow<Id, Id>, CandidateFilter<Id>, CandidateSortField>({
        async list ({ filter, sort, offset, limit }) {
          const rows = await candidates.list(tenantSlug, { filter, sort, offset, limit, fields })
          for (const row of rows) assertIds('candidates.list', row, idFields)
          return rows
        },
        count: (filter) => candidates.count(tenantSlug, filter)
      }, query, omitUndefined({
        recruiterId: query['filter[recruiter_id]'],
        q: parseSearch(query['filter[q]']),
        updatedAfter: parseUpdatedAfter(query['filter[updated_after]'])
      }))
      return linkPages(request, reply, page)
    })

    app.get('/candidates/:id', {
      exposeHeadRoute: true,
      config,
      schema: {
        operationId: 'getCandidate',
        tags: ['candidates'],
        summary: 'Get a candidate',
        description: 'Returns the same fields as the list.',
        params: rowParams('candidate', ids),
        response: { 200: DataOf(item, 'The candidate'), ...errorResponses }
      }
    }, async (request) => {
      const id = storableId(request.params.id)
      const row = found(await candidates.find(readTenantSlug(request), id, { fields }))
      assertIds('candidates.find', row, idFields)
      return { data: row }
    })
  }
}
