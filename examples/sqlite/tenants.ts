import type { WebhookStore } from 'fastify-recruiting-api'
import { sql } from 'kysely'
import { refuseTransaction } from './deliveries/record.js'
import type { Context } from './storage.js'

/** Renames and removes tenants, each in one transaction. */
export function createTenants ({ db }: Context): Pick<WebhookStore, 'renameTenant' | 'removeTenant'> {
  return {
    async renameTenant (from, to, { reseal, transaction }) {
      refuseTransaction(transaction)
      return db.transaction().execute(async (trx) => {
        for (const table of ['webhooks', 'events'] as const) {
          if (await trx.selectFrom(table).select('id').where('tenant_slug', '=', to).executeTakeFirst() !== undefined) return null
        }
        const webhooks = await trx.selectFrom('webhooks').selectAll().where('tenant_slug', '=', from).execute()
        for (const { id, secret, previous_secret: previous } of webhooks) {
          await trx.updateTable('webhooks').set({
            tenant_slug: to, secret: reseal(secret, id), previous_secret: previous && reseal(previous, id)
          }).where('id', '=', id).execute()
        }
        await trx.updateTable('events').set({ tenant_slug: to }).where('tenant_slug', '=', from).execute()
        await trx.updateTable('notices').set({ notice: sql`json_set(notice, '$.tenantSlug', ${to})` })
          .where(sql`notice ->> 'tenantSlug'`, '=', from).execute()
        return webhooks.length
      })
    },

    async removeTenant (tenantSlug, { transaction }) {
      refuseTransaction(transaction)
      await db.transaction().execute(async (trx) => {
        const events = trx.selectFrom('events').select('id').where('tenant_slug', '=', tenantSlug)
        const deliveries = trx.selectFrom('deliveries').select('id').where('event_id', 'in', events)
        await trx.deleteFrom('attempts').where('delivery_id', 'in', deliveries).execute()
        await trx.deleteFrom('deliveries').where('event_id', 'in', events).execute()
        await trx.deleteFrom('events').where('tenant_slug', '=', tenantSlug).execute()
        await trx.deleteFrom('webhooks').where('tenant_slug', '=', tenantSlug).execute()
        await trx.deleteFrom('notices').where(sql`notice ->> 'tenantSlug'`, '=', tenantSlug).execute()
      })
      return 0
    }
  }
}
