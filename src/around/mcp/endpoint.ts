import { createRequire } from 'node:module'
import type { FastifyContextConfig, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import type { ApiExtension } from '../../core/http/api.js'
import { isAuthorized, maxKeyLength } from '../../core/http/auth.js'
import { logOf } from '../../core/http/log.js'
import { commonHeaders, contentType, readTenant, readTenantSlug, sendAsIs, stateOf } from '../../core/http/request.js'
import { HttpError, readHttpError } from '../../core/http/wire-errors.js'
import { readField } from '../../core/shared/fields.js'
import { rejectOption } from '../../core/shared/read-options.js'
import { hidden, operationIdOf, readScopes } from '../../core/http/document/operation.js'
import type { EventSchemas } from '../../core/api/catalogue.js'
import { webhookScopes } from '../../core/api/scopes.js'
import type { Subscriber } from '../../core/api/subscriptions.js'
import { EventsFault } from '../../core/shared/events-wire.js'
import { isPlainText } from '../../core/shared/text.js'
import { describeEvents, type Subscribing } from './events.js'
import type { McpSettings } from './options.js'
import { Calls } from './calls.js'
import {
  challenge, describeResource, metadataRoute, type OpenRoutes, type Place, type ProtectedResource
} from './metadata.js'
import { createServer, type Message, type Passed, type ServerParts } from './server.js'
import { listTools, type Tool } from './tools.js'

export type Mcp = ReturnType<typeof buildMcp>

/**
 * Builds the MCP server's parts for the plugin, with the vendor's texts from the document, if there is one. Throws
 * `invalid_option` if the SDK is not installed.
 */
export function buildMcp (
  settings: McpSettings, place: Place, document: { info: object } | null, catalogue: Catalogue
) {
  const resource = describeResource(settings, place)
  assertSdk()
  const scopes = new Set<string>()
  const extension = createExtension(settings, {
    name: 'recruiting-api',
    title: String(readField(document?.info, 'title') ?? 'Recruiting API'),
    version: String(readField(document?.info, 'version') ?? 'v1')
  }, resource, scopes, catalogue)
  return {
    extension,
    /** Serves the OAuth metadata, if there are authorization servers. Register it outside the prefix. */
    metadata: (open: OpenRoutes) => metadataRoute(resource, place, scopes, open)
  }
}

export function assertSdk (resolve: (name: string) => string = createRequire(import.meta.url).resolve): void {
  try {
    resolve('@modelcontextprotocol/server')
  } catch (error) {
    rejectOption(
      'mcp', 'the package @modelcontextprotocol/server to be installed: npm install @modelcontextprotocol/server',
      error instanceof Error ? error.message : String(error)
    )
  }
}

/** Access tokens are longer than keys. Node limits all headers together to 16 KiB. */
const maxTokenLength = 8192

const schema = { ...hidden, operationId: 'mcp' }
const config: FastifyContextConfig = { capabilities: ['read'], mcp: false }

/** Returns the stateless server for agents: each message gets its own server. */
function createExtension (
  { secrets, origins, events: hasEvents }: McpSettings,
  info: ServerParts['info'],
  resource: ProtectedResource | null,
  /** Filled with the scopes of the tools. */
  scopes: Set<string>,
  { events: schemas, subscriptions }: Catalogue
): ApiExtension {
  const calls = new Calls()
  const onSend: onSendHookHandler<unknown> = (request, reply, _payload, done) => {
    if (reply.statusCode === 401) reply.header('www-authenticate', challenge(resource, request))
    done()
  }

  return {
    maxKeyLength: resource === null ? maxKeyLength : maxTokenLength,
    admit: (context) => calls.admit(context),

    register (scope, routes) {
      const all = listTools(routes)
      const tools = secrets ? all : all.filter(({ isSecret }) => !isSecret)
      for (const scope of tools.flatMap(({ route }) => readScopes(route))) scopes.add(scope)
      const listEvents = tools.find(({ route }) => operationIdOf(route.schema) === 'listEvents')
      if (hasEvents && listEvents === undefined) rejectOption('mcp.events', 'a storage with feed', hasEvents)
      const events = hasEvents && listEvents !== undefined
        ? { types: describeEvents(schemas, subscriptions === null ? ['poll'] : ['poll', 'webhook']), tool: listEvents }
        : null
      const withheld = all.filter((tool) => !tools.includes(tool)).map(({ name }) => name)

      async function serve (request: FastifyRequest, reply: FastifyReply): Promise<Answer> {
        const { access } = stateOf(request)
        // Loaded with the first message, because it makes every later request of the process slower.
        const sdk = await import('@modelcontextprotocol/server')
        return respond({ sdk, info, tools, withheld, events }, {
          tenantSlug: readTenantSlug(request),
          body: request.body,
          headers: request.headers,
          log: logOf(request),
          mayUse: (route) => isAuthorized(access, route),
          subscribing: subscriptions && subscribeAs(request, subscriptions),
          call: (call, options) => calls.send(request, reply, { ...call, ...options, prefix: scope.prefix })
        }, (missing) => resource === null ? {} : { 'www-authenticate': challenge(resource, request, missing) })
      }

      scope.post('/mcp', { config, schema, onSend, errorHandler: sendParseError }, async (request, reply) => {
        const { origin } = request.headers
        // A page of another site could otherwise reach a server in its visitor's network (DNS rebinding).
        if (origin !== undefined && !origins.includes(origin)) throw new HttpError('forbidden')
        const fault = findFault(request.body)
        const answer = fault === null ? await serve(request, reply) : { status: 400, headers: {}, text: fault }
        reply.code(answer.status).headers(answer.headers)
        // A notification has no response, so no media type.
        if (answer.text === '') return reply.send()
        sendAsIs(request)
        return answer.text
      })

      scope.route({
        method: ['GET', 'DELETE'],
        url: '/mcp',
        exposeHeadRoute: false,
        config,
        schema,
        onSend,
        handler: async (request, reply) => {
          reply.code(405).header('allow', 'POST')
          sendAsIs(request)
          // Clients expect a 405 from servers without streams.
          return formatFault(-32000, 'Method not allowed.')
        }
      })
    }
  }
}

/** The server's parts for events. */
interface Catalogue {
  events: EventSchemas
  /** `null` if agents can only poll. */
  subscriptions: AgentSubscriptions | null
}

export type AgentSubscriptions = Subscribing<Subscriber>

/** Returns the methods of a request's caller. Each is an operation for the audit. */
function subscribeAs (request: FastifyRequest, subscriptions: AgentSubscriptions): Subscribing {
  const state = stateOf(request)

  function begin (operationId: string): Subscriber {
    const { keyId, scopes } = state.access.caller
    state.operationId = operationId
    const principal = String(keyId ?? '')
    if (!isPlainText(principal, 255)) {
      throw new EventsFault('Forbidden', 'Only an API key or access token can subscribe')
    }
    const missing = webhookScopes.filter((scope) => !scopes.includes(scope))
    if (missing.length > 0) {
      throw new EventsFault('Forbidden', `Needs the scope ${missing.join(' ')}`, { scopes: missing })
    }
    return { tenant: readTenant(request), principal }
  }

  return {
    async subscribe (given) {
      const subscription = await subscriptions.subscribe({ ...given, ...begin('subscribeEvents') })
      state.resource = { kind: 'subscription', id: subscription.id }
      return subscription
    },
    async unsubscribe (key) {
      const id = await subscriptions.unsubscribe({ ...key, ...begin('unsubscribeEvents') })
      state.resource = id === null ? null : { kind: 'subscription', id }
      return id
    }
  }
}

interface Answer {
  status: number
  headers: Record<string, string>
  text: string
}

function formatFault (code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null })
}

