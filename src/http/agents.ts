import type {
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  onSendHookHandler,
  RouteOptions
} from 'fastify'
import { isAuthorized } from './auth.js'
import { type Call, type CallAnswer, type Calls, endpointConfig } from './calls.js'
import { logOf } from './log.js'
import { readTenantSlug, sendAsIs, stateOf } from './request.js'
import type { Logger } from '../observe/logger.js'
import { HttpError } from './wire-errors.js'

/** A message to the server for agents. */
export interface AgentRequest {
  tenantSlug: string
  body: unknown
  headers: FastifyRequest['headers']
  /** Whether the caller sees only some of the published fields. */
  isLimited: boolean
  log: Logger
  /** Returns whether the caller may use a route. */
  mayUse (route: RouteOptions): boolean
  /** Calls an operation as the caller. */
  call (call: Call): Promise<CallAnswer>
}

/** A response of the server for agents, as JSON text. */
export interface AgentAnswer {
  status: number
  headers: Record<string, string>
  text: string
}

/** The server for agents, as the API mounts it. */
export interface AgentServer {
  /** Maximum length of a key. */
  maxKeyLength: number
  /**
   * Returns the function that responds to messages, for all routes of a tenant. Throws `invalid_option` for a route
   * that cannot be a tool.
   */
  prepare (routes: readonly RouteOptions[]): (request: AgentRequest) => Promise<AgentAnswer>
  /** Returns whether pages of an origin may send messages. */
  isAllowedOrigin (origin: string): boolean
  /** Returns the header `WWW-Authenticate` of a 401. */
  challenge (tenantSlug: string): string
}

/** The route that serves agents, for clients of the Model Context Protocol. Register it after all others. */
export function agentRoute (server: AgentServer, calls: Calls, routes: readonly RouteOptions[]): FastifyPluginAsync {
  return async (scope) => {
    const respond = server.prepare(routes)
    const { maxKeyLength } = server
    const schema: FastifySchema & { hide: true, operationId: string } = { hide: true, operationId: 'mcp' }
    const onSend: onSendHookHandler<unknown> = (request, reply, _payload, done) => {
      if (reply.statusCode === 401) reply.header('www-authenticate', server.challenge(readTenantSlug(request)))
      done()
    }

    scope.post('/mcp', {
      config: { ...endpointConfig({ maxKeyLength, countsItself: true }), capabilities: ['read'] },
      schema,
      onSend
    }, async (request, reply) => {
      const { origin } = request.headers
      // A page of another site could otherwise reach a server in its visitor's network (DNS rebinding).
      if (origin !== undefined && !server.isAllowedOrigin(origin)) throw new HttpError('forbidden')
      const { status, headers, text } = await serve(request, reply, calls, respond)
      reply.code(status).headers(headers)
      sendAsIs(request)
      return text
    })

    scope.route({
      method: ['GET', 'DELETE'],
      url: '/mcp',
      exposeHeadRoute: false,
      config: { ...endpointConfig({ maxKeyLength, countsItself: false }), capabilities: ['read'] },
      schema,
      onSend,
      handler: async (request, reply) => {
        reply.code(405).header('allow', 'POST')
        sendAsIs(request)
        return methodNotAllowed
      }
    })
  }
}

/** Clients of the protocol expect a 405 for streams that a server does not have. */
const methodNotAllowed = JSON.stringify({
  jsonrpc: '2.0',
  error: { code: -32000, message: 'Method not allowed.' },
  id: null
})

/** Headers of the called operation that its client needs. */
const callHeaders = ['x-request-id', 'retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']

/** Counts each message once: as the operation that it calls, or as itself. */
async function serve (
  request: FastifyRequest,
  reply: FastifyReply,
  calls: Calls,
  respond: (request: AgentRequest) => Promise<AgentAnswer>
): Promise<AgentAnswer> {
  const { access } = stateOf(request)
  const { method } = (request.body ?? {}) as { method?: unknown }
  let isCounted = method !== 'tools/call' && !String(method).startsWith('resources/')
  if (isCounted) await calls.count(request, reply)
  const answer = await respond({
    tenantSlug: readTenantSlug(request),
    body: request.body,
    headers: request.headers,
    isLimited: access.caller.fields !== null,
    log: logOf(request),
    mayUse: (route) => isAuthorized(access, route),
    async call (call) {
      const answer = await calls.send(request, call)
      isCounted ||= answer.isCounted
      for (const name of callHeaders) {
        const value = answer.headers[name]
        if (value !== undefined) reply.header(name, value)
      }
      return answer
    }
  })
  if (!isCounted) await calls.count(request, reply)
  return answer
}
