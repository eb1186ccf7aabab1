import type { Hold, HoldStore } from '../../ports/index.js'
import type { Due } from './due.js'
import type { Session } from '../session.js'
import { toIso } from '../sql.js'
import type { StopDeliveries } from './queue.js'

interface HoldRow {
  reason: Hold['reason']
  /** `null` if no claim has noticed the copy yet, and for another environment. */
  since: string | null
}

/** Holds notifications of copies; `schema` is quoted. */
export function createHolds (session: Session, schema: string, stop: StopDeliveries, due: Due): HoldStore {
  const noticed = new Map<Hold['reason'], string>()

  return {
    async find (environment) {
      const [row] = await session.query<HoldRow>('look for a hold', `
        select reason, ${toIso('since')} as since from ${schema}.find_hold_v1($1)`, [environment])
      if (row === undefined) {
        noticed.clear()
        return null
      }
      const since = row.since ?? noticed.get(row.reason) ?? new Date().toISOString()
      noticed.set(row.reason, since)
      return { reason: row.reason, since }
    },

    async adopt ({ environment, pending, keepWebhooks = false, keepKeys = false }) {
      const isDiscarding = pending === 'discard'
      const [row] = await session.query<{ reason: Hold['reason'], pending: string }>('adopt the database', `
        select reason, pending::text from ${schema}.adopt_v1($1, $2, $3, $4)`,
      [environment, isDiscarding, keepWebhooks, keepKeys])
      if (row === undefined) return null
      // They are skipped already. The hourly pruning moves those that this leaves.
      if (isDiscarding) await stop.sweepLeft().catch(() => {})
      due.notify()
      return { reason: row.reason, pending: Number(row.pending) }
    }
  }
}
