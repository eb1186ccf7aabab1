import type { EventStorage, Webhook } from '../../ports/index.js'
import { postgresStorage } from '../../postgres/index.js'
import { ask } from '../../postgres/session.js'
import { quoteName } from '../../postgres/sql.js'
import { type Context, type Option, RefusedError, UsageError } from '../command.js'

/** The option of commands about the deliveries of a webhook. */
export const webhookOption: Option = { value: 'ID', about: 'the webhook', isRequired: true }

/** The webhooks and deliveries of all tenants. Without an engine, which takes longer to import than most commands run. */
export function openStorage ({ pool, schema }: Context): EventStorage {
  return postgresStorage(pool, { schema })
}

/** A webhook and its tenant. */
export interface Target {
  tenantSlug: string
  id: number
  webhook: Webhook
  /** Its id, name, tenant and address, for people. */
  text: string
}

/** Finds a webhook of any tenant by its id. `argument` names it in errors. */
export async function findTarget (context: Context, argument: string, given: string): Promise<Target> {
  const id = readId(argument, given)
  const [row] = await ask<{ tenant: string }>(context.pool, `select tenant_slug as tenant from ${quoteName(context.schema)}.webhooks where id = $1`, [id])
  const webhook = row === undefined ? null : await openStorage(context).webhooks.find(row.tenant, id)
  if (row === undefined || webhook === null) throw new RefusedError(`${argument}: there is no webhook ${id}`)
  return { tenantSlug: row.tenant, id, webhook, text: `webhook ${id} (${webhook.name}) of ${row.tenant}, ${webhook.target_url}` }
}

/** Reads the id of a webhook or delivery. */
export function readId (argument: string, given: string): number {
  if (!/^[1-9]\d{0,14}$/.test(given)) throw new UsageError(`${argument}: expected an id such as 12, got ${JSON.stringify(given)}`)
  return Number(given)
}
