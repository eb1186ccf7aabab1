import type { TObject, TSchema } from '@sinclair/typebox'
import type { RouteOptions } from 'fastify'
import { noteCapabilities } from '../../core/http/document/document.js'
import { describeDefaults, isHidden, operationIdOf, readOperation } from '../../core/http/document/operation.js'
import { requiredCapabilities } from '../../core/http/sessions.js'
import { isObject, mapValues } from '../../core/shared/fields.js'
import { assertOption } from '../../core/shared/read-options.js'
import { Type } from '../../core/shared/typebox.js'
import { type Call, encodePart } from './calls.js'

/** Describes a route's tool, in its config `mcp`. */
export interface ToolConfig {
  /**
   * The name: 1 to 64 letters, digits, `_` and `-`.
   * @default the `operationId` in snake case, such as `list_candidates`
   */
  name?: string
  /**
   * When an agent should use it.
   * @default the summary and description of the route
   */
  description?: string
  /**
   * Whether it only reads.
   * @default true for GET
   */
  readOnly?: boolean
  /**
   * Whether it can change or delete existing data, not only add.
   * @default true unless read-only
   */
  destructive?: boolean
  /**
   * Whether repeated calls with the same arguments have no further effect.
   * @default true for PUT, DELETE and read-only tools
   */
  idempotent?: boolean
  /**
   * Whether it sends requests to other systems.
   * @default false
   */
  openWorld?: boolean
}

export type Tool = ReturnType<typeof createTool>

/** Returns the tools of all routes that have one. Throws `invalid_option`. */
export function listTools (routes: readonly RouteOptions[]): Tool[] {
  const tools = routes.filter((route) => route.config?.mcp && !isHidden(route)).map(createTool)
  for (const [index, { name }] of tools.entries()) {
    assertOption(tools.findIndex((tool) => tool.name === name) === index, 'routes', 'tools with different names', name)
  }
  return tools
}

function createTool (route: RouteOptions) {
  const mcp = route.config?.mcp
  const given: ToolConfig = typeof mcp === 'object' ? mcp : {}
  const operationId = operationIdOf(route.schema)
  const name = given.name ?? (operationId ?? '').replaceAll(/(?<=[a-z\d])[A-Z]/g, '_$&').toLowerCase()
  assertOption(
    /^[\w-]{1,64}$/.test(name), 'routes',
    `config.mcp.name or an operationId for ${route.url}, of 1 to 64 letters, digits, _ and -`, name
  )
  const { summary = name, description } = (route.schema ?? {}) as { summary?: string, description?: string }
  const hints = hintsOf(route, given)
  // Callers see only tools that they can use, so the description omits capabilities.
  const about = description?.replace(`\n\n${noteCapabilities(route)}`, '')
  return {
    name,
    title: summary,
    description: given.description ?? (about === undefined ? summary : `${summary}. ${about}`),
    plan: planArguments(route, name, hints),
    hints,
    output: readOutput(route),
    isSecret: requiredCapabilities(route).includes('secrets'),
    route
  }
}

function hintsOf (
  { method }: RouteOptions,
  { readOnly = method === 'GET', destructive = !readOnly, idempotent, openWorld = false }: ToolConfig
) {
  return {
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    idempotentHint: idempotent ?? (readOnly || method === 'PUT' || method === 'DELETE'),
    openWorldHint: openWorld
  }
}

/** Returns the schema of successful responses, if they share one that is an object: clients accept no others. */
function readOutput (route: RouteOptions): TSchema | undefined {
  const successes = Object.entries(readOperation(route).responses).filter(([status]) => status.startsWith('2'))
  const outlines = new Map(successes.map(([, schema]) => [JSON.stringify(outline(schema)), outline(schema)]))
  const [output, ...others] = outlines.values()
  return others.length === 0 && output?.type === 'object' ? output : undefined
}

/**
 * Returns the field names and types of a response and its rows: short, but enough for clients that check results.
 * Guarded texts need not match a pattern, and a key may see only some fields.
 */
function outline (schema: TSchema): TSchema {
  const data: TSchema | undefined = schema.properties?.data
  const rows = typeof data?.items === 'object' && !Array.isArray(data.items) ? { items: listFields(data.items) } : {}
  const described = listFields(schema)
  if (data !== undefined) described.properties.data = { ...listFields(data), ...rows }
  return described
}

function listFields (schema: TSchema): TSchema {
  const properties = (schema.properties ?? {}) as Schemas
  const fields = Object.keys(properties).length === 0 ? {} : { properties: mapValues(properties, pickType) }
  return { ...pickType(schema), ...fields } as TSchema
}

