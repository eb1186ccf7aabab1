import type { FastifyContextConfig } from 'fastify'
import type { AgentAnswer, AgentRequest, AgentServer } from '../http/agents.js'
import { rejectOption } from '../shared/read-options.js'
import { challenge, type ProtectedResource } from './metadata.js'
import { createServer, type Passed, type ServerParts } from './server.js'
import type { McpSettings } from '../options/options.js'
import { listTools, type Tool } from './tools.js'

/** Throws `invalid_option` if the official SDK is not installed. */
export function assertSdk (resolve: (name: string) => string = import.meta.resolve): void {
  try {
    resolve('@modelcontextprotocol/server')
  } catch (error) {
    rejectOption(
      'mcp',
      'the package @modelcontextprotocol/server to be installed: npm install @modelcontextprotocol/server',
      error instanceof Error ? error.message : String(error)
    )
  }
}

/** Access tokens are longer than keys. Node limits all headers together to 16 KiB. */
const maxTokenLength = 8192
const maxKeyLength = 512

/** Returns the server for agents, without state: every message gets a server of its own. */
export function createAgentServer (
  { secrets, origins }: McpSettings,
  info: ServerParts['info'],
  resource: ProtectedResource | null
): AgentServer {
  return {
    maxKeyLength: resource === null ? maxKeyLength : maxTokenLength,
    prepare (routes) {
      const all = listTools(routes)
      const tools = secrets ? all : all.filter(({ isSecret }) => !isSecret)
      const refused = all.filter((tool) => !tools.includes(tool)).map(({ name }) => name)
      // Loaded with the first message: once loaded, it makes every request of the process slower.
      return async (request) =>
        respond({ sdk: await import('@modelcontextprotocol/server'), info, tools, refused }, request, resource)
    },
    isAllowedOrigin: (origin) => origins.includes(origin),
    challenge: (tenantSlug) => challenge(resource, tenantSlug)
  }
}

/** The protocol has no batches since its revision 2025-06-18. */
const noBatch = JSON.stringify({
  jsonrpc: '2.0',
  error: { code: -32600, message: 'Bad Request: one message a request' },
  id: null
})

async function respond (
  parts: ServerParts,
  request: AgentRequest,
  resource: ProtectedResource | null
): Promise<AgentAnswer> {
  if (Array.isArray(request.body)) return { status: 400, headers: {}, text: noBatch }
  let passed: Passed | null = null
  const response = await exchange(parts, request, (answer) => {
    passed = answer
  })
  if (passed !== null) return formatPassed(passed, request.tenantSlug, resource)
  return { status: response.status, headers: {}, text: await response.text() }
}

const forwarded = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']

/** Handles a message by the revision of the protocol that it is written in. */
async function exchange (
  parts: ServerParts,
  { body, headers, ...request }: AgentRequest,
  pass: (passed: Passed) => void
): Promise<Response> {
  const { sdk } = parts
  const create = () => createServer(parts, { body, headers, ...request }, pass)
  const shown = forwarded
    .map((name) => [name, headers[name]])
    .filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  const message = new Request('http://localhost/mcp', { method: 'POST', headers: shown })
  if (!(await sdk.isLegacyRequest(message, body))) {
    return sdk.createMcpHandler(create, { legacy: 'reject', maxSubscriptions: 0 }).fetch(message, { parsedBody: body })
  }
  const server = create()
  const transport = new sdk.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  const response = await transport.handleRequest(message, { parsedBody: body })
  await server.close()
  return response
}

function formatPassed (
  { answer: { status, text }, tool }: Passed,
  tenantSlug: string,
  resource: ProtectedResource | null
): AgentAnswer {
  const isMissingScope = status === 403 && resource !== null
  return {
    status,
    headers: isMissingScope ? { 'www-authenticate': challenge(resource, tenantSlug, scopesOf(tool)) } : {},
    text
  }
}

/** Without a tool, it was a resource, which is a job. */
const ofResources: FastifyContextConfig = { anyScope: ['jobs:read'] }

function scopesOf (tool: Tool | null): readonly string[] {
  const { scopes = [], anyScope = [] } = tool?.route.config ?? ofResources
  return [...scopes, ...anyScope.slice(0, 1)]
}
