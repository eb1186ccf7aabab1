import type * as sdkModule from '@modelcontextprotocol/server'
import type { CallToolResult, Server } from '@modelcontextprotocol/server'
import type { FastifyRequest, RouteOptions } from 'fastify'
import type { logOf } from '../../core/http/log.js'
import { eventsCapability } from '../../core/shared/events-wire.js'
import { readField } from '../../core/shared/fields.js'
import { type Tool, ArgumentFault, formatCall } from './tools.js'
import type { Call, CallAnswer, CallOptions } from './calls.js'
import { type EventTypes, type Subscribing, serveEvents } from './events.js'
import { dataWarning, formatFault, formatResult } from './result.js'

type Sdk = typeof sdkModule

export interface Message {
  tenantSlug: string
  body: unknown
  headers: FastifyRequest['headers']
  log: ReturnType<typeof logOf>
  mayUse (route: RouteOptions): boolean
  /** `null` if agents can only poll. */
  subscribing: Subscribing | null
  call (call: Call, options: CallOptions): Promise<CallAnswer>
}

export interface ServerParts {
  sdk: Sdk
  info: { name: string, title: string, version: string }
  tools: readonly Tool[]
  /** Names of tools that are not offered because they return secrets. */
  withheld: readonly string[]
  /** The event types, and the tool that lists events; `null` without the option. */
  events: { types: EventTypes, tool: Tool } | null
}

/** An operation's response that becomes the response to the message, because the client needs its status. */
export interface Passed {
  answer: CallAnswer
  tool: Tool
}

/** Returns a server for one message. `pass` receives a response that replaces the server's. */
export function createServer (
  { sdk, info, tools, withheld, events }: ServerParts, message: Message, pass: (passed: Passed) => void
): Server {
  const { tenantSlug, log } = message
  const visible = tools.filter(({ route }) => message.mayUse(route))
  const has = (name: string): boolean => visible.some((tool) => tool.name === name)
  const prompts = allPrompts.filter((prompt) => prompt.tools.every(has))
  const server = new sdk.Server(info, {
    capabilities: { tools: {}, prompts: {}, ...events === null ? {} : eventsCapability },
    instructions: `The recruiting system of the company ${tenantSlug}: candidates, jobs, events and webhooks. ${dataWarning}`
  })

  const createFailure = () => new sdk.ProtocolError(sdk.ProtocolErrorCode.InternalError, 'Unexpected server error')

  function fail (error: unknown): Error {
    if (error instanceof sdk.ProtocolError) return error
    log.error({ err: error }, "an agent's message failed")
    return createFailure()
  }

  async function call (tool: Tool, given: object, options: CallOptions = {}): Promise<CallAnswer> {
    const answer = await message.call(formatCall(tool.plan, given), options)
    if (![401, 403, 429].includes(answer.status)) return answer
    pass({ answer, tool })
    throw createFailure()
  }

  async function callTool (name: string, given: object): Promise<CallToolResult> {
    const tool = tools.find((known) => known.name === name)
    if (withheld.includes(name)) {
      return formatFault(`${name} returns a secret, which this server never shows to agents. Ask a person to do it.`)
    }
    if (tool === undefined) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, 'Unknown tool')
    const readAgain = (perPage: number) => call(tool, { ...given, per_page: perPage }, { isRepeated: true })
    return formatResult(await call(tool, given), {
      readAgain: tool.plan.inQuery.includes('per_page') ? readAgain : null,
      // A token replaces it.
      hasSince: tool.plan.inQuery.includes('since') && (readField(given, 'since') ?? null) !== null
    })
  }

  if (events !== null) {
    const { types, tool } = events
    serveEvents(server, {
      sdk,
      types,
      isAllowed: visible.includes(tool),
      subscribing: message.subscribing,
      list: (query, options) => call(tool, query, options),
      fail
    })
  }
  server.setRequestHandler('tools/list', () => ({ tools: visible.map(describeTool) }))
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: given = {} } }) => {
    try {
      return await callTool(name, given)
    } catch (error) {
      if (error instanceof ArgumentFault) return formatFault(error.message)
      throw fail(error)
    }
  })
  server.setRequestHandler('prompts/list', () => ({
    prompts: prompts.map(({ name, title, description }) => ({ name, title, description }))
  }))
  server.setRequestHandler('prompts/get', ({ params: { name } }) => {
    const prompt = prompts.find((known) => known.name === name)
    if (prompt === undefined) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, 'Unknown prompt')
    const since = new Date(Date.now() - prompt.days * dayMs).toISOString()
    return { messages: [{ role: 'user', content: { type: 'text', text: `${prompt.ask(since)}\n${dataWarning}` } }] }
  })
  return server
}

function describeTool ({ name, title, description, plan, hints, output }: Tool) {
  return {
    name,
    title,
    description,
    inputSchema: { ...plan.inputSchema, type: 'object' as const },
    ...output === undefined ? {} : { outputSchema: { ...output, type: 'object' as const } },
    annotations: hints
  }
}

const dayMs = 86_400_000

/** The prompts. A caller sees only prompts whose `tools` it can use. */
const allPrompts = [
  {
    name: 'failures_this_week',
    title: 'What failed this week, and why?',
    description: 'Finds the notifications that webhooks did not receive in the last seven days, and their causes.',
    tools: ['list_webhooks', 'list_webhook_deliveries', 'get_webhook_delivery', 'get_webhook'],
    days: 7,
    ask: (since: string) =>
      [
        `Find out which notifications of our webhooks failed since ${since}, and why.`,
        '1. Call list_webhooks for all pages.',
        '2. For each webhook, call get_webhook, whose `health` shows failures, and list_webhook_deliveries with the ' +
          'filter status "failed". Ignore deliveries created before that time.',
        '3. For one delivery of each kind of error, call get_webhook_delivery, whose `attempts` show the responses of the endpoint.',
        'Report for each webhook how many failed, since when, the causes and what would fix them. Change nothing and replay nothing unless I ask you to.'
      ].join('\n')
  },
  {
    name: 'changes_since_yesterday',
    title: 'What changed since yesterday?',
    description: 'Lists the candidates and jobs that changed in the last 24 hours.',
    tools: ['list_candidates', 'list_jobs'],
    days: 1,
    ask: (since: string) =>
      [
        `Find out what changed in our recruiting system since ${since}.`,
        `1. Call list_candidates and list_jobs with the filter updated_after "${since}" and sort "-updated_at", for all pages.`,
        '2. If there is a tool list_events, call it too, page by page, and ignore events before that time.',
        'Report the changes by job, newest first, and point out everything that needs attention.'
      ].join('\n')
  }
]
