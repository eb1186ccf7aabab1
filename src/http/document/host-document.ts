import type { RouteOptions } from 'fastify'
import type { TSchema } from '@sinclair/typebox'
import { describeDefaults } from './components.js'
import { isHidden, type Operation, readOperation, requestIdHeader } from './operation.js'
import { Type } from '../../shared/typebox.js'

/** The arguments of a `swaggerTransform`, for OpenAPI 3 or Swagger 2. */
interface Described {
  route: RouteOptions
  openapiObject?: { openapi: string, components: { securitySchemes?: object } }
  swaggerObject?: { securityDefinitions?: object }
}

/**
 * Returns the config that hides a route from the document that the host creates with `@fastify/swagger`, or describes
 * it there as in the API's document. Does not change the schemas that validate.
 */
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
  return { schema: formatForHost(operation, security) }
}

/** Not `apiKey`, which the host may already use. */
const schemeName = 'recruitingApiKey'

function addScheme (parent: object, member: string, scheme: object): void {
  const description =
    'An API key of the tenant, sent as `Bearer <key>`. Each operation lists the scopes that the key needs.'
  const known: object | undefined = (parent as Record<string, object>)[member]
  Object.assign(parent, { [member]: { ...known, [schemeName]: { ...scheme, description } } })
}

/** Formats the operation as a route schema, which `@fastify/swagger` reads. */
function formatForHost ({ about, parameters, body, responses }: Operation, security: Operation['security']): object {
  const path = parameters.filter((parameter) => parameter.in === 'path')
  const query = parameters.filter((parameter) => parameter.in === 'query')
  return {
    ...about,
    security: security.map((scopes) => ({ [schemeName]: scopes })),
    params: Type.Object(Object.fromEntries(path.map(({ name, schema }) => [name, schema]))),
    querystring: {
      type: 'object',
      // Reference pages send the examples of parameters.
      properties: Object.fromEntries(query.map(({ name, schema }) => [name, withoutExamples(schema)])),
      required: query.filter(({ required }) => required).map(({ name }) => name)
    },
    ...(body === undefined ? {} : { body: describeDefaults(body, { isFilledIn: true }) }),
    response: Object.fromEntries(Object.entries(responses).map(([status, answer]) => [status, withHeaders(answer)]))
  }
}

function withHeaders ({ headers = {}, ...answer }: TSchema): TSchema {
  const all: Record<string, TSchema> = { 'x-request-id': requestIdHeader, ...headers }
  return Type.Unsafe({
    ...answer,
    headers: Object.fromEntries(Object.entries(all).map(([name, header]) => [name, withoutExamples(header)]))
  })
}

function withoutExamples ({ examples: _, ...schema }: TSchema): object {
  return schema
}
