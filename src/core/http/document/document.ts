import type { TObject, TSchema } from '@sinclair/typebox'
import type { RouteOptions } from 'fastify'
import { mapValues } from '../../shared/fields.js'
import { DateTimeOf, exampleOf, Type } from '../../shared/typebox.js'
import { describeDeprecation } from '../../shared/deprecation.js'
import { type EventSchemas, splitEvent } from '../../api/catalogue.js'
import { Changed, eventIdExample, Sequence } from '../../api/events.js'
import { sessionScopes } from '../auth.js'
import { requiredCapabilities } from '../sessions.js'
import type { OpenApiSettings } from '../options.js'
import {
  Components, describeDefaults, formatOperation, isHidden, type Operation, readOperation, readScopes, readTags,
  requestIdHeader, splitTypes
} from './operation.js'

/** Formats the OpenAPI 3.1 document of all visible routes, from the schemas that validate and serialize. */
export function formatDocument (
  all: readonly RouteOptions[],
  events: EventSchemas,
  { openapi: { info, servers }, publicUrl }: { openapi: OpenApiSettings, publicUrl: string }
): object {
  const routes = all.filter((route) => !isHidden(route))
  const components = new Components()
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, '{$1}')
    const operation = formatOperation(readOperation(route), components)
    for (const method of [route.method].flat()) paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  }
  return {
    openapi: '3.1.0',
    info: { ...defaultInfo, ...info },
    servers: servers.length > 0 ? servers : [publicUrl === '' ? servingServer : { url: publicUrl }],
    tags: listTags(routes),
    paths,
    webhooks: mapValues(events, (data, name) => ({ post: formatEvent(name, data, components) })),
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: describeKeys(routes) } },
      parameters: signatureParameters,
      ...components.format()
    }
  }
}

const servingServer = { url: '/', description: 'The server that serves this document' }

const defaultInfo = {
  title: 'Recruiting API',
  version: 'v1',
  description: [
    'Read the candidates and jobs of one tenant, and manage webhooks that receive its events.',
    'Every path contains the tenant, and every request needs one of its API keys as a bearer token.',
    'Unknown parameters and body fields are rejected. ' +
      'New fields, operations and events may be added, so ignore unknown ones.'
  ].join('\n\n'),
  contact: { name: 'The vendor of your applicant tracking system' }
}

const tagDescriptions: Record<string, string> = {
  candidates: 'The people in the applicant tracking system',
  jobs: 'The positions of the tenant, in any status',
  webhooks: 'Your endpoints that receive events, signed according to Standard Webhooks 1.0',
  deliveries: 'The notifications sent to a webhook',
  events: 'Events in the applicant tracking system, as a list to read and as notifications to your endpoints',
  subscriptions: "Agents' subscriptions to events, which they created over MCP",
  api_keys: 'The keys that your programs use to call this API'
}

function listTags (routes: readonly RouteOptions[]): object[] {
  const names = new Set([...routes.flatMap(readTags), 'events'])
  return Array.from(names, (name) => ({ name, description: tagDescriptions[name] ?? name }))
}

function describeKeys (routes: readonly RouteOptions[]): string {
  const scopes = [...new Set(routes.flatMap(readScopes))].sort().map((scope) => `\`${scope}\``)
  return [
    'An API key of the tenant. It can be limited to some networks, and to some fields of candidates and jobs. ' +
    'Each operation lists the scopes that the key needs.',
    ...scopes
  ].join('\n- ')
}

/** Headers of every notification, as components. */
const signatureParameters = Object.fromEntries([
  ['webhook-id', "The event's id, the same for every attempt and replay. Use it to deduplicate", eventIdExample],
  ['webhook-timestamp', 'When this attempt was signed, in seconds since the epoch', '1767225600'],
  ['webhook-signature', 'One v1,<base64> for each valid secret, separated by spaces (Standard Webhooks 1.0)',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=']
].map(([name = '', description, example]) =>
  [name, { name, in: 'header', required: true, description, schema: { type: 'string' }, example }]))

/** Formats an event's notification, and the meaning of the receiver's responses. */
function formatEvent (name: string, declared: TObject, components: Components): object {
  const { schema: { description: summary = name, ...data }, deprecation } = splitEvent(declared)
  const head = {
    id: Type.String({ description: 'The same as the header webhook-id', examples: [eventIdExample] }),
    type: Type.Literal(name),
    timestamp: DateTimeOf('When it happened'),
    sequence: Sequence,
    tenant_slug: Type.String({ description: 'The tenant of the event', examples: ['acme'] }),
    changed: Changed
  }
  const notification = Type.Object({
    ...head,
    data: Type.Unsafe(describeDefaults(data, { isFilledIn: false })),
    test: Type.Optional(
      Type.Literal(true, { description: 'Present only in test notifications, which receivers should ignore' })
    )
  })
  const tombstone = Type.Object(
    {
      ...head,
      data: Type.Null({ description: 'The data was erased' }),
      erased: Type.Literal(true, {
        description: "Present only if the event's subject was erased. Delete everything that you derived from its data"
      })
    },
    { description: 'The tombstone that replays of an erased event send' }
  )
  const { changed, ...shown } = exampleOf(notification) as { changed?: unknown }
  const example = { ...shown, data: exampleOfData(data) }
  return {
    operationId: `on.${name}`,
    tags: ['events'],
    summary,
    description: [
      ...(deprecation === null ? [] : [describeDeprecation(deprecation)]),
      'Sent at least once to every active webhook that subscribes to it, in any order: compare `sequence`.'
    ].join('\n\n'),
    ...(data.deprecated === true ? { deprecated: true } : {}),
    security: [],
    parameters: Object.keys(signatureParameters).map((header) => ({ $ref: `#/components/parameters/${header}` })),
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: components.schema(Type.Unsafe({ anyOf: [notification, tombstone] })), example }
      }
    },
    responses: {
      '2XX': { description: 'Delivered. The body is ignored', headers: { 'webhook-delivery': control } },
      410: { description: 'Disables the webhook' },
      413: { description: 'Not delivered and not retried' },
      default: { description: 'Not delivered; will be retried', headers: { 'webhook-delivery': control } }
    }
  }
}

