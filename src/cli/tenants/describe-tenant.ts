import { ask } from '../../postgres/session.js'
import { quoteName } from '../../postgres/sql.js'
import { type Context, RefusedError } from '../command.js'
import { readTenant } from './read-tenant.js'

/** Counts what a tenant has, in words. Throws if it has nothing. */
export async function describeTenant ({ pool, schema: name }: Pick<Context, 'pool' | 'schema'>, argument: string, given: string): Promise<string> {
  const tenantSlug = readTenant(argument, given)
  const schema = quoteName(name)
  const [counts] = await ask<Record<'webhooks' | 'keys' | 'tenants', number>>(pool, `
    select (select count(*)::int from ${schema}.webhooks where tenant_slug = $1) as webhooks,
      (select count(*)::int from ${schema}.api_keys where tenant_slug = $1) as keys,
      (select count(*)::int from ${schema}.tenants where slug = $1) as tenants`, [tenantSlug])
  const { webhooks, keys, tenants } = { webhooks: 0, keys: 0, tenants: 0, ...counts }
  if (webhooks + keys + tenants === 0) throw new RefusedError(`the tenant ${tenantSlug} has nothing here`)
  return `${webhooks} webhooks, ${keys} keys, and its events with their deliveries`
}
