import type {
  FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, onSendHookHandler,
  preValidationHookHandler, RouteOptions
} from 'fastify'
import type { Auditor } from '../observe/audit.js'
import type { Tracing } from '../observe/tracing.js'
import { Type } from '../shared/typebox.js'
import { auditHooks, createAuditRecorder } from './audit.js'
import { type AccessCheck, isAuthorized } from './auth.js'
import { describeCapabilities, inHostDocument } from './document/document.js'
import { operationIdOf } from './document/operation.js'
import { type Idempotency, repeatedHeaders, withIdempotencyKey } from './idempotency.js'
import { type Compilers, parseQuery, toValidationError } from './input.js'
import type { Limits } from './limits.js'
import { assignId, logOf, redactValues, type RequestIdSource } from './log.js'
import {
  commonHeaders, contentType, findState, isAtomic, type RequestState, type ServerState, startState, stateOf
} from './request.js'
import { Conflict, errorResponses, FailedOrUnknown, Full, RateLimited } from './schemas.js'
import type { DeclaredRoute } from './sessions.js'
import { HttpError, toHttpError } from './wire-errors.js'

/** The parts that all tenant routes share. */
export interface RouteContext extends ServerState {
  findAccess: AccessCheck
  isSuspended (tenantId: string): boolean
  requestId: RequestIdSource | null
  limits: Limits | null
  tracing: Tracing | null
  auditor: Auditor | null
  idempotency: Idempotency
  /** Whether the host's document contains the routes. */
  isInHostDocument: boolean
  /** Whether portal sessions are accepted. */
  hasSessions: boolean
  compilers: Compilers
  /** Whether these are host routes, whose plugin can change the input in its own hooks. */
  isOfHost: boolean
}

const NoQuery = Type.Object({}, { additionalProperties: false })

/**
 * Returns the complete options of a route. A request runs through them from top to bottom. Hooks that the host adds to
 * its server run before the hook with the same name here, even if they are added later.
 */
function defineRoute (context: RouteContext, route: RouteOptions): RouteOptions {
  const audit = context.auditor === null ? null : createAuditRecorder(route)
  const { idempotency } = context
  const config = completeConfig(context, route)
  const hooks = openingHooks(context, { config, method: route.method })
  return {
    ...route,
    ...context.compilers,
    config,
    schema: completeSchema(context, { ...route, config }),
    schemaErrorFormatter: toValidationError,
    ...context.isOfHost ? redactLogs(route) : {},
    onRequest: join(hooks.onRequest, route.onRequest),
    preValidation: join(context.isOfHost ? undefined : readInput, route.preValidation),

    async handler (request, reply) {
      const state = stateOf(request)
      if (!state.hasInput) throw new Error('a host hook threw undefined, so the input was not read')
      state.isHandling = true
      reply.headers(commonHeaders)
      try {
        audit?.before(request, state)
        const { payload, body } = await idempotency.answer(request, reply, {
          run: () => route.handler.call(this, request, reply),
          format: (payload) => serialize(reply, state, payload),
          isAtomic: isAtomic(config),
          isOfHost: context.isOfHost
        })
        audit?.after(request, state, payload)
        state.isHandling = false
        if (reply.sent) return reply
        // Keeps the status of a redirection.
        if (body === undefined) return (reply.statusCode < 300 ? reply.code(204) : reply).send()
        reply.header('content-type', contentType)
        return body
      } catch (thrown) {
        state.isHandling = false
        const error = toHttpError(thrown, isReading(route.method, config))
        if (!reply.sent) throw error
        logOf(request).error({ err: error.cause ?? error }, 'request failed after its response')
        return reply
      }
    },

    onSend: join(hooks.onSend, route.onSend, route.method === 'HEAD' ? omitUnknownLength : undefined),
    onResponse: join(hooks.onResponse, route.onResponse)
  }
}

/** Returns whether a route changes nothing. */
function isReading (method: RouteOptions['method'], { mcp }: FastifyContextConfig): boolean {
  return [method].flat().every((one) => one === 'GET' || one === 'HEAD') ||
    (typeof mcp === 'object' && mcp.readOnly === true)
}

/** Serializes a handler's result to text, because objects would pass the host's `preSerialization` hooks. */
function serialize (reply: FastifyReply, state: RequestState, payload: unknown): string | undefined {
  if (payload === undefined) return undefined
  const serializer = state.serialize ?? reply.getSerializationFunction(String(reply.statusCode))
  if (serializer === undefined) throw new Error(`the route declares no response for status ${reply.statusCode}`)
  return serializer(payload as Record<string, unknown>)
}