/** The response header that controls further notifications. */
const control = {
  description: 'disable: disables the webhook; abort: this notification is not retried',
  schema: { type: 'string', enum: ['disable', 'abort'] }
}

/** Returns an object with an id if the schema accepts any object. */
function exampleOfData (data: TObject): unknown {
  return Object.keys(data.properties).length === 0 && data.examples === undefined ? { id: 1 } : exampleOf(data)
}

/** Returns a route's description with the capabilities that a portal session needs, if it needs more than `read`. */
export function describeCapabilities (route: RouteOptions): { description?: string } {
  const note = noteCapabilities(route)
  if (note === null) return {}
  const { description } = { ...route.schema } as { description?: string }
  return { description: [description, note].filter((part) => part !== undefined).join('\n\n') }
}

/** Returns what a portal session needs for a route; `null` if it needs only `read` or has no access. */
export function noteCapabilities (route: RouteOptions): string | null {
  const needed = requiredCapabilities(route).filter((name) => name !== 'read').map((name) => `\`${name}\``)
  if (needed.length === 0 || !isOpenToSessions(route)) return null
  return `A portal session needs ${needed.join(' and ')}.`
}

function isOpenToSessions ({ config }: RouteOptions): boolean {
  const { scopes = [], anyScope } = config ?? {}
  const has = (scope: string): boolean => sessionScopes.includes(scope)
  return scopes.every(has) && (anyScope === undefined || anyScope.some(has))
}

/** The arguments of a `swaggerTransform`, for OpenAPI 3 or Swagger 2. */
interface Described {
  route: RouteOptions
  openapiObject?: { openapi: string, components: { securitySchemes?: object } }
  swaggerObject?: { securityDefinitions?: object }
}

/** Returns the config that hides a route from `@fastify/swagger`, or describes it as in the API's document. */
export function inHostDocument (isShown: boolean): object {
  return { swaggerTransform: isShown ? describe : hide }
}

function hide (): object {
  return { schema: { hide: true } }
}

function describe ({ route, openapiObject, swaggerObject }: Described): object {
  if (isHidden(route)) return hide()
  if (openapiObject !== undefined) {
    addScheme(openapiObject.components, 'securitySchemes', { type: 'http', scheme: 'bearer' })
  }
  if (swaggerObject !== undefined) {
    addScheme(swaggerObject, 'securityDefinitions', { type: 'apiKey', in: 'header', name: 'Authorization' })
  }
  // Before OpenAPI 3.1, bearer schemes cannot list scopes.
  const hasRoles = openapiObject !== undefined && !openapiObject.openapi.startsWith('3.0')
  const operation = readOperation(route)
  const security = hasRoles ? operation.security : [[]]
  return { schema: splitTypes(formatForHost(operation, security)) as object }
}

/** Not `apiKey`, which the host may use already. */
const schemeName = 'recruitingApiKey'

function addScheme (parent: object, member: string, scheme: object): void {
  const description =
    'An API key of the tenant, sent as `Bearer <key>`. Each operation lists the scopes that the key needs.'
  const known: object | undefined = (parent as Record<string, object>)[member]
  Object.assign(parent, { [member]: { ...known, [schemeName]: { ...scheme, description } } })
}

/** Formats the operation as a route schema for `@fastify/swagger`. */
function formatForHost ({ about, parameters, body, responses }: Operation, security: Operation['security']): object {
  const path = parameters.filter((parameter) => parameter.in === 'path')
  const query = parameters.filter((parameter) => parameter.in === 'query')
  return {
    ...about,
    security: security.map((scopes) => ({ [schemeName]: scopes })),
    params: Type.Object(Object.fromEntries(path.map(({ name, schema }) => [name, schema]))),
    querystring: {
      type: 'object',
      // Reference pages would send the parameters' examples.
      properties: Object.fromEntries(query.map(({ name, schema }) => [name, withoutExamples(schema)])),
      required: query.filter(({ required }) => required).map(({ name }) => name)
    },
    ...(body === undefined ? {} : { body: describeDefaults(body, { isFilledIn: true }) }),
    response: mapValues(responses, withHeaders)
  }
}

function withHeaders ({ headers = {}, ...answer }: TSchema): TSchema {
  return Type.Unsafe({ ...answer, headers: mapValues({ 'x-request-id': requestIdHeader, ...headers }, withoutExamples) })
}

function withoutExamples ({ examples: _, ...schema }: TSchema): object {
  return schema
}
