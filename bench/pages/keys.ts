import { apiKey, scopes } from '../list/candidates.js'
import { bigTenant, smallTenant } from './tables.js'

/** One key a tenant. */
export const apiKeys = [bigTenant, smallTenant].map((tenantSlug) => ({ key: keyOf(tenantSlug), tenantSlug, scopes }))

export function keyOf (tenantSlug: string): string {
  return `${apiKey}${tenantSlug}`
}