function pickType ({ type }: TSchema): object {
  return type === undefined ? {} : { type }
}

type Schemas = Record<string, TSchema>

/** A parameter such as `filter[q]` becomes the member `q` of `filter`: models accept no brackets in names. */
const grouped = /^(\w+)\[(\w+)\]$/

const keyArgument = 'idempotency_key'

const IdempotencyKey = Type.Optional(Type.String({
  description: 'A new UUID for each change. If a result was lost, repeat the call with it'
}))

type ArgumentPlan = ReturnType<typeof planArguments>

/** Returns how the arguments of a tool become a request. Throws `invalid_option` if the route cannot be a tool. */
function planArguments (route: RouteOptions, name: string, hints: ReturnType<typeof hintsOf>) {
  const { parameters, body } = readOperation(route)
  const [method = '', ...others] = [route.method].flat()
  const path = route.url.replace(/^.*?\/:tenant_slug/, '')
  const isPlain = others.length === 0 && /^(?:\/(?::\w+|[^/:*()?]+))+$/.test(path)
  assertOption(
    isPlain, 'routes', `a path whose parameters are whole parts, and one method, for the tool ${name}`,
    `${[method, ...others].join(', ')} ${path}`
  )
  const acceptsKey = parameters.some((parameter) => parameter.in === 'header' && parameter.name === 'idempotency-key')
  const isKeyed = !hints.readOnlyHint && (acceptsKey || hints.idempotentHint)
  const own = parameters.filter((parameter) => parameter.name !== 'tenant_slug' && parameter.in !== 'header')
  const single = own.filter((parameter) => !grouped.test(parameter.name))
  const namesIn = (place: string): string[] =>
    own.filter((parameter) => parameter.in === place).map((parameter) => parameter.name)
  const hasBody = body !== undefined && !isEmpty(body)
  const fields = hasBody ? readFields(body) : {}
  const entries = [
    ...single.map((parameter) => [parameter.name, asArgument(parameter.schema, parameter.required)] as const),
    ...Object.entries(groupParameters(own)), ...Object.entries(fields ?? { body: asArgument(body as TObject, true) }),
    ...isKeyed ? [[keyArgument, IdempotencyKey] as const] : []
  ]
  const properties: Schemas = Object.fromEntries(entries)
  assertOption(
    Object.keys(properties).length === entries.length, 'routes',
    `different names of parameters and body fields for the tool ${name}`,
    entries.map(([argument]) => argument).join(', ')
  )
  return {
    method,
    url: route.url,
    /** The path below the tenant, with its parameters: `/jobs/:id`. */
    path,
    inPath: namesIn('path'),
    /** The parameters of the query: `page`, `filter[q]`. */
    inQuery: namesIn('query'),
    /** The fields of the body that are arguments; `null` if the whole body is the argument `body`. */
    inBody: fields === null ? null : Object.keys(fields),
    hasBody,
    /** Whether it takes an idempotency key: it changes data, and a repeated call has no further effect. */
    isKeyed,
    inputSchema: Type.Object(properties, { additionalProperties: false })
  }
}

function isEmpty ({ properties = {}, additionalProperties }: TObject): boolean {
  return additionalProperties === false && Object.keys(properties).length === 0
}

const compositions = ['anyOf', 'oneOf', 'allOf', 'patternProperties']

/** Returns the fields of a body as arguments; `null` unless it is an object with known fields. */
function readFields (body: TObject): Schemas | null {
  if (body.additionalProperties !== false || compositions.some((keyword) => keyword in body)) return null
  const { properties, required = [] } = describeDefaults(body, { isFilledIn: true })
  return mapValues(properties as Schemas, (schema, name) => asArgument(schema, required.includes(name)))
}

function groupParameters (parameters: ReadonlyArray<{ name: string, schema: TSchema }>): Schemas {
  const groups = new Map<string, Schemas>()
  for (const { name, schema } of parameters) {
    const [, group, member = ''] = grouped.exec(name) ?? []
    if (group !== undefined) groups.set(group, { ...groups.get(group), [member]: asArgument(schema, false) })
  }
  return Object.fromEntries(
    Array.from(groups, ([name, members]) => [
      name, Type.Optional(Type.Object(members))
    ])
  )
}

