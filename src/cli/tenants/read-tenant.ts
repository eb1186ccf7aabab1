import { isTenantSlug, tenantSlugRule } from '../../shared/text.js'
import { UsageError } from '../command.js'

/** Checks the name of a tenant. `argument` names it in errors. */
export function readTenant (argument: string, given: string): string {
  if (!isTenantSlug(given)) throw new UsageError(`${argument}: expected ${tenantSlugRule}, got ${JSON.stringify(given)}`)
  return given
}
