import type { FastifyContextConfig, FastifyInstance, RouteOptions } from 'fastify'
import { webhookScopes } from '../routes/webhook-scopes.js'
import { requiredCapabilities } from '../sessions.js'

/** Adds to the description of each route which capabilities a session of the portal needs, unless it is only `read`. */
export function describeCapabilities (scope: FastifyInstance): void {
  scope.addHook('onRoute', (route) => {
    const needed = requiredCapabilities(route).filter((name) => name !== 'read').map((name) => `\`${name}\``)
    if (needed.length === 0 || !isOpenToSessions(route)) return
    const { description, ...schema } = route.schema as { description?: string }
    const parts = [description, `A session of the portal needs ${needed.join(' and ')}.`]
    Object.assign(route, { schema: { ...schema, description: parts.filter((part) => part !== undefined).join('\n\n') } })
  })
}

/** Sessions have the scopes of webhooks and no other. */
function isOpenToSessions ({ config }: RouteOptions): boolean {
  const { scopes = [], anyScope } = config as FastifyContextConfig
  const has = (scope: string): boolean => webhookScopes.includes(scope)
  return scopes.every(has) && (anyScope === undefined || anyScope.some(has))
}
