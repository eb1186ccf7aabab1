import type { DeliveryStore } from '../../ports/index.js'
import type { Session } from '../session.js'
import type { StopDeliveries } from './stop.js'

/** Deletes events and deliveries older than the retention; `schema` is quoted. */
export function createPrune (session: Session, schema: string, stop: StopDeliveries): DeliveryStore['prune'] {
  const text = `select pruned, next_after from ${schema}.prune_v1($1, $2, $3)`
  // Where the next batch begins; null between two walks over the events.
  let after: string | null = null
  let isSwept = false

  /** Removes events of removed tenants. Returns whether there are more. */
  async function removeEvents (limit: number): Promise<boolean> {
    const [row] = await session.query<{ left: number }>(
      'remove events',
      `select ${schema}.remove_events_v1($1) as left`,
      [limit]
    )
    return Number(row?.left) > 0
  }

  return async ({ retentionDays, limit }) => {
    if (after === null) {
      if (!isSwept) await stop.sweepLeft()
      isSwept = true
      if (await removeEvents(limit)) return limit
      isSwept = false
    }
    let from = after
    for (;;) {
      // The next call starts again if this one fails.
      after = null
      const [row] = await session.query<{ pruned: number; next_after: string | null }>('prune', text, [
        retentionDays,
        limit,
        from
      ])
      from = after = row?.next_after ?? null
      if (Number(row?.pruned) > 0 || from === null) return Number(row?.pruned)
    }
  }
}
