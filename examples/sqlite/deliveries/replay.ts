import type { DeliveryStore } from 'fastify-recruiting-api'
import { sql } from 'kysely'
import type { Context } from '../storage.js'
import { newDelivery } from './record.js'

/** Queues events again. */
export function createReplaying ({ db, now, notify }: Context): Pick<DeliveryStore, 'replay'> {
  return {
    async replay (tenantSlug, webhookId, { include, eventTypes, eventIds, since, until, limit }) {
      const replayed = await db.transaction().execute(async (trx) => {
        const webhook = await trx.selectFrom('webhooks').select('event_types')
          .where('tenant_slug', '=', tenantSlug).where('id', '=', webhookId).where('status', '=', 'active').executeTakeFirst()
        if (webhook === undefined) return null

        const last = sql<string | null>`(select status from deliveries where webhook_id = ${webhookId} and event_id = events.id order by id desc limit 1)`
        let query = trx.selectFrom('events').select('id').where('tenant_slug', '=', tenantSlug)
          .where('type', 'in', sql<string>`(select value from json_each(${webhook.event_types}))`)
          .where(include === 'all' ? sql<boolean>`coalesce(${last}, '') <> 'pending'` : sql<boolean>`${last} in ('failed', 'skipped')`)
        if (eventTypes !== null) query = query.where('type', 'in', sql<string>`(select value from json_each(${JSON.stringify(eventTypes)}))`)
        if (eventIds !== null) query = query.where('id', 'in', sql<string>`(select value from json_each(${JSON.stringify(eventIds)}))`)
        if (since !== null) query = query.where('recorded_at', '>=', Date.parse(since))
        if (until !== null) query = query.where('recorded_at', '<=', Date.parse(until))

        const events = await query.orderBy('position').limit(limit + 1).execute()
        const queued = events.slice(0, limit)
        for (const { id } of queued) {
          await trx.insertInto('deliveries').values(newDelivery(id, webhookId, now(), { status: 'pending', isReplay: true })).execute()
        }
        return { queued: queued.length, truncated: events.length > limit }
      })
      notify()
      return replayed
    }
  }
}
