import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Id, IdKinds, JobFilter, JobRow, JobSortField, JobSource } from '../../ports/index.js'
import { omitUndefined } from '../../shared/fields.js'
import { pagingQuery, readPage } from '../../shared/paging.js'
import { readTenant } from '../request.js'
import { parseSearch, parseUpdatedAfter } from '../input/query.js'
import type { PublishedRows } from '../responses/published-rows.js'
import { found, linkPages, storableId } from '../responses/rows.js'
import { createFieldLimit, refuseHiddenFields } from '../responses/visible-fields.js'
import { errorResponses } from '../schemas/errors.js'
import { answeredId, DataOf, PageOf, rowParams, Search, textIdExamples, UpdatedAfter } from '../schemas/parameters.js'
import { Type } from '../../shared/typebox.js'

const id = Type.Integer({ examples: [501] })

/** A job with an integer id, without the fields of the option `jobFields`. */
export const Job = Type.Object(
  {
    id,
    name: Type.String({ examples: ['Backend Engineer (Lyon)'] }),
    status: Type.String({
      description: '`published` if people can apply; other values are defined by the vendor',
      examples: ['published']
    })
  },
  { title: 'Job' }
)

/** Returns the schema of a job with ids of these kinds. */
export function jobOf ({ job }: IdKinds) {
  return Type.Object({ ...Job.properties, id: answeredId(job, id, textIdExamples.job) }, { title: 'Job' })
}

const jobSortFields: readonly JobSortField[] = ['id', 'name', 'status', 'created_at', 'updated_at']

const JobQuery = Type.Object({
  ...pagingQuery(jobSortFields, 'id'),
  'filter[status]': Type.Optional(Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'Only jobs with exactly this status',
    examples: ['published']
  })),
  'filter[q]': Type.Optional(Search),
  'filter[updated_after]': Type.Optional(UpdatedAfter)
}, { additionalProperties: false })

/** The fields that the filters read. */
const filteredFields = { 'filter[q]': 'name', 'filter[status]': 'status', 'filter[updated_after]': 'updated_at' }

/** Routes that list jobs and read one. */
export function jobRoutes (
  jobs: JobSource<Id>, { item, selected, assertRow }: PublishedRows<JobRow<Id>>, ids: IdKinds
): FastifyPluginAsyncTypebox {
  const Listed = (shown: typeof item) => PageOf(shown, 'A page of jobs')
  const Read = (shown: typeof item) => DataOf(shown, 'The job')
  const limitList = createFieldLimit('job', item, Listed)
  const limitOne = createFieldLimit('job', item, Read)
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
        response: { 200: Listed(item), ...errorResponses }
      }
    }, async (request, reply) => {
      const { id: tenant } = readTenant(request)
      const { query } = request
      refuseHiddenFields(request, 'job', selected.fields, filteredFields)
      const page = await readPage<JobRow<Id>, JobFilter, JobSortField>({
        list: (query) => jobs.list(tenant, { ...query, ...selected }),
        count: (filter) => jobs.count(tenant, filter)
      }, query, omitUndefined({
        status: query['filter[status]'],
        q: parseSearch(query['filter[q]']),
        updatedAfter: parseUpdatedAfter(query['filter[updated_after]'])
      }))
      for (const row of page.data) assertRow('list', row, request)
      limitList(request)
      return linkPages(request, reply, page)
    })

    app.get('/jobs/:id', {
      exposeHeadRoute: true,
      config: { ...config, resource: 'job' },
      schema: {
        operationId: 'getJob',
        tags: ['jobs'],
        summary: 'Get a job',
        description: 'Returns the same fields as the list.',
        params: rowParams('job', ids),
        response: { 200: Read(item), ...errorResponses }
      }
    }, async (request) => {
      const id = storableId(request.params.id)
      const row = found(await jobs.find(readTenant(request).id, id, selected))
      assertRow('find', row, request)
      limitOne(request)
      return { data: row }
    })
  }
}
