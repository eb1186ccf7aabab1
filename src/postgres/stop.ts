import type { Session } from './session.js'

// One statement stays short, however much is waiting.
const batchSize = 5000

/** Ends the pending deliveries of webhooks. */
export interface StopDeliveries {
  /** Ends all of a webhook that is no longer active; what is left if this fails, `prune` ends. */
  stopAll (webhookId: number, status: 'skipped' | 'cancelled'): Promise<void>
  /** Ends those of a webhook of the tenant that is not active now. */
  stopLeft (tenantSlug: string, webhookId: number): Promise<void>
  /** Ends those of all webhooks that are not active or no more, such as an emit may make that began before. */
  stopOrphans (): Promise<void>
}

/** `schema` is quoted. */
export function createStopDeliveries (session: Session, schema: string): StopDeliveries {
  async function stopAll (webhookId: number, status: 'skipped' | 'cancelled'): Promise<void> {
    for (;;) {
      const [row] = await session.query<{ stopped: number }>('stop deliveries',
        `select ${schema}.stop_deliveries($1, $2, $3) as stopped`, [webhookId, status, batchSize])
      if (Number(row?.stopped) < batchSize) return
    }
  }

  return {
    stopAll,

    async stopLeft (tenantSlug, webhookId) {
      const rows = await session.query('find stopped webhook',
        `select from ${schema}.webhooks where tenant_slug = $1 and id = $2 and status <> 'active'`, [tenantSlug, webhookId])
      if (rows.length > 0) await stopAll(webhookId, 'skipped')
    },

    async stopOrphans () {
      const rows = await session.query<{ id: string, is_deleted: boolean }>('find orphaned deliveries', `
        with recursive endpoint (id) as (
          (
            select webhook_id from ${schema}.deliveries
            where status = 'pending'
            order by webhook_id, priority, next_attempt_at, id limit 1
          )
          union all
          select (
            select webhook_id from ${schema}.deliveries
            where status = 'pending' and webhook_id > endpoint.id
            order by webhook_id, priority, next_attempt_at, id limit 1
          )
          from endpoint where endpoint.id is not null
        )
        select endpoint.id::text, w.id is null as is_deleted
        from endpoint left join ${schema}.webhooks w on w.id = endpoint.id
        where endpoint.id is not null and w.status is distinct from 'active'`)
      for (const { id, is_deleted: isDeleted } of rows) await stopAll(Number(id), isDeleted ? 'cancelled' : 'skipped')
    }
  }
}
