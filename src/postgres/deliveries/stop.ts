import type { Session } from '../session.js'

// The caller waits for the first batch. Most webhooks have fewer deliveries in the queue.
const firstBatchSize = 500
const batchSize = 5000

/** Moves stopped deliveries from the queue to the log. They are never claimed, so this is not urgent. */
export interface StopDeliveries {
  /** Moves those of a stopped or deleted webhook: one batch before it resolves, the others in the background. Never rejects. */
  sweep (webhookId: number): Promise<void>
  /** Moves those of a webhook that was stopped before deliveries from `firstId` on committed. */
  sweepIfStopped (webhookId: number, firstId: string): Promise<void>
  /** Moves those that earlier sweeps left, and those of transactions that committed late. */
  sweepLeft (): Promise<void>
}

/** `schema` is quoted. */
export function createStopDeliveries (session: Session, schema: string): StopDeliveries {
  async function sweepBatch (webhookId: number, size: number): Promise<boolean> {
    const [row] = await session.query<{ count: number }>('sweep deliveries', `select ${schema}.sweep_v1($1, $2) as count`, [webhookId, size])
    return Number(row?.count) < size
  }

  async function sweepAll (webhookId: number): Promise<void> {
    while (!await sweepBatch(webhookId, batchSize));
  }

  async function sweepLeft (): Promise<void> {
    const rows = await session.query<{ id: string }>('find stopped deliveries', `select id::text from ${schema}.find_stopped_v1() as id`)
    for (const { id } of rows) await sweepAll(Number(id))
  }

  return {
    sweepLeft,

    async sweepIfStopped (webhookId, firstId) {
      const rows = await session.query('check webhook', `
        select from ${schema}.webhooks where id = $1 and status = 'active' and skip_before <= $2`, [webhookId, firstId])
      if (rows.length === 0) await sweepLeft()
    },

    async sweep (webhookId) {
      // The webhook is stopped already. `sweepLeft` moves the deliveries that fail here.
      if (await sweepBatch(webhookId, firstBatchSize).catch(() => true)) return
      sweepAll(webhookId).catch(() => {})
    }
  }
}