/** Sends a protocol error for a body that is not JSON. All other errors are API errors. */
function sendParseError (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isBody = readHttpError(error)?.details.some((detail) => detail.in === 'body') === true
  if (!isBody) throw error
  reply.code(400).headers(commonHeaders).header('content-type', contentType)
  return reply.send(formatFault(-32700, 'Parse error'))
}

/** Returns the error for a body that is not a message; `null` for a message. */
function findFault (body: unknown): string | null {
  // The protocol has had no batches since its revision 2025-06-18.
  if (Array.isArray(body)) return formatFault(-32600, 'Bad Request: send one message per request')
  const isMessage = typeof body === 'object' && body !== null &&
    (!('method' in body) || typeof body.method === 'string')
  return isMessage ? null : formatFault(-32600, 'Invalid Request')
}

/** Responds to a message. `challengeFor` returns the headers of a 403 for missing scopes. */
async function respond (
  parts: ServerParts, message: Message, challengeFor: (scopes: readonly string[]) => Record<string, string>
): Promise<Answer> {
  let passed: Passed | null = null as Passed | null
  const response = await exchange(parts, message, (answer) => {
    passed = answer
  })
  if (passed !== null) {
    const { answer: { status, text }, tool } = passed
    return { status, headers: status === 403 ? challengeFor(scopesOf(tool)) : {}, text }
  }
  return { status: response.status, headers: {}, text: await response.text() }
}

const forwarded = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']

/** The protocol requires both media types, but the response is always JSON. */
const acceptsJson = /(?:^|,)\s*(?:application\/json|application\/\*|\*\/\*)\s*(?:;|,|$)/i

async function exchange (
  parts: ServerParts, message: Message, pass: (passed: Passed) => void
): Promise<Response> {
  const { sdk } = parts
  const { body: parsedBody, headers } = message
  const { accept = '*/*' } = headers
  const create = () => createServer(parts, message, pass)
  const shown = forwarded
    .map((name) => [name, headers[name]])
    .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: [...shown, ['accept', acceptsJson.test(accept) ? 'application/json, text/event-stream' : accept]]
  })
  if (!(await sdk.isLegacyRequest(request, parsedBody))) {
    return sdk.createMcpHandler(create, { legacy: 'reject', maxSubscriptions: 0 }).fetch(request, { parsedBody })
  }
  const server = create()
  const transport = new sdk.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  const response = await transport.handleRequest(request, { parsedBody })
  await server.close()
  return response
}

function scopesOf ({ route: { config = {} } }: Tool): readonly string[] {
  const { scopes = [], anyScope = [] } = config
  return [...scopes, ...anyScope.slice(0, 1)]
}
