import type { FastifyContextConfig, FastifyInstance, RouteOptions, onRequestHookHandler } from 'fastify'
import type { KeyLookup } from '../ports/index.js'
import type { Tenants } from '../shared/tenants.js'
import type { Tracing } from '../observe/tracing.js'
import { answering, decorateAnswer, restoreAnswer } from './responses/response.js'
import { decorateVisibleFields } from './responses/visible-fields.js'
import type { AuditListener } from '../observe/audit.js'
import { auditRequests } from './audit.js'
import { type KeyedRequest, authorize, decorateKey, kCaller, readCredentials, readTenantSlug } from './auth.js'
import { type Calls, readEndpoint } from './calls.js'
import { compileRoutes } from './compilers.js'
import { createCallerLookup, openSession } from './callers.js'
import { isolateBodyParser } from './input/body.js'
import { HttpError } from './wire-errors.js'
import type { RequestCallerLookup } from './limits/failed-keys.js'
import type { Limits } from './limits/limits.js'
import { trustsEveryProxy } from './client-address.js'
import { readOperationId } from './document/operation.js'
import { type RequestIdSource, identifyRequests } from './request-id.js'
import { RateLimited } from './schemas/errors.js'
import { sendError } from './responses/failure.js'
import type { SessionOpener } from './sessions.js'
import { decorateStage, setStage } from './stage.js'
import { toValidationError } from './input/validation.js'
import { Type } from '../shared/type-builder.js'

export interface ScopeOptions {
  tenants: Tenants
  keyLookup: KeyLookup
  sessions: SessionOpener | null
  errorDetails: boolean
  requestId: RequestIdSource | null
  limits: Limits | null
  /** Calls of operations, by the server itself; `null` if there are none. */
  calls: Calls | null
  onAudit: AuditListener | null
  tracing: Tracing | null
}

const NoQuery = Type.Object({}, { additionalProperties: false })

/**
 * Sets the scope's own parser, validator, serializer, error handler and not-found handler, so that settings of the host,
 * made before or after, do not change the API.
 */
export function isolateScope (scope: FastifyInstance, options: ScopeOptions): void {
  const { errorDetails, requestId, limits, onAudit, tracing, calls } = options
  const findCaller = createCallerFinder(scope, options)

  compileRoutes(scope, errorDetails)
  isolateBodyParser(scope)
  decorateStage(scope)
  decorateAnswer(scope)
  decorateVisibleFields(scope)
  decorateKey(scope)
  const identify = identifyRequests(scope, requestId, calls)
  scope.setSchemaErrorFormatter(toValidationError)
  scope.setErrorHandler((error, request, reply) => sendError(error, request, reply, { id: identify(request, reply), errorDetails }))
  // Fastify accepts more route options here than its types declare.
  const notFoundOptions = { preHandler: [], config: { recruitingApi: true }, onSend: restoreAnswer }
  scope.setNotFoundHandler(notFoundOptions, () => { throw new HttpError('not_found') })
  if (onAudit !== null) auditRequests(scope, onAudit)

  scope.addHook('onRequest', async (request: KeyedRequest, reply) => {
    const id = identify(request, reply)
    tracing?.describeRequest({
      'http.route': request.routeOptions.url, 'recruiting.operation': readOperationId(request), 'recruiting.request_id': id
    })
    const endpoint = calls === null ? null : readEndpoint(request)
    const credentials = readCredentials(request, endpoint?.maxKeyLength)
    const caller = calls?.receive(request.raw) ?? (credentials && await findCaller(credentials, request, reply))
    // The response is the same for every reason, so that no one can probe keys or tenants.
    if (caller === null) throw new HttpError('unauthorized')
    request[kCaller] = caller
    tracing?.describeRequest({ 'recruiting.tenant': readTenantSlug(request) })
    if (limits !== null && endpoint?.countsItself !== true) await limits.count(request, reply)
    if (request.is404) throw new HttpError('not_found')
  })
  scope.addHook('onRoute', (route) => {
    route.schema = { querystring: NoQuery, ...route.schema }
    if (limits !== null) route.schema.response = { ...route.schema.response as object, 429: RateLimited }
    route.handler = answering(route.handler)
    route.onRequest = [admit(route), ...[route.onRequest ?? []].flat()]
  })
}

/** Returns a function that finds the caller of a request, by its key or its session. */
function createCallerFinder (scope: FastifyInstance, options: ScopeOptions): RequestCallerLookup {
  const lookUp = createCallerLookup({ ...options, isAddressForgeable: trustsEveryProxy(scope) })
  const findByKey = options.limits === null ? lookUp : options.limits.guard(lookUp)
  if (options.sessions === null) return findByKey
  // A session that opens needs no lookup, so the budget of invalid keys does not apply to it.
  return async (credentials, request, reply) => await openSession(options, credentials) ?? await findByKey(credentials, request, reply)
}

/** Checks the scopes and capabilities of a route, once the scope's hook has found the caller. */
function admit (route: RouteOptions): onRequestHookHandler {
  const declared = { config: route.config as FastifyContextConfig, method: route.method }
  return function (request: KeyedRequest, _reply, done) {
    authorize(request, declared)
    setStage(request, 'admitted')
    done()
  }
}
