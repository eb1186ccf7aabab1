import type { Session } from '../session.js'

// The caller waits for the first batch. Most webhooks have fewer deliveries in the queue.
const firstBatchSize = 500
const batchSize = 5000

/** Moves stopped deliveries from the queue to the log. They are never claimed, and claims move those that they meet. */
export interface StopDeliveries {
  /**
   * Moves those of a stopped or deleted webhook: one batch before it resolves, the others in the background. Never
   * rejects.
   */
  sweep (webhookId: number): Promise<void>
  /** Moves those of a webhook that was stopped before deliveries from `firstId` on committed. */
  sweepIfStopped (webhookId: number, firstId: string): Promise<void>
  /** Moves those that earlier sweeps left. */
  sweepLeft (): Promise<void>
}

/** `schema` is quoted. */
export function createStopDeliveries (session: Session, schema: string): StopDeliveries {
  async function sweepBatch (webhookId: number, size: number): Promise<number> {
    const [row] = await session.query<{ count: number }>(
      'sweep deliveries',
      `select ${schema}.sweep_v1($1, $2) as count`,
      [webhookId, size]
    )
    return Number(row?.count)
  }

  async function sweepAll (webhookId: number): Promise<void> {
    while (await sweepBatch(webhookId, batchSize) > 0);
  }

  async function sweepLeft (): Promise<void> {
    const rows = await session.query<{ id: string }>('list stopped webhooks',
      `select webhook_id::text as id from ${schema}.stopped_webhooks`)
    for (const { id } of rows) await sweepAll(Number(id))
  }

  return {
    sweepLeft,

    async sweepIfStopped (webhookId, firstId) {
      const rows = await session.query('check webhook', `
        select from ${schema}.webhooks where id = $1 and status = 'active' and skip_before <= $2`, [webhookId, firstId])
      if (rows.length === 0) await sweepAll(webhookId)
    },

    async sweep (webhookId) {
      // The webhook is stopped already. `sweepLeft` moves the deliveries that fail here.
      const count = await sweepBatch(webhookId, firstBatchSize).catch(() => 0)
      if (count > 0) sweepAll(webhookId).catch(() => {})
    }
  }
}
