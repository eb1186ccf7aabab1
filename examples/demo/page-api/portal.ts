import type { PortalCapability } from 'fastify-recruiting-api'
import type { FastifyPluginAsync } from 'fastify'
import { body } from './body.js'

/** The users of a tenant, and what they may do in the portal. */
const actors: Record<string, PortalCapability[]> = {
  admin: ['read', 'write', 'secrets', 'bodies', 'test', 'replay', 'keys'],
  reader: ['read']
}

/** The languages of the portal. */
const locales = ['en', 'de', 'fr', 'es', 'nl', 'pt']

interface Visitor {
  tenant: string
  actor: string
  locale: string
}

/** Creates sessions of the portal for the page. A real vendor takes tenant and actor from its own sign-in. */
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
