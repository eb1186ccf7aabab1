import type { FastifyPluginAsync } from 'fastify'
import { findReadOnlyKey } from '../ats/keys.js'
import { body } from './body.js'

/** A client's message and its response. */
interface Exchange {
  sent: string
  received: string
}

/** The client's messages when a model searches open jobs and has no access to webhooks. */
const messages: ReadonlyArray<{ method: string; params: object }> = [
  {
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'demo', version: '1' } }
  },
  { method: 'tools/list', params: {} },
  {
    method: 'tools/call',
    params: { name: 'list_jobs', arguments: { filter: { status: 'published' }, sort: '-updated_at', per_page: 2 } }
  },
  { method: 'tools/call', params: { name: 'list_candidates', arguments: { filter: { q: 'élodie' }, per_page: 2 } } },
  { method: 'tools/call', params: { name: 'list_webhooks' } }
]

/** The parts of a response in the transcript. */
interface Response {
  result?: { serverInfo?: { title: string }, tools?: Array<{ name: string }>, content?: Array<{ text: string }> }
  error?: { message: string }
}

/** Runs agent sessions for the page, with a key that only reads candidates and jobs. */
export function agentSessions (tenantSlugs: readonly string[]): FastifyPluginAsync {
  return async (app) => {
    app.post<{ Body: { tenant: string } }>(
      '/demo/agent/session',
      { schema: body({ tenant: { enum: tenantSlugs } }) },
      async ({ body: { tenant } }) => {
        const transcript: Exchange[] = []
        for (const { method, params } of messages) {
          const response = await fetch(`${app.listeningOrigin}/api/v1/public/${tenant}/mcp`, {
            method: 'POST',
            headers: {
              authorization: `Bearer ${findReadOnlyKey(tenant)}`,
              accept: 'application/json, text/event-stream',
              'content-type': 'application/json'
            },
            body: JSON.stringify({ jsonrpc: '2.0', id: transcript.length, method, params })
          })
          transcript.push({
            sent: describe(method, params),
            received: format(response.status, (await response.json()) as Response)
          })
        }
        return { transcript }
      }
    )
  }
}

function describe (method: string, params: { name?: string, arguments?: object }): string {
  return params.name === undefined ? method : `${params.name} ${JSON.stringify(params.arguments ?? {})}`
}

function format (status: number, { result, error }: Response): string {
  if (error !== undefined) return `${status}: ${error.message}`
  const { serverInfo, tools = [], content = [] } = result ?? {}
  if (serverInfo !== undefined) return serverInfo.title
  return tools.length > 0 ? tools.map(({ name }) => name).join(', ') : content.map(({ text }) => text).join('\n')
}
