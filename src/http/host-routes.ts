import type { FastifyPluginAsync, RouteOptions } from 'fastify'
import { expect } from '../expect.js'
import type { HostRoutes } from '../options.js'
import { errorResponses } from './schemas/errors.js'

/** The host's own operations within the tenant scope. */
export function hostRoutes (routes: HostRoutes): FastifyPluginAsync {
  return async (scope) => {
    scope.addHook('onRoute', (route) => {
      assertScopes(route)
      route.schema = { ...route.schema, response: { ...errorResponses, ...route.schema?.response as object } }
    })
    await scope.register(routes as FastifyPluginAsync)
  }
}

/** A route that names no scopes would be open to every key of the tenant, most likely by mistake. */
function assertScopes ({ method, url, config }: RouteOptions): void {
  const scopes: unknown = config?.scopes
  const isValid = Array.isArray(scopes) && scopes.every((scope) => typeof scope === 'string')
  expect(isValid, 'routes', `config.scopes of ${[method].flat().join(', ')} ${url} to be an array of scopes`, scopes)
}
