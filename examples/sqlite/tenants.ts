import { RecruitingApiError, type WebhookStore } from 'fastify-recruiting-api'
import { type Kysely, type Transaction, sql } from 'kysely'
import { refuseTransaction } from './deliveries/record.js'
import type { Schema } from './schema.js'
import type { Context } from './storage.js'
import { toIso, validSecrets } from './webhooks.js'

/** Renames and removes tenants, each in one transaction, and lists those that rest. */
export function createTenants ({ db, now }: Context): Pick<WebhookStore, 'renameTenant' | 'removeTenant' | 'listResting'> {
  async function rest (trx: Transaction<Schema>, tenant: string, restSeconds: number): Promise<void> {
    if (restSeconds > 0) await trx.replaceInto('resting_tenants').values({ tenant, until: now() + restSeconds * 1000 }).execute()
  }

  return {
    async renameTenant ({ id: from }, { id: to, slug }, { reseal, restSeconds = 0, transaction }) {
      refuseTransaction(transaction)
      return db.transaction().execute(async (trx) => {
        const webhooks = await trx.selectFrom('webhooks').selectAll().where('tenant', '=', from).execute()
        if (from !== to) {
          if (await findRest(trx, to, now()) !== null) return null
          for (const table of ['webhooks', 'events'] as const) {
            if (await trx.selectFrom(table).select('id').where('tenant', '=', to).executeTakeFirst() !== undefined) return null
          }
          for (const webhook of webhooks) {
            const [secret = webhook.secret, previous = null] = validSecrets(webhook, now()).map((valid) => reseal(valid, webhook.id))
            const headers = webhook.headers && reseal(webhook.headers, webhook.id)
            await trx.updateTable('webhooks').set({ secret, previous_secret: previous, headers }).where('id', '=', webhook.id).execute()
          }
          await trx.updateTable('events').set({ tenant: to }).where('tenant', '=', from).execute()
          await rest(trx, from, restSeconds)
        }
        await trx.updateTable('webhooks').set({ tenant: to, tenant_slug: slug }).where('tenant', '=', from).execute()
        await trx.updateTable('notices').set({ notice: sql`json_set(notice, '$.tenantId', ${to}, '$.tenantSlug', ${slug})` })
          .where(sql`notice ->> 'tenantId'`, '=', from).execute()
        return webhooks.length
      })
    },

    async removeTenant (tenant, { restSeconds = 0, transaction }) {
      refuseTransaction(transaction)
      await db.transaction().execute(async (trx) => {
        const events = trx.selectFrom('events').select('id').where('tenant', '=', tenant)
        const deliveries = trx.selectFrom('deliveries').select('id').where('event_id', 'in', events)
        await trx.deleteFrom('attempts').where('delivery_id', 'in', deliveries).execute()
        await trx.deleteFrom('deliveries').where('event_id', 'in', events).execute()
        await trx.deleteFrom('events').where('tenant', '=', tenant).execute()
        await trx.deleteFrom('webhooks').where('tenant', '=', tenant).execute()
        await trx.deleteFrom('notices').where(sql`notice ->> 'tenantId'`, '=', tenant).execute()
        await rest(trx, tenant, restSeconds)
      })
      return 0
    },

    async listResting () {
      const rows = await db.selectFrom('resting_tenants').selectAll().where('until', '>', now()).execute()
      return rows.map(({ tenant, until }) => ({ tenantId: tenant, until: toIso(until) }))
    }
  }
}

/** Throws `tenant_resting` while nothing can be stored for a tenant. */
export async function assertAwake (db: Kysely<Schema>, tenant: string, time: number): Promise<void> {
  const until = await findRest(db, tenant, time)
  if (until !== null) throw new RecruitingApiError('tenant_resting', `${tenant} can be used again at ${until}`, 'tenantSlug', { until })
}

async function findRest (db: Kysely<Schema>, tenant: string, time: number): Promise<string | null> {
  const row = await db.selectFrom('resting_tenants').select('until').where('tenant', '=', tenant).where('until', '>', time).executeTakeFirst()
  return row === undefined ? null : toIso(row.until)
}
