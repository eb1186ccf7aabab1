import fastJsonStringify from 'fast-json-stringify'
import type {
  FastifyContextConfig, FastifyInstance, FastifyReply, FastifySerializerCompiler, RouteHandlerMethod,
  onRequestHookHandler, preValidationHookHandler
} from 'fastify'
import { Type } from '@sinclair/typebox'
import type { KeyLookup } from '../ports/index.js'
import { type AuditListener, auditRequests } from './audit.js'
import { type Credentials, type KeyedRequest, authorize, kApiKey, readCredentials } from './auth.js'
import { ownBodyParser } from './body.js'
import { HttpError, toHttpError, wireErrors } from './errors.js'
import type { Limits } from './limits.js'
import { parseQuery } from './query.js'
import { type RequestIdSource, identifyRequests } from './request-id.js'
import { RateLimited } from './schemas/errors.js'
import { createValidatorCompiler, toValidationError } from './validation.js'

/** What the scope needs to let a request in and to answer it. */
export interface ScopeOptions {
  keyLookup: KeyLookup
  errorDetails: boolean
  requestId: RequestIdSource | null
  limits: Limits | null
  onAudit: AuditListener | null
}

const contentType = 'application/json; charset=utf-8'

/** Whether the caller has been let in and its body is not yet read. */
const kIsReadingBody = Symbol('is reading body')

interface TenantRequest extends KeyedRequest {
  [kIsReadingBody]?: boolean
}

const NoQuery = Type.Object({}, { additionalProperties: false })

/**
 * Makes everything that decides an answer the scope's own, so that nothing the host sets on its instance, before or
 * after, changes the contract: parser, query, validator, serializer, error handler and not-found handler.
 */
export function ownScope (scope: FastifyInstance, { keyLookup, errorDetails, requestId, limits, onAudit }: ScopeOptions): void {
  // Each route is given them: a compiler that is set on the scope gives way once the host adds a schema of its own.
  const validatorCompiler = createValidatorCompiler()
  const serializerCompiler: FastifySerializerCompiler<unknown> = ({ schema }) => fastJsonStringify(schema as fastJsonStringify.Schema)

  const findKey = limits === null ? (credentials: Credentials) => keyLookup(credentials) : limits.guard(keyLookup)

  ownBodyParser(scope)
  const identify = identifyRequests(scope, requestId)
  scope.setSchemaErrorFormatter(toValidationError)
  scope.setErrorHandler((error, request, reply) => {
    return sendError(error, request, reply, { id: identify(request, reply), errorDetails })
  })
  scope.setNotFoundHandler(() => { throw new HttpError('not_found') })
  scope.decorateRequest(kIsReadingBody, false)
  scope.decorateRequest(kApiKey)
  if (onAudit !== null) auditRequests(scope, onAudit)
  scope.addHook('onRequest', async (request: TenantRequest, reply) => {
    identify(request, reply)
    const credentials = readCredentials(request)
    const key = credentials === null ? null : await findKey(credentials, request, reply)
    // A lookup written in JavaScript may say undefined. Every reason for there being no key gives the same answer.
    if (key === null || key === undefined) throw new HttpError('unauthorized')
    request[kApiKey] = key
    if (limits !== null) await limits.count(request, reply)
    if (request.is404) throw new HttpError('not_found')
  })
  scope.addHook('onRoute', (route) => {
    route.schema = { querystring: NoQuery, ...route.schema }
    if (limits !== null) route.schema.response = { ...route.schema.response as object, 429: RateLimited }
    route.handler = serializing(route.handler)
    Object.assign(route, { validatorCompiler, serializerCompiler })
    const readsBody = route.method !== 'GET' && route.method !== 'HEAD'
    route.onRequest = [admit(route.config as FastifyContextConfig, readsBody), ...[route.onRequest ?? []].flat()]
    if (readsBody) route.preValidation = [fillBody, ...[route.preValidation ?? []].flat()]
  })
}

/** What the route itself asks of a caller whose key is valid. */
function admit (config: FastifyContextConfig, readsBody: boolean): onRequestHookHandler {
  return function (request: TenantRequest, _reply, done) {
    authorize(request[kApiKey], config)
    request.query = parseQuery(request.url)
    request[kIsReadingBody] = readsBody
    done()
  }
}

/** No body is one without fields: the operations that need some say so. */
const fillBody: preValidationHookHandler = function (request: TenantRequest, _reply, done) {
  request[kIsReadingBody] = false
  if (request.body === undefined) request.body = {}
  done()
}

/** Sends text, for an object would pass through the preSerialization hooks of the host. */
function serializing (handler: RouteHandlerMethod): RouteHandlerMethod {
  return async function (request, reply) {
    setHeaders(reply)
    const payload: unknown = await handler.call(this, request, reply)
    // A handler of the host's may have answered by itself.
    if (reply.sent) return reply
    if (payload === undefined) return reply.code(204).send()
    const serialize = reply.getSerializationFunction(String(reply.statusCode))
    if (serialize === undefined) throw new Error(`the route declares no response for status ${reply.statusCode}`)
    reply.header('content-type', contentType)
    return serialize(payload as Record<string, unknown>)
  }
}

function setHeaders (reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff')
}

function sendError (
  error: unknown,
  request: TenantRequest,
  reply: FastifyReply,
  { id, errorDetails }: { id: string, errorDetails: boolean }
): FastifyReply {
  const { code, details } = toHttpError(error, request[kIsReadingBody] === true)
  const { status, message } = wireErrors[code]
  if (status === 500) request.log.error({ err: error }, 'request failed')
  if (status === 400) request.log.info({ details }, 'request refused')
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  const body = { code, message, request_id: id, ...(errorDetails && status === 400 ? { details } : {}) }
  return setHeaders(reply)
    .removeHeader('link')
    .removeHeader('location')
    .code(status)
    .header('content-type', contentType)
    .send(JSON.stringify({ error: body }))
}
