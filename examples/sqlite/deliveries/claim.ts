import type { DeliveryStore } from 'fastify-recruiting-api'
import { type Kysely, sql } from 'kysely'
import type { Schema } from '../schema.js'
import type { Context } from '../storage.js'
import { validSecrets } from '../webhooks.js'

/** Leases due deliveries and releases leases. */
export function createClaiming ({ db, now, notify }: Context): Pick<DeliveryStore, 'claimDue' | 'release'> {
  return {
    claimDue: ({ limit, perEndpoint, leaseMs }) => db.transaction().execute(async (trx) => {
      const time = now()
      const ids = await findTurns(trx, { time, limit, perEndpoint })
      const claimed = []
      for (const { id } of ids) {
        await trx.updateTable('deliveries').set((eb) => ({ fence: eb('fence', '+', 1), is_claimed: 1, lease_expires_at: time + leaseMs }))
          .where('id', '=', id).execute()
        const row = await trx.selectFrom('deliveries').innerJoin('webhooks', 'webhooks.id', 'webhook_id').innerJoin('events', 'events.id', 'event_id')
          .select(['deliveries.id', 'fence', 'webhooks.tenant', 'tenant_slug', 'webhook_id', 'target_url', 'event_id', 'type', 'body', 'trace_parent', 'attempt_count'])
          .select(['failing_since', 'secret', 'previous_secret', 'previous_secret_expires_at', 'headers'])
          .where('deliveries.id', '=', id).executeTakeFirstOrThrow()
        await trx.updateTable('webhooks').set({ last_turn: sql`(select max(last_turn) + 1 from webhooks)` }).where('id', '=', row.webhook_id).execute()
        claimed.push({
          deliveryId: row.id,
          fence: row.fence,
          tenantId: row.tenant,
          tenantSlug: row.tenant_slug,
          webhookId: row.webhook_id,
          targetUrl: row.target_url,
          secrets: validSecrets(row, time),
          headers: row.headers,
          eventId: row.event_id,
          eventType: row.type,
          body: row.body,
          traceParent: row.trace_parent,
          attemptCount: row.attempt_count,
          isFailing: row.failing_since !== null
        })
      }
      return claimed
    }),

    async release (leases) {
      for (const { deliveryId, fence } of leases) {
        await db.updateTable('deliveries').set({ is_claimed: 0, lease_expires_at: 0 })
          .where('id', '=', deliveryId).where('fence', '=', fence).execute()
      }
      notify()
    }
  }
}

interface Turn { id: number }

// Numbers the due deliveries of each webhook, then those of each tenant. A claim takes the first one of each tenant, then the
// second ones, and among tenants and among the webhooks of a tenant the one that has waited longest for its turn.
async function findTurns (
  db: Kysely<Schema>,
  { time, limit, perEndpoint }: { time: number, limit: number, perEndpoint: number }
): Promise<readonly Turn[]> {
  const { rows } = await sql<Turn>`
    with leased as (
      select webhook_id, count(*) as leases from deliveries where status = 'pending' and lease_expires_at > ${time} group by webhook_id
    ), due as (
      select d.id, w.tenant, w.last_turn, coalesce(l.leases, 0) as leases, row_number() over (
        partition by d.webhook_id order by d.is_replay, d.attempt_count > 0, d.id
      ) as turn
      from deliveries d join webhooks w on w.id = d.webhook_id left join leased l on l.webhook_id = d.webhook_id
      where d.status = 'pending' and d.next_attempt_at <= ${time} and d.lease_expires_at <= ${time}
        and w.status = 'active' and w.paused_until <= ${time}
    ), ranked as (
      select id, row_number() over (partition by tenant order by turn, last_turn, id) as rank,
        (select max(w.last_turn) from webhooks w where w.tenant = due.tenant) as tenant_turn
      from due where turn + leases <= ${perEndpoint}
    )
    select id from ranked order by rank, tenant_turn, id limit ${limit}`.execute(db)
  return rows
}
