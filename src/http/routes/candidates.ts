import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { TUnsafe } from '@sinclair/typebox'
import type { CandidateRow, CandidateSortField, CandidateSource } from '../../ports/index.js'
import { omitUndefined } from '../../shared/omit-undefined.js'
import { readTenantSlug } from '../auth.js'
import { parseSort, parseSearch, parseUpdatedAfter } from '../input/list-query.js'
import { readPage } from '../answers/page.js'
import { PageOf } from '../schemas/answers.js'
import { CandidateQuery } from '../schemas/candidate.js'
import { errorResponses } from '../schemas/errors.js'

/** The list of candidates; `item` is what of one is published. */
export function candidateRoutes (candidates: CandidateSource, item: TUnsafe<CandidateRow>): FastifyPluginAsyncTypebox {
  const fields = Object.keys(item.properties)
  return async (app) => {
    app.get('/candidates', {
      exposeHeadRoute: true,
      config: { anyScope: ['candidates:read', 'candidates:write'] },
      schema: {
        operationId: 'listCandidates',
        tags: ['candidates'],
        summary: 'List candidates',
        description: 'All filters must hold. Sorted by id unless `sort` says otherwise.',
        querystring: CandidateQuery,
        response: { 200: PageOf(item, 'A page of candidates'), ...errorResponses }
      }
    }, (request, reply) => {
      const tenantSlug = readTenantSlug(request)
      const { query } = request
      return readPage(request, reply, {
        list: ({ filter, sort, offset, limit }) => candidates.list(tenantSlug, { filter, sort, offset, limit, fields }),
        count: (filter) => candidates.count(tenantSlug, filter)
      }, {
        page: query.page,
        perPage: query.per_page,
        sort: parseSort<CandidateSortField>(query.sort),
        filter: omitUndefined({
          recruiterId: query['filter[recruiter_id]'],
          q: parseSearch(query['filter[q]']),
          updatedAfter: parseUpdatedAfter(query['filter[updated_after]'])
        })
      })
    })
  }
}
