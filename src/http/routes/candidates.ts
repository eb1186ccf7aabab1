import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { TUnsafe } from '@sinclair/typebox'
import type { CandidateFilter, CandidateRow, CandidateSortField, CandidateSource, Id, IdKinds } from '../../ports/index.js'
import { omitUndefined } from '../../shared/omit-undefined.js'
import { readPage } from '../../shared/paging.js'
import { readTenantSlug } from '../auth.js'
import { parseSearch, parseUpdatedAfter } from '../input/list-query.js'
import { linkPages } from '../answers/page.js'
import { found, storableId } from '../answers/resource.js'
import { assertCandidateIds } from '../answers/row-ids.js'
import { DataOf, PageOf } from '../schemas/answers.js'
import { candidateQuery } from '../schemas/candidate.js'
import { errorResponses } from '../schemas/errors.js'
import { rowParams } from '../schemas/parameters.js'

/** Routes that list candidates and read one. `item` is the schema of a published candidate. */
export function candidateRoutes (
  candidates: CandidateSource<Id, Id, Id>,
  item: TUnsafe<CandidateRow<Id, Id>>,
  ids: IdKinds
): FastifyPluginAsyncTypebox {
  const fields = Object.keys(item.properties)
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
        list: ({ filter, sort, offset, limit }) => candidates.list(tenantSlug, { filter, sort, offset, limit, fields }),
        count: (filter) => candidates.count(tenantSlug, filter)
      }, query, omitUndefined({
        recruiterId: query['filter[recruiter_id]'],
        q: parseSearch(query['filter[q]']),
        updatedAfter: parseUpdatedAfter(query['filter[updated_after]'])
      }))
      for (const row of page.data) assertCandidateIds('candidates.list', row, ids)
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
      assertCandidateIds('candidates.find', row, ids)
      return { data: row }
    })
  }
}
