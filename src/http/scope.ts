import fastJsonStringify from 'fast-json-stringify'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { Type } from '@sinclair/typebox'
import type { KeyLookup } from '../ports/index.js'
import { authenticate, authorize } from './auth.js'
import { ownBodyParser } from './body.js'
import { HttpError, toHttpError, wireErrors } from './errors.js'
import { parseQuery } from './query.js'
import { type RequestIdSource, identify, kRequestId } from './request-id.js'
import { createValidatorCompiler, toValidationError } from './validation.js'

export interface ScopeOptions {
  keyLookup: KeyLookup
  errorDetails: boolean
  requestId: RequestIdSource
}

const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
const contentType = 'application/json; charset=utf-8'

/** Whether the caller has been let in and its body is not yet read. */
const kIsReadingBody = Symbol('is reading body')

interface ReadingRequest extends FastifyRequest {
  [kIsReadingBody]?: boolean
}

const NoQuery = Type.Object({}, { additionalProperties: false })

/**
 * Makes everything that decides an answer the scope's own, so that nothing the host sets on its instance, before or
 * after, changes the contract: parser, query, validator, serializer, error handler and not-found handler.
 */
export function ownScope (scope: FastifyInstance, { keyLookup, errorDetails, requestId }: ScopeOptions): void {
  ownBodyParser(scope)
  scope.setValidatorCompiler(createValidatorCompiler())
  scope.setSerializerCompiler(({ schema }) => fastJsonStringify(schema as fastJsonStringify.Schema))
  scope.setSchemaErrorFormatter(toValidationError)
  scope.setErrorHandler((error, request, reply) => {
    const id = identify(request, reply, requestId)
    return sendError(error, request, reply, { id, errorDetails })
  })
  scope.setNotFoundHandler(() => { throw new HttpError('not_found') })
  scope.decorateRequest(kRequestId, '')
  scope.decorateRequest(kIsReadingBody, false)
  scope.addHook('onRoute', (route) => {
    route.schema = { querystring: NoQuery, ...route.schema }
    route.handler = serializing(route.handler)
  })
  scope.addHook('onRequest', async (request: ReadingRequest, reply) => {
    identify(request, reply, requestId)
    const key = await authenticate(request, keyLookup)
    if (request.is404) throw new HttpError('not_found')
    authorize(request, key)
    request[kIsReadingBody] = true
  })
  scope.addHook('preValidation', (request: ReadingRequest, _reply, done) => {
    request[kIsReadingBody] = false
    request.query = parseQuery(request.raw.url ?? '')
    // No body is one without fields: the operations that need some say so.
    if (request.body === undefined) request.body = {}
    done()
  })
}

/** Sends text, for an object would pass through the preSerialization hooks of the host. */
function serializing (handler: RouteHandlerMethod): RouteHandlerMethod {
  return async function (request, reply) {
    const payload: unknown = await handler.call(this, request, reply)
    reply.headers(headers)
    if (payload === undefined) return reply.code(204).send()
    const serialize = reply.getSerializationFunction(String(reply.statusCode))
    if (serialize === undefined) throw new Error(`the route declares no response for status ${reply.statusCode}`)
    reply.header('content-type', contentType)
    return serialize(payload as Record<string, unknown>)
  }
}

function sendError (
  error: unknown,
  request: ReadingRequest,
  reply: FastifyReply,
  { id, errorDetails }: { id: string, errorDetails: boolean }
): FastifyReply {
  const { code, details } = toHttpError(error, request[kIsReadingBody] === true)
  const { status, message } = wireErrors[code]
  if (status === 500) request.log.error({ err: error }, 'request failed')
  if (status === 400) request.log.info({ details }, 'request refused')
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  const body = { code, message, request_id: id, ...(errorDetails && status === 400 ? { details } : {}) }
  return reply
    .removeHeader('link')
    .removeHeader('location')
    .code(status)
    .headers(headers)
    .header('content-type', contentType)
    .send(JSON.stringify({ error: body }))
}
