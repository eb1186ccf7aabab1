import { type DeliveryStore, createFilterTest } from 'fastify-recruiting-api'
import { sql } from 'kysely'
import type { Context } from '../storage.js'
import { assertAwake } from '../tenants.js'
import { parseFilters } from '../webhooks.js'

/** Records events and erases subjects. */
export function createRecording ({ db, now, notify }: Context): Pick<DeliveryStore, 'record' | 'erase'> {
  return {
    async record (tenant, { idempotencyKey, otherSubjects = [], traceParent = null, ...event }, transaction) {
      refuseTransaction(transaction)
      const recorded = await db.transaction().execute(async (trx) => {
        await assertAwake(trx, tenant, now())
        if (idempotencyKey !== null) {
          const earlier = await trx.selectFrom('events').select(['id', 'deliveries', 'fingerprint'])
            .where('tenant', '=', tenant).where('idempotency_key', '=', idempotencyKey).executeTakeFirst()
          if (earlier !== undefined) return earlier
        }
        const subscribed = await trx.selectFrom('webhooks').select(['id', 'status', 'filters']).where('tenant', '=', tenant)
          .where(sql<boolean>`exists (select 1 from json_each(event_types) where value = ${event.type})`).orderBy('id').execute()
        const isMatch = createFilterTest(event.body)
        const webhooks = subscribed.filter(({ filters }) => isMatch(parseFilters(filters)))
        const deliveries = webhooks.filter(({ status }) => status === 'active').length
        const time = now()
        await trx.insertInto('events').values({
          ...event, tenant, other_subjects: JSON.stringify(otherSubjects), idempotency_key: idempotencyKey, trace_parent: traceParent, recorded_at: time, deliveries
        }).execute()
        for (const { id, status } of webhooks) {
          await trx.insertInto('deliveries')
            .values(newDelivery(event.id, id, time, { status: status === 'active' ? 'pending' : 'skipped', isReplay: false })).execute()
        }
        return { id: event.id, deliveries, fingerprint: event.fingerprint }
      })
      if (recorded.deliveries > 0) notify()
      return recorded
    },

    async erase (tenant, subject, transaction) {
      refuseTransaction(transaction)
      return db.transaction().execute(async (trx) => {
        const erased = await trx.updateTable('events').set({ body: sql`coalesce(tombstone, '')` })
          .where('tenant', '=', tenant).where(hasSubject(subject)).returning('id').execute()
        for (const { id } of erased) {
          await trx.updateTable('attempts').set({ response_excerpt: null })
            .where('delivery_id', 'in', trx.selectFrom('deliveries').select('id').where('event_id', '=', id)).execute()
          await trx.updateTable('deliveries').set({ status: 'cancelled' }).where('event_id', '=', id).where('status', '=', 'pending').execute()
        }
        return erased.length
      })
    }
  }
}

/** The condition that a subject is the first or a further one of an event. */
export function hasSubject (subject: string) {
  return sql<boolean>`(subject = ${subject} or exists (select 1 from json_each(other_subjects) where value = ${subject}))`
}

/** Returns the row of a new delivery, due now if it is pending. */
export function newDelivery (
  eventId: string,
  webhookId: number,
  time: number,
  { status, isReplay }: { status: 'pending' | 'skipped', isReplay: boolean }
) {
  const counts = { attempt_count: 0, fence: 0, is_claimed: 0, lease_expires_at: 0 }
  const times = { created_at: time, next_attempt_at: time, delivered_at: null }
  return { event_id: eventId, webhook_id: webhookId, is_replay: Number(isReplay), status, ...times, ...counts }
}

// There is only one connection: a transaction of the host would block everything else.
export function refuseTransaction (transaction: unknown): void {
  if (transaction !== undefined) throw new Error('this storage has no transactions')
}
