import type * as sdkModule from '@modelcontextprotocol/server'
import type { CallToolResult, Server } from '@modelcontextprotocol/server'
import type { FastifyRequest, RouteOptions } from 'fastify'
import type { logOf } from '../http/log.js'
import { ArgumentFault, formatCall } from './call.js'
import type { Call, CallAnswer, CallOptions } from './calls.js'
import { findPrompt, listPrompts } from './prompts.js'
import { formatPage, formatResource, listTemplates, parseCursor, parseUri } from './resources.js'
import { dataWarning, describeError, formatFault, formatResult, parse } from './result.js'
import type { Tool } from './tools.js'

/** The official SDK. */
type Sdk = typeof sdkModule

/** A message of a client. */
export interface Message {
  tenantSlug: string
  body: unknown
  headers: FastifyRequest['headers']
  log: ReturnType<typeof logOf>
  /** Returns whether the caller may use a route. */
  mayUse (route: RouteOptions): boolean
  /** Calls an operation as the caller. */
  call (call: Call, options: CallOptions): Promise<CallAnswer>
}

/** The parts that all servers of an API share. */
export interface ServerParts {
  sdk: Sdk
  info: { name: string, title: string, version: string }
  /** All tools that agents may have. */
  tools: readonly Tool[]
  /** Names of tools that are not offered because they return secrets. */
  refused: readonly string[]
}

/** Ends a message with the response of the operation: the client has to see its status. */
export class Passed extends Error {
  readonly answer: CallAnswer
  readonly tool: Tool

  constructor (answer: CallAnswer, tool: Tool) {
    super(`status ${answer.status}`)
    this.answer = answer
    this.tool = tool
  }
}

/** Returns a server for one message. `pass` gets the response that replaces the server's. */
export function createServer (
  { sdk, info, tools, refused }: ServerParts,
  message: Message,
  pass: (passed: Passed) => void
): Server {
  const { tenantSlug, log } = message
  const visible = tools.filter(({ route }) => message.mayUse(route))
  const names = visible.map(({ name }) => name)
  const has = (name: string): boolean => names.includes(name)
  const server = new sdk.Server(info, {
    capabilities: { tools: {}, resources: {}, prompts: {} },
    instructions: describeServer(tenantSlug)
  })

  /** Calls an operation. 401, 403 and 429 become the response to the message. */
  async function call (tool: Tool, given: object, options: CallOptions = {}): Promise<CallAnswer> {
    const answer = await message.call(formatCall(tool.plan, given), options)
    if ([401, 403, 429].includes(answer.status)) throw new Passed(answer, tool)
    return answer
  }

  /** Runs a handler. Logs unexpected errors and hides them from the client. */
  async function run<T> (handle: () => Promise<T>): Promise<T> {
    try {
      return await handle()
    } catch (error) {
      if (error instanceof sdk.ProtocolError) throw error
      if (error instanceof ArgumentFault) {
        throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, error.message)
      }
      if (error instanceof Passed) pass(error)
      else log.error({ err: error }, 'a message of an agent failed')
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InternalError, 'Unexpected server error')
    }
  }

  async function callTool (name: string, given: object): Promise<CallToolResult> {
    const tool = tools.find((known) => known.name === name)
    if (refused.includes(name)) {
      return formatFault(`${name} returns a secret, which this server never shows to agents. Ask a person to do it.`)
    }
    if (tool === undefined) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, 'Unknown tool')
    try {
      const readAgain = (perPage: number) => call(tool, { ...given, per_page: perPage }, { isRepeated: true })
      return await formatResult(await call(tool, given), tool.plan.inQuery.includes('per_page') ? readAgain : null)
    } catch (error) {
      if (error instanceof ArgumentFault) return formatFault(error.message)
      throw error
    }
  }

  async function readJobs (name: string, given: object): Promise<CallAnswer> {
    const [tool] = tools.filter((known) => known.name === name) as [Tool]
    const answer = await call(tool, given)
    if (answer.status < 300) return answer
    const code = answer.status < 500 ? sdk.ProtocolErrorCode.InvalidParams : sdk.ProtocolErrorCode.InternalError
    throw new sdk.ProtocolError(code, describeError(answer.status, parse(answer.text)))
  }

  server.setRequestHandler('tools/list', () => ({ tools: visible.map(describeTool) }))
  server.setRequestHandler('tools/call', ({ params: { name, arguments: given = {} } }) =>
    run(() => callTool(name, given))
  )
  server.setRequestHandler('prompts/list', () => ({ prompts: listPrompts(names) }))
  server.setRequestHandler('prompts/get', ({ params: { name } }) => {
    const prompt = findPrompt(name, names, Date.now())
    if (prompt === null) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, 'Unknown prompt')
    return prompt
  })
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: has('get_job') ? listTemplates(tenantSlug) : []
  }))
  server.setRequestHandler('resources/list', ({ params }) =>
    run(async () => {
      if (!has('list_jobs')) return { resources: [] }
      const page = parseCursor(params?.cursor)
      if (page === null) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, 'Unknown cursor')
      return formatPage(await readJobs('list_jobs', page), tenantSlug)
    })
  )
  server.setRequestHandler('resources/read', ({ params: { uri } }) =>
    run(async () => {
      const job = parseUri(uri, tenantSlug)
      if (job === null) throw new sdk.ResourceNotFoundError(uri)
      return formatResource(uri, await readJobs('get_job', job))
    })
  )
  return server
}

function describeServer (tenantSlug: string): string {
  return `The recruiting system of the company ${tenantSlug}: candidates, jobs, events and webhooks. ${dataWarning}`
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
