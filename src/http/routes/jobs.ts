import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { TUnsafe } from '@sinclair/typebox'
import type { JobRow, JobSortField, JobSource } from '../../ports/index.js'
import { omitUndefined } from '../../shared/omit-undefined.js'
import { readTenantSlug } from '../auth.js'
import { parseSort, parseSearch, parseUpdatedAfter } from '../input/list-query.js'
import { readPage } from '../answers/page.js'
import { PageOf } from '../schemas/answers.js'
import { errorResponses } from '../schemas/errors.js'
import { JobQuery } from '../schemas/job.js'

/** The list of jobs; `item` is what of one is published. */
export function jobRoutes (jobs: JobSource, item: TUnsafe<JobRow>): FastifyPluginAsyncTypebox {
  const fields = Object.keys(item.properties)
  return async (app) => {
    app.get('/jobs', {
      exposeHeadRoute: true,
      config: { anyScope: ['jobs:read', 'jobs:write'] },
      schema: {
        operationId: 'listJobs',
        tags: ['jobs'],
        summary: 'List jobs',
        description: 'All filters must hold. Sorted by id unless `sort` says otherwise.',
        querystring: JobQuery,
        response: { 200: PageOf(item, 'A page of jobs'), ...errorResponses }
      }
    }, (request, reply) => {
      const tenantSlug = readTenantSlug(request)
      const { query } = request
      return readPage(request, reply, {
        list: ({ filter, sort, offset, limit }) => jobs.list(tenantSlug, { filter, sort, offset, limit, fields }),
        count: (filter) => jobs.count(tenantSlug, filter)
      }, {
        page: query.page,
        perPage: query.per_page,
        sort: parseSort<JobSortField>(query.sort),
        filter: omitUndefined({
          status: query['filter[status]'],
          q: parseSearch(query['filter[q]']),
          updatedAfter: parseUpdatedAfter(query['filter[updated_after]'])
        })
      })
    })
  }
}
