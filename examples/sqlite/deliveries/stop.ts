import type { Kysely } from 'kysely'
import type { Schema } from '../schema.js'

/** Ends the pending deliveries of a webhook. Leased ones stay claimed, because their success still counts. */
export async function stopDeliveries (db: Kysely<Schema>, webhookId: number, status: 'skipped' | 'cancelled'): Promise<void> {
  await db.updateTable('deliveries').set({ status }).where('webhook_id', '=', webhookId).where('status', '=', 'pending').execute()
}
