import type { FastifyContextConfig, RouteOptions } from 'fastify'
import { type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import type { Components } from './components.js'
import { describeDefaults } from './defaults.js'
import { exampleOf } from './example.js'

interface OperationSchema {
  hide?: boolean
  operationId?: string
  tags?: readonly string[]
  summary?: string
  description?: string
  params?: TObject
  querystring?: TObject
  body?: TObject
  response?: Record<string, TSchema>
}

/** What the router takes for a part of a path. */
const PathPart = Type.String({ minLength: 1, maxLength: 100 })
const TenantSlug = Type.String({ ...PathPart, examples: ['acme'], description: 'The tenant that the API key belongs to' })

/** One operation, as its route declares it. */
export function formatOperation ({ schema = {}, config = {} }: RouteOptions, pathNames: readonly string[], components: Components): object {
  const { params, querystring, body, response = {}, operationId, tags, summary, description } = schema as OperationSchema
  const pathSchemas = Object.fromEntries(pathNames.map((name) => [name, describePathPart(name, params?.properties[name])]))
  return {
    operationId,
    tags,
    summary,
    description: [description, describeScopes(config)].filter((part) => part !== undefined).join('\n\n'),
    security: listAlternatives(config).map((scopes) => ({ apiKey: scopes })),
    parameters: [...formatParameters('path', pathSchemas, pathNames), ...formatParameters('query', querystring?.properties, querystring?.required)],
    ...(body === undefined ? {} : { requestBody: formatBody(body, components) }),
    responses: Object.fromEntries(Object.entries(response).map(([status, answer]) => [status, formatResponse(answer, components)]))
  }
}

/** The tenant is the same for every route; the host says what its own parameters are. */
function describePathPart (name: string, schema: TSchema = PathPart): TSchema {
  return name === 'tenant_slug' ? { ...TenantSlug, ...schema } : schema
}

/** Whether a route stays out of the document: `schema: { hide: true }`, as for `@fastify/swagger`. */
export function isHidden ({ schema = {} }: RouteOptions): boolean {
  return (schema as OperationSchema).hide === true
}

/** Every scope that a route names. */
export function readScopes ({ config }: RouteOptions): readonly string[] {
  return [...config?.scopes ?? [], ...config?.anyScope ?? []]
}

/** Every tag that a route has. */
export function readTags ({ schema = {} }: RouteOptions): readonly string[] {
  return (schema as OperationSchema).tags ?? []
}

/** Each holds all the scopes that are enough. */
function listAlternatives ({ scopes = [], anyScope }: FastifyContextConfig): ReadonlyArray<readonly string[]> {
  return anyScope?.map((scope) => [...scopes, scope]) ?? [scopes]
}

function describeScopes ({ scopes = [], anyScope = [] }: FastifyContextConfig): string {
  const names = [scopes.map(quote).join(' and '), anyScope.map(quote).join(' or ')].filter((part) => part !== '')
  return names.length === 0 ? 'Needs no scope.' : `Needs ${names.join(', and ')}.`
}

function quote (scope: string): string {
  return `\`${scope}\``
}

function formatParameters (place: 'path' | 'query', schemas: TProperties = {}, needed: readonly string[] = []): object[] {
  return Object.entries(schemas).map(([name, schema]) => {
    const required = needed.includes(name) && schema.default === undefined
    return { name, in: place, required, ...(required ? formatValue(schema) : formatOptional(schema)) }
  })
}

/** Reference pages send the `example` of a parameter unless it is taken out, but not the `examples` of its schema. */
function formatOptional ({ description, ...schema }: TSchema): object {
  return { description, schema }
}

/** What parameters and headers have in common. */
function formatValue (value: TSchema): object {
  const { description, examples, ...schema } = value
  return { description, schema, example: exampleOf(value) }
}

/** A body may be left out if an empty one would do. */
function formatBody (schema: TObject, components: Components): object {
  const described = describeDefaults(schema, { isFilledIn: true })
  const required = (described.required ?? []).length > 0 || (schema.minProperties ?? 0) > 0
  return { required, content: { 'application/json': { schema: components.schema(described), example: exampleOf(schema) } } }
}

const requestId = {
  description: 'The id of this request: quote it when you ask for help',
  schema: { type: 'string' },
  example: 'req_4f3c0a6d5b8e4a7c9d1e2f3a4b5c6d7e'
}

/** An answer that has a title, as the errors have, is written once. */
function formatResponse ({ description = '', headers = {}, ...schema }: TSchema, components: Components): object {
  const answer = { description, headers: { 'x-request-id': requestId, ...formatHeaders(headers) } }
  if (schema.type === 'null') return answer
  const response = { ...answer, content: { 'application/json': { schema: components.schema(schema), example: exampleOf(schema) } } }
  return schema.title === undefined ? response : components.response(schema.title, response)
}

function formatHeaders (headers: TProperties): object {
  return Object.fromEntries(Object.entries(headers).map(([name, schema]) => [name, formatValue(schema)]))
}
