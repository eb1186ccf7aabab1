import type { EventStorage } from '../../core/ports/index.js'
import { postgresStorage } from '../../storages/postgres/index.js'
import { ask } from '../../storages/postgres/session.js'
import { quoteName } from '../../storages/postgres/sql.js'
import { parseTenantId, tenantIdRule } from '../../core/shared/tenants.js'
import { isTenantSlug, tenantSlugRule } from '../../core/shared/text.js'
import { type Context, type Option, CommandError, UsageError } from './command.js'

export const webhookOption: Option = { value: 'ID', about: 'the id of the webhook', isRequired: true }

/** Opens the data of all tenants without an engine: importing one takes longer than most commands. */
export function openStorage ({ pool, schema }: Context): EventStorage {
  return postgresStorage(pool, { schema })
}

/** Finds any tenant's webhook by its id. `argument` names the id in errors; `text` describes the webhook to users. */
export async function findTarget (context: Context, argument: string, given: string) {
  const id = readId(argument, given)
  const [row] = await ask<{ tenant: string, tenant_slug: string }>(context.pool,
    `select tenant, tenant_slug from ${quoteName(context.schema)}.webhooks where id = $1`, [id])
  const webhook = row === undefined ? null : await openStorage(context).webhooks.find(row.tenant, id)
  if (row === undefined || webhook === null) throw new CommandError(`${argument}: there is no webhook ${id}`)
  const tenant = { slug: row.tenant_slug, id: row.tenant }
  Object.assign(context.audit, { tenantSlug: tenant.slug, resource: { kind: 'webhook', id } })
  const text = `webhook ${id} ${JSON.stringify(webhook.name)} of ${tenant.slug}, ${webhook.target_url}`
  return { tenant, id, webhook, text }
}

export function readId (argument: string, given: string): number {
  if (!/^[1-9]\d{0,14}$/.test(given)) {
    throw new UsageError(`${argument}: expected an id such as 12, got ${JSON.stringify(given)}`)
  }
  return Number(given)
}

export const tenantOption: Option = {
  value: 'ID',
  about: 'the tenant: its id, or its slug if your servers have no option tenantId',
  isRequired: true
}

export function readTenant (argument: string, given: string): string {
  return parseTenantId(given) ?? reject(argument, tenantIdRule, given)
}

export function readSlug (argument: string, given: string): string {
  return isTenantSlug(given) ? given : reject(argument, tenantSlugRule, given)
}

function reject (argument: string, expected: string, given: string): never {
  throw new UsageError(`${argument}: expected ${expected}, got ${JSON.stringify(given)}`)
}
