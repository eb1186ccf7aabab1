import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { TUnsafe } from '@sinclair/typebox'
import type { Id, IdKinds, JobFilter, JobRow, JobSortField, JobSource } from '../../ports/index.js'
import { omitUndefined } from '../../shared/omit-undefined.js'
import { readPage } from '../../shared/paging.js'
import { readTenantSlug } from '../auth.js'
import { parseSearch, parseUpdatedAfter } from '../input/list-query.js'
import { linkPages } from '../answers/page.js'
import { found, storableId } from '../answers/resource.js'
import { assertJobIds } from '../answers/row-ids.js'
import { DataOf, PageOf } from '../schemas/answers.js'
import { errorResponses } from '../schemas/errors.js'
import { JobQuery } from '../schemas/job.js'
import { rowParams } from '../schemas/parameters.js'

/** Routes that list jobs and read one. `item` is the schema of a published job. */
export function jobRoutes (jobs: JobSource<Id>, item: TUnsafe<JobRow<Id>>, ids: IdKinds): FastifyPluginAsyncTypebox {
  const fields = Object.keys(item.properties)
  return async (app) => {
    const config = { anyScope: ['jobs:read', 'jobs:write'] }
    app.get('/jobs', {
      exposeHeadRoute: true,
      config,
      schema: {
        operationId: 'listJobs',
        tags: ['jobs'],
        summary: 'List jobs',
        description: 'Returns the jobs that pass all filters, sorted by id unless `sort` is given.',
        querystring: JobQuery,
        response: { 200: PageOf(item, 'A page of jobs'), ...errorResponses }
      }
    }, async (request, reply) => {
      const tenantSlug = readTenantSlug(request)
      const { query } = request
      const page = await readPage<JobRow<Id>, JobFilter, JobSortField>({
        list: ({ filter, sort, offset, limit }) => jobs.list(tenantSlug, { filter, sort, offset, limit, fields }),
        count: (filter) => jobs.count(tenantSlug, filter)
      }, query, omitUndefined({
        status: query['filter[status]'],
        q: parseSearch(query['filter[q]']),
        updatedAfter: parseUpdatedAfter(query['filter[updated_after]'])
      }))
      for (const row of page.data) assertJobIds('jobs.list', row, ids)
      return linkPages(request, reply, page)
    })

    app.get('/jobs/:id', {
      exposeHeadRoute: true,
      config,
      schema: {
        operationId: 'getJob',
        tags: ['jobs'],
        summary: 'Get a job',
        description: 'Returns the same fields as the list.',
        params: rowParams('job', ids),
        response: { 200: DataOf(item, 'The job'), ...errorResponses }
      }
    }, async (request) => {
      const id = storableId(request.params.id)
      const row = found(await jobs.find(readTenantSlug(request), id, { fields }))
      assertJobIds('jobs.find', row, ids)
      return { data: row }
    })
  }
}
