import type { FastifyInstance } from 'fastify'
import type { TraceSpan, Tracing } from '../tracing.js'
import { type KeyedRequest, kApiKey, readTenantSlug } from './auth.js'
import { readOperationId } from './operation-id.js'
import { readRequestId } from './request-id.js'

const kSpan = Symbol('span')

interface TracedRequest extends KeyedRequest {
  [kSpan]?: TraceSpan
}

/** A span for every request to the scope, active while its handler runs. To be called before any other hook of the scope. */
export function traceRequests (scope: FastifyInstance, tracing: Tracing): void {
  scope.decorateRequest(kSpan)
  scope.addHook('onRequest', async (request: TracedRequest) => {
    const { method, routeOptions: { url = '' }, headers } = request
    const attributes = { 'http.request.method': method, 'http.route': url }
    request[kSpan] = tracing.startRequest(readOperationId(request) ?? `${method} ${url}`.trim(), headers, attributes)
  })
  scope.addHook('onRoute', (route) => {
    const { handler } = route
    route.handler = function (request: TracedRequest, reply) {
      // The hook above has begun it.
      return tracing.within(request[kSpan] as TraceSpan, () => handler.call(this, request, reply))
    }
  })
  scope.addHook('onResponse', async (request: TracedRequest, { statusCode }) => {
    // The host may have answered before there was a span.
    if (request[kSpan] === undefined) return
    const tenant = request[kApiKey] === undefined ? {} : { 'recruiting.tenant': readTenantSlug(request) }
    tracing.endRequest(request[kSpan], statusCode, { 'recruiting.request_id': readRequestId(request), ...tenant })
  })
}
