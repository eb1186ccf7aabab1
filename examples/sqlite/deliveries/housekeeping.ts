import type { DeliveryStore } from 'fastify-recruiting-api'
import { sql } from 'kysely'
import type { Context } from '../storage.js'

const dayMs = 86_400_000

/** Counts pending deliveries and deletes old ones. */
export function createHousekeeping ({ db, now }: Context): Pick<DeliveryStore, 'hasPending' | 'stats' | 'tenantStats' | 'prune'> {
  return {
    async hasPending (withinMs) {
      const time = now()
      const { rows } = await sql<{ found: number }>`select exists (
        select 1 from deliveries d join webhooks w on w.id = d.webhook_id
        where d.status = 'pending' and w.status = 'active'
          and (d.lease_expires_at > ${time} or max(d.next_attempt_at, w.paused_until) <= ${time + withinMs})
      ) as found`.execute(db)
      return rows[0]?.found === 1
    },

    async stats () {
      const time = now()
      const { rows: [row] } = await sql<{ pending: number, due: number, leased: number, oldest: number }>`
        select count(*) as pending, coalesce(sum(is_leased), 0) as leased, coalesce(sum(is_due), 0) as due,
          coalesce(min(case when is_due then next_attempt_at end), ${time}) as oldest
        from (
          select next_attempt_at, lease_expires_at > ${time} as is_leased,
            lease_expires_at > ${time} or (next_attempt_at <= ${time} and paused_until <= ${time}) as is_due
          from deliveries d join webhooks w on w.id = d.webhook_id where d.status = 'pending' and w.status = 'active'
        )`.execute(db)
      const { pending = 0, due = 0, leased = 0, oldest = time } = row ?? {}
      return { pending, due, leased, oldestDueMs: time - oldest, atLeast: { pending: false, due: false } }
    },

    async tenantStats (tenant) {
      const time = now()
      const hourAgo = time - 3_600_000
      const { rows: [row] } = await sql<{ pending: number, oldest: number, delivered: number, failed: number }>`
        select coalesce(sum(d.status = 'pending' and w.status = 'active'), 0) as pending,
          coalesce(min(case when d.status = 'pending' and w.status = 'active'
            and (lease_expires_at > ${time} or (next_attempt_at <= ${time} and paused_until <= ${time})) then next_attempt_at end), ${time}) as oldest,
          coalesce(sum(d.status = 'delivered' and d.delivered_at > ${hourAgo}), 0) as delivered,
          coalesce(sum(d.status = 'failed' and (select max(started_at + duration_ms) from attempts where delivery_id = d.id) > ${hourAgo}), 0) as failed
        from deliveries d join webhooks w on w.id = d.webhook_id where w.tenant = ${tenant}`.execute(db)
      const { rows: [webhooks] } = await sql<{ failing: number }>`select count(*) as failing from webhooks
        where tenant = ${tenant} and (status = 'disabled' or (status = 'active' and failing_since is not null))`.execute(db)
      const { pending = 0, oldest = time, delivered = 0, failed = 0 } = row ?? {}
      return { pending, oldestDueMs: time - oldest, failing: webhooks?.failing ?? 0, delivered, failed, atLeast: { pending: false, delivered: false, failed: false } }
    },

    prune: ({ retentionDays, limit }) => db.transaction().execute(async (trx) => {
      const before = now() - retentionDays * dayMs
      const { rows: deliveries } = await sql<{ id: number }>`delete from deliveries where id in (
        select id from deliveries where status <> 'pending' and created_at < ${before} order by id limit ${limit}
      ) returning id`.execute(trx)
      await sql`delete from attempts where delivery_id in (select value from json_each(${JSON.stringify(deliveries.map(({ id }) => id))}))`.execute(trx)
      const { rows: events } = await sql<{ id: string }>`delete from events where position in (
        select position from events where recorded_at < ${before}
          and not exists (select 1 from deliveries where event_id = events.id) order by position limit ${limit}
      ) returning id`.execute(trx)
      return deliveries.length + events.length
    })
  }
}
