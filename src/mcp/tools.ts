import type { TSchema } from '@sinclair/typebox'
import type { RouteOptions } from 'fastify'
import { noteCapabilities } from '../http/document/document.js'
import { isHidden, operationIdOf, readOperation } from '../http/document/operation.js'
import { requiredCapabilities } from '../http/sessions.js'
import { assertOption } from '../shared/read-options.js'
import { type ArgumentPlan, planArguments } from './arguments.js'

/** How clients may use a tool (MCP, ToolAnnotations). */
interface Hints {
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  openWorldHint: boolean
}

/** An operation as a tool. */
export interface Tool {
  name: string
  title: string
  description: string
  plan: ArgumentPlan
  hints: Hints
  /** The schema of a successful response; `undefined` if it is not an object. */
  output: TSchema | undefined
  /** Whether the response contains a secret. */
  isSecret: boolean
  route: RouteOptions
}

/** Returns the tools of all routes that declare one. Throws `invalid_option`. */
export function listTools (routes: readonly RouteOptions[]): Tool[] {
  const tools = routes.filter((route) => route.config?.mcp && !isHidden(route)).map(createTool)
  for (const [index, { name }] of tools.entries()) {
    assertOption(tools.findIndex((tool) => tool.name === name) === index, 'routes', 'tools with different names', name)
  }
  return tools
}

function createTool (route: RouteOptions): Tool {
  const mcp = route.config?.mcp
  const given: ToolConfig = typeof mcp === 'object' ? mcp : {}
  const operationId = operationIdOf(route.schema)
  const name = given.name ?? snakeCase(operationId ?? '')
  assertOption(
    /^[\w-]{1,64}$/.test(name),
    'routes',
    `config.mcp.name or an operationId for ${route.url}, of 1 to 64 letters, digits, _ and -`,
    name
  )
  const { summary = name, description } = (route.schema ?? {}) as { summary?: string, description?: string }
  // Callers see only the tools that they may use, so needs are left out.
  const about = description?.replace(`\n\n${noteCapabilities(route)}`, '')
  return {
    name,
    title: summary,
    description: given.description ?? (about === undefined ? summary : `${summary}. ${about}`),
    plan: planArguments(route, name),
    hints: hintsOf(route, given),
    output: readOutput(route),
    isSecret: requiredCapabilities(route).includes('secrets'),
    route
  }
}

function hintsOf (
  { method }: RouteOptions,
  { readOnly = method === 'GET', destructive = !readOnly, idempotent, openWorld = false }: ToolConfig
): Hints {
  return {
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    idempotentHint: idempotent ?? (readOnly || method === 'PUT' || method === 'DELETE'),
    openWorldHint: openWorld
  }
}

/** Turns `listCandidates` into `list_candidates`. */
function snakeCase (text: string): string {
  return text.replaceAll(/(?<=[a-z\d])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()
}

/** Returns the schema of successful responses, if they have one, and it is an object: clients accept no other. */
function readOutput (route: RouteOptions): TSchema | undefined {
  const successes = Object.entries(readOperation(route).responses).filter(([status]) => status.startsWith('2'))
  const outlines = new Map(successes.map(([, schema]) => [JSON.stringify(outline(schema)), outline(schema)]))
  const [output, ...others] = outlines.values()
  return others.length === 0 && output?.type === 'object' ? output : undefined
}

/**
 * Returns the names and types of the fields of a response and of its rows: enough for clients that check results, and
 * short. Guarded texts need not match a pattern, and a key may see only some fields.
 */
function outline (schema: TSchema): TSchema {
  const data: TSchema | undefined = schema.properties?.data
  const rows = typeof data?.items === 'object' && !Array.isArray(data.items) ? { items: listFields(data.items) } : {}
  const described = listFields(schema)
  if (data !== undefined) described.properties.data = { ...listFields(data), ...rows }
  return described
}

/** Keeps the type of a schema, and the types of its fields. */
function listFields (schema: TSchema): TSchema {
  const fields = Object.entries<TSchema>(schema.properties ?? {}).map(([name, field]) => [name, pickType(field)])
  return { ...pickType(schema), ...fields.length === 0 ? {} : { properties: Object.fromEntries(fields) } } as TSchema
}

function pickType ({ type }: TSchema): object {
  return type === undefined ? {} : { type }
}

/** Describes the tool of a route, in its config `mcp`. */
export interface ToolConfig {
  /**
   * The name: 1 to 64 letters, digits, `_` and `-`.
   * @default the `operationId`, as `list_candidates`
   */
  name?: string
  /**
   * When an agent should use it.
   * @default the summary and description of the route
   */
  description?: string
  /**
   * Whether it changes nothing.
   * @default true for GET
   */
  readOnly?: boolean
  /**
   * Whether it may change or delete what exists, not only add.
   * @default true unless it is read-only
   */
  destructive?: boolean
  /**
   * Whether calling it again with the same arguments changes nothing more.
   * @default true for PUT and DELETE, and if it is read-only
   */
  idempotent?: boolean
  /**
   * Whether it sends requests to other systems.
   * @default false
   */
  openWorld?: boolean
}
