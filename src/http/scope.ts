import fastJsonStringify from 'fast-json-stringify'
import type { FastifyContextConfig, FastifyInstance, FastifySerializerCompiler, RouteOptions, onRequestHookHandler } from 'fastify'
import { Type } from '@sinclair/typebox'
import type { KeyLookup } from '../ports/index.js'
import type { Tracing } from '../observe/tracing.js'
import { decorateAnswer, restoreAnswer } from './answers/answer.js'
import { keepCompiled } from '../shared/compiled.js'
import { answering } from './answers/answering.js'
import { type AuditListener, auditRequests } from './audit.js'
import { type KeyedRequest, authorize, decorateKey, kCaller, readCredentials, readTenantSlug } from './auth.js'
import { createCallerLookup } from './callers.js'
import { ownBodyParser } from './input/body.js'
import { HttpError } from './wire-errors.js'
import type { Limits } from './limits/limits.js'
import { readOperationId } from './operation-id.js'
import { type RequestIdSource, identifyRequests } from './request-id.js'
import { RateLimited } from './schemas/errors.js'
import { sendError } from './answers/send-error.js'
import type { SessionOpener } from './sessions.js'
import { decorateStage, setStage } from './stage.js'
import { createValidatorCompiler, toValidationError } from './input/validation.js'

export interface ScopeOptions {
  keyLookup: KeyLookup
  sessions: SessionOpener | null
  errorDetails: boolean
  requestId: RequestIdSource | null
  limits: Limits | null
  onAudit: AuditListener | null
  tracing: Tracing | null
}

const NoQuery = Type.Object({}, { additionalProperties: false })

/**
 * Sets the scope's own parser, validator, serializer, error handler and not-found handler, so that settings of the host,
 * made before or after, do not change the API.
 */
export function ownScope (scope: FastifyInstance, { keyLookup, sessions, errorDetails, requestId, limits, onAudit, tracing }: ScopeOptions): void {
  // Set on each route, because Fastify drops the compilers of a scope when the host adds a schema.
  const validatorCompiler = createValidatorCompiler({ errorDetails })

  const lookUp = createCallerLookup(keyLookup, sessions)
  const findCaller = limits === null ? lookUp : limits.guard(lookUp)

  ownBodyParser(scope)
  decorateStage(scope)
  decorateAnswer(scope)
  decorateKey(scope)
  const identify = identifyRequests(scope, requestId)
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
    const credentials = readCredentials(request)
    const caller = credentials === null ? null : await findCaller(credentials, request, reply)
    // The answer is the same for every reason, so that nobody can probe keys or tenants.
    if (caller === null) throw new HttpError('unauthorized')
    request[kCaller] = caller
    tracing?.describeRequest({ 'recruiting.tenant': readTenantSlug(request) })
    if (limits !== null) await limits.count(request, reply)
    if (request.is404) throw new HttpError('not_found')
  })
  scope.addHook('onRoute', (route) => {
    route.schema = { querystring: NoQuery, ...route.schema }
    if (limits !== null) route.schema.response = { ...route.schema.response as object, 429: RateLimited }
    route.handler = answering(route.handler)
    Object.assign(route, { validatorCompiler, serializerCompiler })
    route.onRequest = [admit(route), ...[route.onRequest ?? []].flat()]
  })
}

const compiled = keepCompiled<(value: unknown) => string>()

/** Compiles a serializer once per schema: all routes share the schemas of errors. */
const serializerCompiler: FastifySerializerCompiler<fastJsonStringify.Schema> = ({ schema }) => compiled(schema, () => fastJsonStringify(schema))

/** Checks the scopes and capabilities of a route, once the scope's hook has found the caller. */
function admit (route: RouteOptions): onRequestHookHandler {
  const declared = { config: route.config as FastifyContextConfig, method: route.method }
  return function (request: KeyedRequest, _reply, done) {
    authorize(request, declared)
    setStage(request, 'admitted')
    done()
  }
}
