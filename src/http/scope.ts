import fastJsonStringify from 'fast-json-stringify'
import type { FastifyContextConfig, FastifyInstance, FastifySerializerCompiler, onRequestHookHandler } from 'fastify'
import { Type } from '@sinclair/typebox'
import type { ApiKey, AsyncKeyLookup, KeyLookup } from '../ports/index.js'
import type { Tracing } from '../observe/tracing.js'
import { decorateAnswer, restoreAnswer } from './answers/answer.js'
import { answering } from './answers/answering.js'
import { type AuditListener, auditRequests } from './audit.js'
import { type KeyedRequest, authorize, decorateKey, kApiKey, readCredentials, readKey, readTenantSlug } from './auth.js'
import { ownBodyParser } from './input/body.js'
import { HttpError, toInternalError } from './errors.js'
import type { Limits } from './limits/limits.js'
import { readOperationId } from './operation-id.js'
import { type RequestIdSource, identifyRequests } from './request-id.js'
import { RateLimited } from './schemas/errors.js'
import { sendError } from './answers/send-error.js'
import { decorateStage, setStage } from './stage.js'
import { createValidatorCompiler, toValidationError } from './input/validation.js'

/** What the scope needs to let a request in and to answer it. */
export interface ScopeOptions {
  keyLookup: KeyLookup
  errorDetails: boolean
  requestId: RequestIdSource | null
  limits: Limits | null
  onAudit: AuditListener | null
  tracing: Tracing | null
}

const NoQuery = Type.Object({}, { additionalProperties: false })

/**
 * Makes everything that decides an answer the scope's own, so that nothing the host sets on its instance, before or
 * after, changes the contract: parser, query, validator, serializer, error handler and not-found handler.
 */
export function ownScope (scope: FastifyInstance, { keyLookup, errorDetails, requestId, limits, onAudit, tracing }: ScopeOptions): void {
  // Each route is given them: a compiler that is set on the scope gives way once the host adds a schema of its own.
  const validatorCompiler = createValidatorCompiler({ errorDetails })
  const serializerCompiler = createSerializerCompiler()

  const lookUp = isolateLookup(keyLookup)
  const findKey = limits === null ? lookUp : limits.guard(lookUp)

  ownBodyParser(scope)
  decorateStage(scope)
  decorateAnswer(scope)
  decorateKey(scope)
  const identify = identifyRequests(scope, requestId)
  scope.setSchemaErrorFormatter(toValidationError)
  scope.setErrorHandler((error, request, reply) => sendError(error, request, reply, { id: identify(request, reply), errorDetails }))
  // Fastify takes more of a route's options here than its types say.
  const notFoundOptions = { preHandler: [], config: { recruitingApi: true }, onSend: restoreAnswer }
  scope.setNotFoundHandler(notFoundOptions, () => { throw new HttpError('not_found') })
  if (onAudit !== null) auditRequests(scope, onAudit)

  scope.addHook('onRequest', async (request: KeyedRequest, reply) => {
    const id = identify(request, reply)
    tracing?.describeRequest({
      'http.route': request.routeOptions.url, 'recruiting.operation': readOperationId(request), 'recruiting.request_id': id
    })
    const credentials = readCredentials(request)
    const key = credentials === null ? null : await findKey(credentials, request, reply)
    // Every reason for there being no key gives the same answer.
    if (key === null) throw new HttpError('unauthorized')
    request[kApiKey] = key
    tracing?.describeRequest({ 'recruiting.tenant': readTenantSlug(request) })
    if (limits !== null) await limits.count(request, reply)
    if (request.is404) throw new HttpError('not_found')
  })
  scope.addHook('onRoute', (route) => {
    route.schema = { querystring: NoQuery, ...route.schema }
    if (limits !== null) route.schema.response = { ...route.schema.response as object, 429: RateLimited }
    route.handler = answering(route.handler)
    Object.assign(route, { validatorCompiler, serializerCompiler })
    route.onRequest = [admit(route.config as FastifyContextConfig), ...[route.onRequest ?? []].flat()]
  })
}

/** Compiles a serializer once per schema: all routes share the schemas of errors. */
function createSerializerCompiler (): FastifySerializerCompiler<unknown> {
  const serializers = new Map<unknown, (value: unknown) => string>()
  return ({ schema }) => {
    const serialize = serializers.get(schema) ?? fastJsonStringify(schema as fastJsonStringify.Schema)
    serializers.set(schema, serialize)
    return serialize
  }
}

/** What a key lookup of the host throws is a 500 whatever it is, and what it returns is read here alone. */
function isolateLookup (keyLookup: KeyLookup): AsyncKeyLookup {
  return async (credentials) => {
    try {
      return readKey(await keyLookup(credentials))
    } catch (thrown) {
      throw toInternalError(thrown)
    }
  }
}

/** What the route itself asks of a caller whose key is valid. */
function admit (config: FastifyContextConfig): onRequestHookHandler {
  return function (request: KeyedRequest, _reply, done) {
    // The hook of the scope has found it.
    authorize(request[kApiKey] as ApiKey, config)
    setStage(request, 'admitted')
    done()
  }
}
