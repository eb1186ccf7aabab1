import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type {
  CandidateFilter,
  CandidateRow,
  CandidateSortField,
  CandidateSource,
  Id,
  IdKinds
} from '../../ports/index.js'
import { omitUndefined } from '../../shared/fields.js'
import { pagingQuery, readPage } from '../../shared/paging.js'
import { Nullable } from '../../shared/schemas.js'
import { readTenant } from '../request.js'
import { parseSearch, parseUpdatedAfter } from '../input/query.js'
import type { PublishedRows } from '../responses/published-rows.js'
import { found, linkPages, storableId } from '../responses/rows.js'
import { createFieldLimit, refuseHiddenFields } from '../responses/visible-fields.js'
import { errorResponses } from '../schemas/errors.js'
import {
  answeredId,
  DataOf,
  PageOf,
  requestedId,
  rowParams,
  Search,
  textIdExamples,
  UpdatedAfter
} from '../schemas/parameters.js'
import { Type } from '../../shared/typebox.js'

const id = Type.Integer({ examples: [1042] })
const sourceId = Type.Integer({ description: 'The source they came from', examples: [3] })

/** A candidate with integer ids, without the fields of the option `candidateFields`. */
export const Candidate = Type.Object({
  id,
  full_name: Type.String({ examples: ['Ada Lovelace'] }),
  headline: Nullable(Type.String({ description: 'Their profession in one line', examples: ['Analyst, engines'] })),
  source_id: Nullable(sourceId)
}, { title: 'Candidate' })

/** Returns the schema of a candidate with ids of these kinds. */
export function candidateOf ({ candidate, source }: IdKinds) {
  return Type.Object({
    ...Candidate.properties,
    id: answeredId(candidate, id, textIdExamples.candidate),
    source_id: Nullable(answeredId(source, sourceId, textIdExamples.source))
  }, { title: 'Candidate' })
}

const candidateSortFields: readonly CandidateSortField[] = ['id', 'full_name', 'created_at', 'updated_at']

const recruiterId = Type.Integer({
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Only candidates of this recruiter',
  examples: [12]
})

/** Returns the query of the candidate list. */
function candidateQuery ({ recruiter }: IdKinds) {
  return Type.Object({
    ...pagingQuery(candidateSortFields, 'id'),
    'filter[recruiter_id]': Type.Optional(requestedId(recruiter, recruiterId, textIdExamples.recruiter)),
    'filter[q]': Type.Optional(Search),
    'filter[updated_after]': Type.Optional(UpdatedAfter)
  }, { additionalProperties: false })
}

/** The fields that the filters read. */
const filteredFields = {
  'filter[q]': 'full_name',
  'filter[recruiter_id]': 'recruiter_id',
  'filter[updated_after]': 'updated_at'
}

/** Routes that list candidates and read one. */
export function candidateRoutes (
  candidates: CandidateSource<Id, Id, Id>,
  { item, selected, assertRow }: PublishedRows<CandidateRow<Id, Id>>,
  ids: IdKinds
): FastifyPluginAsyncTypebox {
  const Listed = (shown: typeof item) => PageOf(shown, 'A page of candidates')
  const Read = (shown: typeof item) => DataOf(shown, 'The candidate')
  const limitList = createFieldLimit('candidate', item, Listed)
  const limitOne = createFieldLimit('candidate', item, Read)
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
        response: { 200: Listed(item), ...errorResponses }
      }
    }, async (request, reply) => {
      const { id: tenant } = readTenant(request)
      const { query } = request
      refuseHiddenFields(request, 'candidate', selected.fields, filteredFields)
      const page = await readPage<CandidateRow<Id, Id>, CandidateFilter<Id>, CandidateSortField>({
        list: (query) => candidates.list(tenant, { ...query, ...selected }),
        count: (filter) => candidates.count(tenant, filter)
      }, query, omitUndefined({
        recruiterId: query['filter[recruiter_id]'],
        q: parseSearch(query['filter[q]']),
        updatedAfter: parseUpdatedAfter(query['filter[updated_after]'])
      }))
      for (const row of page.data) assertRow('list', row, request)
      limitList(request)
      return linkPages(request, reply, page)
    })

    app.get('/candidates/:id', {
      exposeHeadRoute: true,
      config: { ...config, resource: 'candidate' },
      schema: {
        operationId: 'getCandidate',
        tags: ['candidates'],
        summary: 'Get a candidate',
        description: 'Returns the same fields as the list.',
        params: rowParams('candidate', ids),
        response: { 200: Read(item), ...errorResponses }
      }
    }, async (request) => {
      const id = storableId(request.params.id)
      const row = found(await candidates.find(readTenant(request).id, id, selected))
      assertRow('find', row, request)
      limitOne(request)
      return { data: row }
    })
  }
}
