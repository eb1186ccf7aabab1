import { type Delivery, type DeliveryStore, type ReplaySelection, createFilterTest } from 'fastify-recruiting-api'
import { sql } from 'kysely'
import type { Context } from '../storage.js'
import { createLog } from './log.js'
import { newDelivery } from './record.js'
import { parseFilters } from '../webhooks.js'

/** Queues events again, and retries single deliveries. */
export function createReplaying ({ db, now, notify }: Context): Pick<DeliveryStore, 'replay' | 'countReplay' | 'retry'> {
  return {
    async replay (tenant, webhookId, selection) {
      const replayed = await db.transaction().execute(async (trx) => {
        const wanted = await select(trx, tenant, webhookId, selection)
        if (wanted === null) return null
        for (const id of wanted.events) {
          await trx.insertInto('deliveries').values(newDelivery(id, webhookId, now(), { status: 'pending', isReplay: true })).execute()
        }
        return { queued: wanted.events.length, truncated: wanted.truncated }
      })
      notify()
      return replayed
    },

    async countReplay (tenant, webhookId, selection) {
      const wanted = await select(db, tenant, webhookId, selection)
      return wanted === null ? null : { queued: wanted.events.length, truncated: wanted.truncated }
    },

    async retry (tenant, webhookId, id) {
      const retried = await db.transaction().execute(async (trx): Promise<Delivery | null> => {
        const time = now()
        const delivery = await trx.selectFrom('deliveries').innerJoin('webhooks', 'webhooks.id', 'webhook_id').select('event_id')
          .where('tenant', '=', tenant).where('webhooks.id', '=', webhookId).where('webhooks.status', '=', 'active')
          .where('deliveries.id', '=', id).executeTakeFirst()
        if (delivery === undefined) return null
        const { event_id: eventId } = delivery
        const pending = await trx.selectFrom('deliveries').select('id')
          .where('webhook_id', '=', webhookId).where('event_id', '=', eventId).where('status', '=', 'pending').executeTakeFirst()
        const next = pending ?? await trx.insertInto('deliveries')
          .values(newDelivery(eventId, webhookId, time, { status: 'pending', isReplay: true })).returning('id').executeTakeFirstOrThrow()
        await trx.updateTable('deliveries').set({ next_attempt_at: sql`min(next_attempt_at, ${time})` })
          .where('id', '=', next.id).where('lease_expires_at', '<=', time).execute()
        const [shown = null] = await createLog({ db: trx, now, notify }).list(tenant, webhookId, {
          filter: { eventId }, sort: [{ field: 'id', direction: 'desc' }], offset: 0, limit: 1
        })
        return shown
      })
      notify()
      return retried
    }
  }
}

/** Selects the events to queue. Returns `null` if the webhook does not exist or is not active. */
async function select (
  db: Context['db'],
  tenant: string,
  webhookId: number,
  { include, eventTypes, eventIds, since, until, limit }: ReplaySelection
): Promise<{ events: string[], truncated: boolean } | null> {
  const webhook = await db.selectFrom('webhooks').select(['event_types', 'filters'])
    .where('tenant', '=', tenant).where('id', '=', webhookId).where('status', '=', 'active').executeTakeFirst()
  if (webhook === undefined) return null

  const last = sql<string | null>`(select status from deliveries where webhook_id = ${webhookId} and event_id = events.id order by id desc limit 1)`
  let query = db.selectFrom('events').select(['id', 'body']).where('tenant', '=', tenant)
    .where('type', 'in', sql<string>`(select value from json_each(${webhook.event_types}))`)
    .where(include === 'all' ? sql<boolean>`coalesce(${last}, '') <> 'pending'` : sql<boolean>`${last} in ('failed', 'skipped')`)
  if (eventTypes !== null) query = query.where('type', 'in', sql<string>`(select value from json_each(${JSON.stringify(eventTypes)}))`)
  if (eventIds !== null) query = query.where('id', 'in', sql<string>`(select value from json_each(${JSON.stringify(eventIds)}))`)
  if (since !== null) query = query.where('recorded_at', '>=', Date.parse(since))
  if (until !== null) query = query.where('recorded_at', '<=', Date.parse(until))

  const filters = parseFilters(webhook.filters)
  const inOrder = query.orderBy('position')
  const events = filters === null
    ? await inOrder.limit(limit + 1).execute()
    : (await inOrder.execute()).filter(({ body }) => createFilterTest(body)(filters))
  return { events: events.slice(0, limit).map(({ id }) => id), truncated: events.length > limit }
}