/** Returns the hooks that routes and unknown paths share. `declared` determines who can use a route. */
export function openingHooks (context: RouteContext, declared: DeclaredRoute) {
  const { limits, tracing, findAccess, isSuspended } = context

  return {
    /** Request id, key, limits, suspension, scopes. */
    async onRequest (request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const state = startRequest(context, request, reply)
      if (tracing !== null) {
        const { schema, url } = request.routeOptions
        tracing.describeRequest({
          'http.route': url, 'recruiting.operation': operationIdOf(schema), 'recruiting.request_id': state.id
        })
      }
      const access = await findAccess(request, reply)
      // The response is always the same, so that no one can probe keys or tenants.
      if (access === null) throw new HttpError('unauthorized')
      state.access = access
      tracing?.describeRequest({ 'recruiting.tenant': state.tenantSlug })
      if (limits !== null) await limits.count(request, reply)
      if (isSuspended(access.caller.tenantId)) throw new HttpError('suspended')
      if (request.is404) throw new HttpError('not_found')
      if (!isAuthorized(access, declared)) throw new HttpError('forbidden')
    },

    ...context.auditor === null ? {} : auditHooks(context.auditor)
  }
}

/** Returns the state of a request, with its id. The first call creates both. */
export function startRequest (context: RouteContext, request: FastifyRequest, reply: FastifyReply): RequestState {
  const state = startState(request, context)
  if (state.id === '') state.id = assignId(request, reply, context.requestId)
  return state
}

/** Reads query and body as the client sent them, ignoring changes by host hooks. Fastify validates them next. */
export const readInput: preValidationHookHandler = function (request, _reply, done) {
  const state = findState(request)
  if (state === null) return done()
  request.query = parseQuery(request.url)
  if (request.method !== 'GET' && request.method !== 'HEAD') request.body = state.body === undefined ? {} : state.body
  ;(request.params as { tenant_slug: string }).tenant_slug = state.tenantSlug
  state.hasInput = true
  done()
}

/** Fastify sets the length of the response that a HEAD route has written. */
const omitUnknownLength: onSendHookHandler = function (request, reply, payload, done) {
  if (findState(request)?.isShortened === true) reply.removeHeader('content-length')
  done(null, payload)
}

/** The host's plugin may create loggers. Fastify 6 does not declare the type of this option. */
function redactLogs (route: RouteOptions): object {
  return { logSerializers: redactValues((route as { logSerializers?: object }).logSerializers) }
}

/** Marks the route as part of the API. Changes the object, because HEAD routes share it. */
function completeConfig (context: RouteContext, { config = {} }: RouteOptions): FastifyContextConfig {
  return Object.assign(Object.isExtensible(config) ? config : { ...config }, {
    ...inHostDocument(context.isInHostDocument),
    ...context.isOfHost ? {} : { mcp: true },
    ...config,
    recruitingApi: true
  })
}

/** Adds what operations share: an empty query, `Idempotency-Key`, the 429 and the needed capabilities. */
function completeSchema ({ limits, hasSessions, idempotency }: RouteContext, route: RouteOptions): FastifySchema {
  const { response, ...schema } = { querystring: NoQuery, ...route.schema }
  const isIdempotent = idempotency.accepts(route.config ?? {})
  return {
    ...schema,
    ...isIdempotent ? { headers: withIdempotencyKey(schema.headers) } : {},
    ...hasSessions ? describeCapabilities(route) : {},
    ...response === undefined && limits === null
      ? {}
      : {
          response: {
            ...isIdempotent ? addRepeats(response as Record<string, object>) : response as object,
            ...limits === null ? {} : { 429: RateLimited }
          }
        }
  }
}

/** Adds the errors and the header that `Idempotency-Key` causes to the responses of a route. */
function addRepeats (responses: Record<string, { headers?: object }>): object {
  const all = { 409: Conflict, 429: Full, ...responses }
  const shown = Object.entries(all).map(([status, schema]) => {
    if (/^[23]/.test(status)) return [status, { ...schema, headers: { ...schema.headers, ...repeatedHeaders } }]
    return [status, schema === errorResponses[500] ? FailedOrUnknown : schema]
  })
  return Object.fromEntries(shown)
}

/** Returns these hooks of a kind, in order. */
function join<Hook> (...hooks: Array<Hook | Hook[] | undefined>): Hook[] {
  return hooks.flatMap((hook) => hook ?? [])
}

/** Makes every route of a scope part of the API. No other hook changes routes. */
export function defineRoutes (
  scope: FastifyInstance, context: RouteContext, { routes, complete = (route) => route }: {
    /** Receives the routes, without HEAD. */
    routes: RouteOptions[]
    complete?: (route: RouteOptions) => RouteOptions
  }
): void {
  scope.addHook('onRoute', (route) => {
    Object.assign(route, defineRoute(context, complete({ ...route })))
    if (route.method !== 'HEAD') routes.push(route)
  })
}
