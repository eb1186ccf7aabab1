import type { FastifyContextConfig, RouteOptions } from 'fastify'
import { type TObject, type TSchema, Type } from '@sinclair/typebox'

interface OperationSchema {
  hide?: boolean
  operationId?: string | undefined
  tags?: readonly string[] | undefined
  summary?: string | undefined
  description?: string | undefined
  params?: TObject
  querystring?: TObject
  body?: TObject
  response?: Record<string, TSchema>
}

/** What the router takes for a part of a path. */
const PathPart = Type.String({ minLength: 1, maxLength: 100 })
const TenantSlug = Type.String({ ...PathPart, examples: ['acme'], description: 'The tenant that the API key belongs to' })

/** An operation as its route declares it. */
export interface Operation {
  about: Pick<OperationSchema, 'operationId' | 'tags' | 'summary' | 'description'>
  /** Each holds all the scopes that are enough. */
  security: ReadonlyArray<readonly string[]>
  parameters: Parameter[]
  body: TObject | undefined
  responses: Record<string, TSchema>
}

/** A parameter that an operation takes. */
export interface Parameter {
  name: string
  in: 'path' | 'query'
  required: boolean
  schema: TSchema
}

/** Reads what a route says of itself. */
export function readOperation ({ url, schema = {}, config = {} }: RouteOptions): Operation {
  const { params, querystring, body, response = {}, operationId, tags, summary, description } = schema as OperationSchema
  return {
    about: { operationId, tags, summary, description: [description, describeScopes(config)].filter((part) => part !== undefined).join('\n\n') },
    security: listAlternatives(config),
    parameters: [...listPathParameters(url, params), ...listQueryParameters(querystring)],
    body,
    responses: response
  }
}

/** The tenant is the same for every route; the host says what its own parameters are. */
function listPathParameters (url: string, params: TObject | undefined): Parameter[] {
  return Array.from(url.matchAll(/:(\w+)/g), ([, name = '']) => {
    const schema = params?.properties[name] ?? PathPart
    return { name, in: 'path', required: true, schema: name === 'tenant_slug' ? { ...TenantSlug, ...schema } : schema }
  })
}

function listQueryParameters ({ properties, required = [] }: TObject = Type.Object({})): Parameter[] {
  return Object.entries(properties).map(([name, schema]) => {
    return { name, in: 'query', required: required.includes(name) && schema.default === undefined, schema }
  })
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
