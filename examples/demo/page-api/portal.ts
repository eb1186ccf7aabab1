import type { PortalCapability } from 'fastify-recruiting-api'
import type { FastifyPluginAsync } from 'fastify'
import { body } from './body.js'

/** A tenant's users and their capabilities in the portal. */
const actors: Record<string, PortalCapability[]> = {
  admin: ['read', 'write', 'secrets', 'bodies', 'test', 'replay', 'keys'],
  reader: ['read']
}

const locales = ['en', 'de', 'fr', 'es', 'nl', 'pt']

interface Visitor {
  tenant: string
  actor: string
  locale: string
}

/** Creates portal sessions for the page. A real vendor takes tenant and actor from its own sign-in. */
export function portalSessions (tenantSlugs: readonly string[]): FastifyPluginAsync {
  return async (app) => {
    app.post<{ Body: Visitor }>('/demo/portal/session', {
      schema: body({ tenant: { enum: tenantSlugs }, actor: { enum: Object.keys(actors) }, locale: { enum: locales } })
    }, async ({ body: { tenant, actor, locale } }) => app.recruiting.portal.createSession({
      tenantSlug: tenant,
      actor: `${actor}@${tenant}.example`,
      capabilities: actors[actor] ?? [],
      locale
    }))
  }
}
