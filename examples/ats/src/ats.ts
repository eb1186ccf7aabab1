import Fastify, { type FastifyInstance } from 'fastify'
import recruitingApi, {
  type AuditListener,
  type KeyLookup,
  type RecruitingStorage,
  apiScopes
} from 'fastify-recruiting-api'
import { type Applications, applicationRoutes } from './applications.js'
import type { Companies } from './companies.js'
import type { Config } from './config.js'
import { type FindUser, addSettingsPage, rejectOtherNames } from './settings-page.js'

export interface AtsParts extends Pick<Config, 'secretKeys' | 'portalKeys' | 'delivery'> {
  storage: RecruitingStorage
  keyLookup: KeyLookup
  companies: Companies
  applications: Applications
  findUser: FindUser
  /** Whether everyone who reaches the server is signed in. */
  hasDeveloper?: boolean
  host?: string
  /** Writes the audit log. */
  onAudit: AuditListener
  logLevel?: string
}

/** Limits by plan. */
const plans = {
  free: { requests: 60, webhooks: 1 },
  pro: { requests: 600, webhooks: 50 }
}

/** Replace this with your table of companies. */
function findPlan (company: string): typeof plans.free {
  return company === 'acme' ? plans.pro : plans.free
}

/** Builds the server: the API, your own operations and the settings page. */
export async function buildAts (parts: AtsParts): Promise<FastifyInstance> {
  const {
    storage,
    keyLookup,
    companies,
    applications,
    findUser,
    hasDeveloper = false,
    host = 'localhost',
    onAudit,
    secretKeys,
    portalKeys,
    delivery,
    logLevel = 'warn'
  } = parts
  const app = Fastify({ logger: { level: logLevel } })
  // Before all routes, so that it applies to each of them.
  if (hasDeveloper) app.addHook('onRequest', rejectOtherNames(host))
  await app.register(recruitingApi, {
    storage,
    keyLookup,
    tenantId: companies.findId,
    tenantSlug: companies.findSlug,
    secretKeys,
    delivery,
    onAudit,
    errorDetails: true,
    requireSubject: true,
    maxWebhooksPerTenant: ({ tenantSlug }) => findPlan(tenantSlug).webhooks,
    rateLimit: { perTenant: true, max: ({ tenantSlug }) => findPlan(tenantSlug).requests },
    routes: applicationRoutes(applications),
    portal: {
      secretKeys: portalKeys,
      frameAncestors: ['self'],
      keys: { scopes: [...apiScopes, 'applications:read', 'applications:write'] }
    }
  })
  addSettingsPage(app, findUser)
  app.get('/', async (_request, reply) => reply.redirect('/settings/webhooks'))
  return app
}
