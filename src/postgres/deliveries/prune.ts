import type { DeliveryStore } from '../../ports/index.js'
import type { Session } from '../session.js'
import type { StopDeliveries } from './stop.js'

/** Deletes events and deliveries older than the retention; `schema` is quoted. */
export function createPrune (session: Session, schema: string, stop: StopDeliveries): DeliveryStore['prune'] {
  const text = `select pruned, next_after::text as next_after from ${schema}.prune_v1($1, $2, $3)`
  // The last event that was read, 0 before the first; null between two walks over the events.
  let after: number | null = null

  /** Removes events of removed tenants. Returns whether there are more. */
  async function removeEvents (limit: number): Promise<boolean> {
    const [row] = await session.query<{ left: number }>('remove events', `select ${schema}.remove_events_v1($1) as left`, [limit])
    return Number(row?.left) > 0
  }

  return async ({ retentionDays, limit }) => {
    if (after === null) await stop.sweepLeft()
    after ??= 0
    if (after === 0 && await removeEvents(limit)) return limit
    let from = after
    for (;;) {
      // The next call starts again if this one fails.
      after = null
      const [row] = await session.query<{ pruned: number, next_after: string | null }>('prune', text, [retentionDays, limit, from])
      from = Number(row?.next_after ?? 0)
      if (from !== 0) after = from
      if (Number(row?.pruned) > 0 || from === 0) return Number(row?.pruned)
    }
  }
}
