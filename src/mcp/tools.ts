import type { TSchema } from '@sinclair/typebox'
import type { RouteOptions } from 'fastify'
import { isHidden, operationIdOf, readOperation } from '../http/document/operation.js'
import { requiredCapabilities } from '../http/sessions.js'
import { assertOption } from '../shared/read-options.js'
import { type ArgumentPlan, planArguments } from './arguments.js'
import type { ToolConfig } from './tool-config.js'

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
  /**
   * Schemas of a successful response for callers who see all fields, and for others; `undefined` if it has no JSON
   * object.
   */
  output: { full: TSchema, limited: TSchema } | undefined
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
  const { about: { summary = name, description } } = readOperation(route)
  return {
    name,
    title: summary,
    description: given.description ?? `${summary}. ${description}`,
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
function readOutput (route: RouteOptions): Tool['output'] {
  const successes = Object.entries(readOperation(route).responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, schema]) => schema)
  const schemas = new Map(successes.map((schema) => {
    const full: TSchema = loosen(schema, new Set())
    return [JSON.stringify({ ...full, description: '' }), full]
  }))
  const [full, ...others] = schemas.values()
  if (full === undefined || others.length > 0 || full.type !== 'object') return undefined
  return { full, limited: loosen(full, new Set(['required'])) }
}

/** Keywords that a response may not fulfil after its texts are escaped and cut, and those that only documents need. */
const dropped = ['pattern', 'format', 'maxLength', 'minLength', 'examples', 'headers', '$id']

/** Keywords whose members are names of fields, not keywords. */
const maps = new Set(['properties', 'patternProperties'])
const values = new Set(['enum', 'const', 'default'])

/** Copies a schema without keywords that the result of a tool may not fulfil. */
function loosen (schema: TSchema, further: ReadonlySet<string>): TSchema {
  const visit = (value: unknown, isMap: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item) => visit(item, false))
    if (typeof value !== 'object' || value === null) return value
    const kept = Object.entries(value).filter(([key]) => isMap || !(dropped.includes(key) || further.has(key)))
    return Object.fromEntries(
      kept.map(([key, member]) => [key, !isMap && values.has(key) ? member : visit(member, !isMap && maps.has(key))])
    )
  }
  return visit(schema, false) as TSchema
}
