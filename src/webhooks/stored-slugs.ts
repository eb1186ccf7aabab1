import type { Logger } from '../observe/logger.js'
import type { WebhookStore } from '../ports/index.js'
import type { Tenants } from '../shared/tenants.js'

const maxAsked = 100

/**
 * Logs an error if webhooks or keys were stored by slug before the option `tenantId` was set: the keys then get 401,
 * and events reach none of the webhooks. Resolves when the storage has answered. Never rejects: calls and requests
 * report what else is wrong with the storage or the option.
 */
export async function reportStoredSlugs (
  webhooks: Pick<WebhookStore, 'listIdsLikeSlugs'>, tenants: Pick<Tenants, 'hasIds' | 'find'>, log: Logger
): Promise<void> {
  if (!tenants.hasIds) return
  const slugs = await webhooks.listIdsLikeSlugs?.(maxAsked).catch(() => []) ?? []
  reportFirst(slugs, tenants, log).catch(() => {})
}

async function reportFirst (slugs: readonly string[], tenants: Pick<Tenants, 'find'>, log: Logger): Promise<void> {
  for (const slug of slugs) {
    const tenant = await tenants.find(slug)
    if (tenant === null || tenant.id === slug) continue
    return log.error({ tenantSlug: slug, tenantId: tenant.id }, message)
  }
}

const message = 'webhooks and keys are stored by slug, but the option tenantId returns another id: ' +
  'their keys get 401, and events do not reach them, until you run fastify-recruiting-api tenants use-ids'
