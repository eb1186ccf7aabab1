import type { FastifyInstance, RouteOptions } from 'fastify'
import { type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import type { EventCatalogue } from '../webhooks/events.js'
import { DateTime } from './schemas/common.js'

interface OperationSchema {
  operationId?: string
  tags?: readonly string[]
  summary?: string
  description?: string
  params?: TObject
  querystring?: TObject
  body?: TObject
  response?: Record<string, TSchema>
}

/** Notes the routes that are added to a scope from now on; HEAD goes without saying. */
export function collectRoutes (scope: FastifyInstance): RouteOptions[] {
  const routes: RouteOptions[] = []
  scope.addHook('onRoute', (route) => { if (route.method !== 'HEAD') routes.push(route) })
  return routes
}

/** The OpenAPI 3.1 document of the routes, made from the schemas that validate and serialize. */
export function formatDocument (routes: readonly RouteOptions[], events: EventCatalogue): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, '{$1}')
    const names = Array.from(route.url.matchAll(/:(\w+)/g), ([, name = '']) => name)
    paths[path] = { ...paths[path], [String(route.method).toLowerCase()]: formatOperation(route, names) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Recruiting API',
      version: 'v1',
      description: 'Lists candidates and jobs of one tenant, and manages the webhooks that are told of events.'
    },
    servers: [{ url: '/' }],
    paths,
    webhooks: Object.fromEntries(Object.entries(events).map(([name, data]) => [name, { post: formatEvent(name, data) }])),
    components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'The API key of the tenant' } } }
  }
}

function formatOperation ({ schema = {}, config = {} }: RouteOptions, pathNames: readonly string[]): object {
  const { params, querystring, body, response = {}, operationId, tags, summary, description } = schema as OperationSchema
  const pathSchemas = Object.fromEntries(pathNames.map((name) => [name, params?.properties[name] ?? Type.String()]))
  return {
    operationId,
    tags,
    summary,
    description,
    security: config.anyScope?.map((scope) => ({ apiKey: [scope] })) ?? [{ apiKey: config.scopes ?? [] }],
    parameters: [...formatParameters('path', pathSchemas), ...formatParameters('query', querystring?.properties)],
    ...(body === undefined ? {} : { requestBody: formatBody(body) }),
    responses: Object.fromEntries(Object.entries(response).map(([status, answer]) => [status, formatResponse(answer)]))
  }
}

function formatParameters (place: 'path' | 'query', schemas: TProperties = {}): object[] {
  return Object.entries(schemas).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    description,
    required: place === 'path',
    schema: rest
  }))
}

/** A body may be left out if an empty one would do. */
function formatBody (schema: TObject): object {
  const needed = (schema.required ?? []).filter((name) => schema.properties[name]?.default === undefined)
  const required = needed.length > 0 || (schema.minProperties ?? 0) > 0
  // What has a default need not be sent, though it is always there once validated.
  return { required, content: { 'application/json': { schema: { ...schema, required: needed } } } }
}

function formatResponse ({ description = '', ...schema }: TSchema): object {
  if (schema.type === 'null') return { description }
  return { description, content: { 'application/json': { schema } } }
}

const signatureHeaders = {
  'webhook-id': "The event's id, the same at every attempt and replay: receivers deduplicate by it",
  'webhook-timestamp': 'When this attempt was signed, in seconds since the epoch',
  'webhook-signature': 'One v1,<base64> for each secret that is valid, separated by spaces (Standard Webhooks 1.0)'
}

function formatEvent (name: string, data: TObject): object {
  const body = Type.Object({
    id: Type.String(),
    type: Type.Literal(name),
    timestamp: DateTime,
    tenant_slug: Type.String(),
    data,
    test: Type.Optional(Type.Literal(true, { description: 'Only there in a test notification' }))
  })
  return {
    operationId: `on ${name}`,
    summary: name,
    security: [],
    parameters: Object.entries(signatureHeaders).map(([header, description]) => ({
      name: header, in: 'header', required: true, description, schema: { type: 'string' }
    })),
    requestBody: { required: true, content: { 'application/json': { schema: body } } },
    responses: {
      '2XX': { description: 'Delivered' },
      410: { description: 'Gone: the webhook is disabled' },
      default: { description: 'Not delivered: it is tried again' }
    }
  }
}
