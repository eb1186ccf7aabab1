import { randomUUID } from 'node:crypto'
import Fastify, { type FastifyInstance, type FastifyServerOptions, type RouteShorthandOptions } from 'fastify'
import type { KeyLookup } from 'fastify-recruiting-api'
import type { CandidatePages, CandidateQuery } from './plain-table.js'
import { candidateQuery, candidatePage } from './plain-schema.js'

/*
 * The baseline: this one endpoint, handwritten by a Fastify expert. For a caller with a valid key, it keeps all the
 * endpoint's promises by the most direct means. It may keep its rows in an array, read them without promises, and omit
 * the checks that make a plugin safe in another server. It looks up keys with the same function as the plugin's host.
 */

interface Route {
  Params: { tenant_slug: string }
  Querystring: CandidateQuery
}

export function createPlainApp (
  keyLookup: KeyLookup,
  tables: ReadonlyMap<string, CandidatePages>,
  options: FastifyServerOptions,
  idType: 'integer' | 'string' = 'integer'
): FastifyInstance {
  const app = Fastify({
    ...options,
    genReqId: () => `req_${randomUUID().replaceAll('-', '')}`,
    ajv: { customOptions: { coerceTypes: true, removeAdditional: false } }
  })
  app.setErrorHandler((error: { statusCode?: number }, request, reply) => {
    const status = error.statusCode ?? 500
    const { code, message } = errors[status] ?? errors[500]
    if (status === 401) reply.header('www-authenticate', 'Bearer')
    return reply.code(status).send({ error: { code, message, request_id: request.id } })
  })

  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ 'x-request-id': request.id, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    const token = bearer.exec(request.headers.authorization ?? '')?.[1]
    const { tenant_slug: tenantSlug } = request.params as Route['Params']
    const key = token === undefined ? null : await keyLookup({ tenantSlug, tenantId: tenantSlug, key: token })
    if (key === null) throw new StatusError(401)
    if (!key.scopes.includes('candidates:read') && !key.scopes.includes('candidates:write')) throw new StatusError(403)
  })

  const routeOptions: RouteShorthandOptions = {
    schema: { querystring: candidateQuery(idType), response: { 200: candidatePage(idType) } }
  }
  app.get<Route>('/api/v1/public/:tenant_slug/candidates', routeOptions, async (request, reply) => {
    const table = tables.get(request.params.tenant_slug)
    if (table === undefined) throw new StatusError(404)
    const { page, per_page: perPage } = request.query
    const finding = table.find(request.query)
    const found = finding instanceof Promise ? await finding : finding
    if (found === null) throw new StatusError(400)
    const { data, total } = found
    const totalPages = Math.ceil(total / perPage)
    reply.header('link', formatLinks(request.url, request.query, totalPages))
    return {
      data,
      meta: { page, per_page: perPage, total, total_pages: totalPages }
    }
  })
  return app
}

const bearer = /^bearer +([A-Za-z0-9\-._~+/]{1,512}=*)$/i

const errors: Record<number, { code: string, message: string }> & { 500: { code: string, message: string } } = {
  400: { code: 'bad_request', message: 'Validation failed for request payload' },
  401: { code: 'unauthorized', message: 'Missing or invalid API key' },
  403: { code: 'forbidden', message: 'API key does not have required scope' },
  404: { code: 'not_found', message: 'Resource was not found' },
  500: { code: 'internal_error', message: 'Unexpected server error' }
}

class StatusError extends Error {
  readonly statusCode: number

  constructor (statusCode: number) {
    super(`status ${statusCode}`)
    this.statusCode = statusCode
  }
}

function formatLinks (url: string, query: CandidateQuery, totalPages: number): string {
  const end = url.indexOf('?')
  const path = end === -1 ? url : url.slice(0, end)
  let others = ''
  for (const [name, value] of Object.entries(query)) {
    if (name !== 'page') others += `&${encodeURIComponent(name)}=${encodeURIComponent(value)}`
  }
  const { page } = query
  const last = Math.max(totalPages, 1)
  let links = `<${path}?page=1${others}>; rel="first"`
  if (page > 1) links += `, <${path}?page=${Math.min(page - 1, last)}${others}>; rel="prev"`
  if (page < last) links += `, <${path}?page=${page + 1}${others}>; rel="next"`
  return `${links}, <${path}?page=${last}${others}>; rel="last"`
}
