import type { DeliveryStore } from '../../ports/index.js'
import type { Session } from '../session.js'
import type { StopDeliveries } from './stop.js'

/** Deletes events and deliveries older than the retention; `schema` is quoted. */
export function createPrune (session: Session, schema: string, stop: StopDeliveries): DeliveryStore['prune'] {
  const text = `select pruned, next_after::text as next_after from ${schema}.prune_v1($1, $2, $3)`
  // The last event that was read; 0 starts with the oldest.
  let after = 0

  async function removeEvents (limit: number): Promise<number> {
    const [row] = await session.query<{ left: number }>('remove events', `select ${schema}.remove_events_v1($1) as left`, [limit])
    return Number(row?.left)
  }

  return async ({ retentionDays, limit }) => {
    await stop.sweepLeft()
    while (await removeEvents(limit) > 0);
    for (;;) {
      const [row] = await session.query<{ pruned: number, next_after: string | null }>('prune', text, [retentionDays, limit, after])
      after = Number(row?.next_after ?? 0)
      if (Number(row?.pruned) > 0 || after === 0) return Number(row?.pruned)
    }
  }
}