/** Returns the schema of an argument, without symbols: a host can use another TypeBox. */
function asArgument (schema: TSchema, isRequired: boolean): TSchema {
  const described: TSchema = Type.Unsafe(
    JSON.parse(JSON.stringify(shorten(describeDefaults(schema, { isFilledIn: true }))))
  )
  return isRequired ? described : Type.Optional(described)
}

const largest = [2 ** 31 - 1, Number.MAX_SAFE_INTEGER]

/** Keywords that add nothing to an argument's description for a model. The route still checks them. */
const implied = [
  'title', 'examples', 'pattern', 'propertyNames', 'additionalProperties', 'minLength', 'maxLength', 'minItems',
  'maxItems', 'uniqueItems', 'maxProperties'
]

/** Copies a schema without what its description covers: tool lists must not fill a context. */
function shorten (schema: TSchema, isDescribed = schema.description !== undefined): TSchema {
  const { description, minimum, maximum, properties, items, ...rest } = schema
  const kept = Object.entries(rest).filter(([name]) => !isDescribed || !implied.includes(name))
  return {
    ...Object.fromEntries(kept),
    ...description === undefined ? {} : { description },
    ...minimum === undefined || minimum <= 1 ? {} : { minimum },
    ...maximum === undefined || largest.includes(maximum) ? {} : { maximum },
    ...items === undefined || Array.isArray(items) ? {} : { items: shorten(items, isDescribed) },
    ...properties === undefined ? {} : { properties: mapValues(properties, (value: TSchema) => shorten(value)) }
  } as TSchema
}

export class ArgumentFault extends Error {}

/**
 * Returns the call of an operation for its tool's arguments. Throws an `ArgumentFault` for arguments that no request
 * can contain. The route checks all others.
 */
export function formatCall (plan: ArgumentPlan, given: object): Call {
  const { method, url, inPath, inQuery, inBody, hasBody, isKeyed } = plan
  const parts = new Map(inPath.map((name) => [name, readPart(given, name)]))
  const query: string[] = []
  const body: Record<string, unknown> = {}
  let idempotencyKey: string | null = null
  for (const [name, value] of flatten(plan, given)) {
    if (inQuery.includes(name)) query.push(...formatParameter(name, value))
    else if (isKeyed && name === keyArgument) idempotencyKey = readKey(value)
    else if (hasBody && (inBody ?? ['body']).includes(name)) body[name] = value
    else if (!inPath.includes(name)) throw new ArgumentFault(`Unknown argument. This tool takes ${listNames(plan)}.`)
  }
  const path = plan.path.replace(/:(\w+)/g, (_, name) => String(parts.get(name)))
  return {
    method,
    url,
    path: query.length === 0 ? path : `${path}?${query.join('&')}`,
    body: hasBody ? JSON.stringify(inBody === null ? body.body ?? null : body) : null,
    idempotencyKey
  }
}

/** Converts the member `q` of the argument `filter` to `filter[q]`. */
function flatten ({ inQuery }: ArgumentPlan, given: object): Array<[string, unknown]> {
  const groups = new Set(inQuery.map((name) => grouped.exec(name)?.[1]))
  return Object.entries(given).flatMap(([name, value]) => {
    if (!groups.has(name)) return [[name, value]]
    if (value === null) return []
    if (typeof value !== 'object') throw new ArgumentFault(`${name} must be an object.`)
    return Object.entries(value).map(([member, value]): [string, unknown] => [`${name}[${member}]`, value])
  })
}

function readPart (given: object, name: string): string {
  const part = encodePart(formatScalar(Reflect.get(given, name)) ?? '')
  if (part === null) throw new ArgumentFault(`${name} is missing or not valid.`)
  return part
}

function readKey (value: unknown): string | null {
  if (value === null) return null
  const text = formatScalar(value) ?? ''
  if (/^[!-~]{1,255}$/.test(text)) return text
  throw new ArgumentFault(`${keyArgument} must be 1 to 255 visible ASCII characters, without spaces.`)
}

/** Models send `null` for omitted arguments. */
function formatParameter (name: string, value: unknown): string[] {
  if (value === null) return []
  const text = isObject(value) && !Array.isArray(value) ? JSON.stringify(value) : formatScalar(value)
  if (text === null) throw new ArgumentFault(`${name} must be text, a number or a boolean.`)
  return [`${encodeURIComponent(name)}=${encodeURIComponent(text)}`]
}

function formatScalar (value: unknown): string | null {
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : null
}

function listNames ({ inputSchema: { properties } }: ArgumentPlan): string {
  return Object.keys(properties).join(', ') || 'none'
}
