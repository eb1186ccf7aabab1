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

/** A path parameter as the router accepts it. */
const PathPart = Type.String({ minLength: 1, maxLength: 100 })
const TenantSlug = Type.String({ ...PathPart, examples: ['acme'], description: 'The tenant that the API key belongs to' })

/** An operation as its route declares it. */
export interface Operation {
  about: Pick<OperationSchema, 'operationId' | 'tags' | 'summary' | 'description'>
  /** Alternatives; each lists all scopes that a key needs. */
  security: ReadonlyArray<readonly string[]>
  parameters: Parameter[]
  body: TObject | undefined
  responses: Record<string, TSchema>
}

export interface Parameter {
  name: string
  in: 'path' | 'query'
  required: boolean
  schema: TSchema
}

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

/** Only the tenant has a default description, because parameters of a host's route can mean anything. */
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

/** Returns whether `schema: { hide: true }` keeps a route out of the document, as with `@fastify/swagger`. */
export function isHidden ({ schema = {} }: RouteOptions): boolean {
  return (schema as OperationSchema).hide === true
}

export function readScopes ({ config }: RouteOptions): readonly string[] {
  return [...config?.scopes ?? [], ...config?.anyScope ?? []]
}

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
