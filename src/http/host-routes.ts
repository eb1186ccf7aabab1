import type { FastifyPluginAsync, FastifyTypeProvider, RawServerDefault, RouteOptions } from 'fastify'
import { expect } from '../shared/expect.js'
import type { StaticOf } from '../shared/typebox.js'
import { announceDeprecation } from './deprecation.js'
import { shieldScope } from './input/validation.js'
import { redactRoute } from './log.js'
import { Conflict, errorResponses } from './schemas/errors.js'
import { capabilities } from './sessions.js'

/**
 * A Fastify plugin with the host's operations. Each route names `config: { scopes }`, all of which a key must have, and
 * the schemas of its responses. Its handler returns the response, or throws an `HttpError`.
 */
export type HostRoutes = PluginMethod['register']

/** Types requests and responses by schemas of either TypeBox. */
interface EitherTypeBox extends FastifyTypeProvider {
  validator: StaticOf<this['schema']>
  serializer: StaticOf<this['schema']>
}

type EitherPlugin = FastifyPluginAsync<Record<never, never>, RawServerDefault, EitherTypeBox>

/** A method, because its parameters are compared less strictly: plugins may use another type provider than this one. */
interface PluginMethod {
  register (app: Parameters<EitherPlugin>[0], options: Record<never, never>, done: (error?: Error) => void): void | Promise<void>
}

/** The host's operations within the tenant scope. */
export function hostRoutes (routes: HostRoutes): FastifyPluginAsync {
  return async (scope) => {
    shieldScope(scope)
    scope.addHook('onRoute', function (route) {
      assertScopes(route)
      assertCapabilities(route)
      assertSuccess(route)
      redactRoute(this, route)
      const isChange = route.method !== 'GET' && route.method !== 'HEAD'
      route.schema = {
        ...route.schema,
        response: { ...errorResponses, ...(isChange ? { 409: Conflict } : {}), ...route.schema?.response as object }
      }
      announceDeprecation(route, nameOf(route))
    })
    await scope.register(routes as FastifyPluginAsync)
  }
}

/** Refuses a route without scopes: most likely by mistake, every key of the tenant could use it. */
function assertScopes (route: RouteOptions): void {
  const scopes: unknown = route.config?.scopes
  const isValid = Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string')
  expect(isValid, 'routes', `config.scopes of ${nameOf(route)} to be an array of scopes`, scopes)
}

function assertCapabilities (route: RouteOptions): void {
  const given: unknown = route.config?.capabilities
  const isValid = given === undefined || (Array.isArray(given) && given.every((name) => capabilities.includes(name)))
  expect(isValid, 'routes', `config.capabilities of ${nameOf(route)} to be an array of ${capabilities.join(', ')}`, given)
}

/** Refuses a route without a schema for success: it could return only 204 and errors. */
function assertSuccess (route: RouteOptions): void {
  const response: object = route.schema?.response ?? {}
  const isDeclared = Object.entries(response).some(([status, schema]) => /^[23]\d\d$/.test(status) && isOneSchema(schema))
  expect(isDeclared, 'routes', `schema.response of ${nameOf(route)} to have a schema for a status such as 200`, route.schema?.response)
}

/** Refuses schemas per media type, because every response of the API is JSON. */
function isOneSchema (schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && !('content' in schema)
}

function nameOf ({ method, url }: RouteOptions): string {
  return `${[method].flat().join(', ')} ${url}`
}
