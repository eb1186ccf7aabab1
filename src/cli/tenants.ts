import { postgresStorage } from '../postgres/index.js'
import { ask } from '../postgres/session.js'
import { quoteName } from '../postgres/sql.js'
import { systemClock } from '../shared/clock.js'
import { createTenants } from '../shared/tenants.js'
import type { EngineCalls } from '../webhooks/recruiting.js'
import { createSecretBox, type SecretBox } from '../webhooks/secrets.js'
import { createTenantOperations } from '../webhooks/tenants.js'
import { type Command, type Context, type Option, RefusedError } from './command.js'
import { readSlug, readTenant } from './find.js'
import { readSecretKeys, secretKeysOption } from './secrets.js'
import { confirm, formatCount, showResult, withProgress } from './terminal.js'

const tenantOption: Option = { value: 'ID', about: "the tenant's id, if your servers have the option tenantId" }

export const rename: Command = {
  args: ['FROM', 'TO'],
  options: { tenant: tenantOption, 'secret-keys': secretKeysOption },

  async run (context) {
    const { args: [from = '', to = ''] } = context
    const box = createSecretBox(await readSecretKeys(context), systemClock)
    const { id, counts } = await describeTenant(context, 'FROM', from)
    const { renameTenant } = openTenants(context, id, box)
    const yours =
      id === null
        ? ' Rename its candidates and jobs yourself. Nothing can use the old name for 61 minutes.'
        : ' Only its name in logs, notices and keys changes.'
    Object.assign(context.audit, { tenantSlug: from, resource: { kind: 'tenant', id: to } })
    await confirm(context, `Renames the tenant ${from} to ${to}: ${counts}.${yours}`)
    const { webhooks } = await renameTenant(from, to)
    showResult(context, { from, to, webhooks }, [`renamed ${from} to ${to}, with ${formatCount(webhooks, 'webhook')}`])
    return 0
  }
}

export const remove: Command = {
  args: ['TENANT'],
  options: { tenant: tenantOption },

  async run (context) {
    const { args: [tenantSlug = ''], io } = context
    const { id, counts } = await describeTenant(context, 'TENANT', tenantSlug)
    const { removeTenant } = openTenants(context, id, createSecretBox([], systemClock))
    const rest = id === null ? ' Nothing can use its name for 61 minutes.' : ''
    Object.assign(context.audit, { tenantSlug, resource: { kind: 'tenant', id: tenantSlug } })
    await confirm(context, `Deletes the tenant ${tenantSlug} permanently: ${counts}.${rest}`)
    await withProgress(io, 'deleting', () => removeTenant(tenantSlug))
    showResult(context, { removed: tenantSlug }, [`removed ${tenantSlug}`])
    return 0
  }
}

/** Opens the calls of a server; with an id, of one that has the option `tenantId`. */
function openTenants (
  { pool, schema }: Context,
  id: string | null,
  box: SecretBox
): Pick<EngineCalls, 'renameTenant' | 'removeTenant'> {
  const { webhooks } = postgresStorage(pool, { schema })
  const tenants = createTenants({
    tenantId: id === null ? null : () => id,
    tenantSlug: null,
    webhooks,
    clock: systemClock
  })
  return createTenantOperations(webhooks, tenants, box, () => {})
}

/**
 * Returns the id of a tenant, `null` if it equals the slug, and counts its records, in words. Throws if it has none.
 */
async function describeTenant (
  context: Context,
  argument: string,
  given: string
): Promise<{ id: string | null; counts: string }> {
  const slug = readSlug(argument, given)
  const option = context.flags.text('tenant')
  const id = option === undefined ? null : readTenant('--tenant', option)
  const schema = quoteName(context.schema)
  const [counts] = await ask<{ webhooks: number; keys: number; has_events: boolean }>(
    context.pool,
    `
    select (select count(*)::int from ${schema}.webhooks where tenant = $1) as webhooks,
      (select count(*)::int from ${schema}.api_keys where tenant = $1) as keys,
      exists (select from ${schema}.events where tenant_key = coalesce((select key from ${schema}.tenants
        where tenant = $1), $1)) as has_events`,
    [id ?? slug]
  )
  if (id !== null) await assertName(context, argument, slug, id)
  const { webhooks, keys, has_events: hasEvents } = { webhooks: 0, keys: 0, has_events: false, ...counts }
  if (webhooks + keys === 0 && !hasEvents) {
    throw new RefusedError(`the tenant ${id ?? slug} has no webhooks, keys or events`)
  }
  return {
    id,
    counts: `${id === null ? '' : `id ${id}, `}${formatCount(webhooks, 'webhook')}, ${formatCount(keys, 'key')}, and its events with their deliveries`
  }
}

/** Throws for an id whose webhooks and keys were created under other names: most likely a mistake. */
async function assertName ({ pool, schema }: Context, argument: string, slug: string, id: string): Promise<void> {
  const names = await ask<{ name: string }>(pool, `
    select tenant_slug as name from ${quoteName(schema)}.webhooks where tenant = $1
    union select tenant_slug from ${quoteName(schema)}.api_keys where tenant = $1`, [id])
  if (names.length === 0 || names.some(({ name }) => name === slug)) return
  throw new RefusedError(
    `${argument}: the tenant with the id ${id} is ${names.map(({ name }) => name).join(' or ')}, not ${slug}`
  )
}
