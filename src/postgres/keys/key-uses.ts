import type { Clock } from '../../ports/index.js'
import type { PgPool } from '../pool.js'
import type { Session } from '../session.js'

const intervalMs = 60_000
const batchSize = 1000

/**
 * Returns a function that records the use of a key by its id. Uses are written a minute after the first of them, each
 * key at most once a minute by all processes together. If that fails, or the process ends before, the uses of this
 * minute are lost. `schema` is quoted.
 */
export function createKeyUses (pool: PgPool, session: Session, schema: string, clock: Clock): (id: string) => void {
  const usedAtMs = new Map<string, number>()
  let isScheduled = false
  let isWarned = false
  const text = writeUses(schema)

  async function write (): Promise<void> {
    isScheduled = false
    const now = clock.monotonic()
    // Ages, because the clocks of the process and the server may differ.
    const uses = [...usedAtMs].map(([id, usedAt]) => ({ id, age_ms: Math.max(0, now - usedAt) }))
    usedAtMs.clear()
    if (pool.ending === true) return
    for (let begin = 0; begin < uses.length; begin += batchSize) {
      await session.query('record uses of keys', text, [JSON.stringify(uses.slice(begin, begin + batchSize))])
    }
  }

  function warn (error: unknown): void {
    if (isWarned) return
    isWarned = true
    process.emitWarning(`last_used_at of API keys could not be written: ${String(error)}`, 'RecruitingWarning')
  }

  return (id) => {
    usedAtMs.set(id, clock.monotonic())
    if (isScheduled) return
    isScheduled = true
    clock.setTimeout(() => { write().catch(warn) }, intervalMs)
  }
}

/** Skips locked rows: another process is writing them, or an administrator is changing them. */
function writeUses (schema: string): string {
  return `
    update ${schema}.api_keys k set last_used_at = used.at
    from (
      select k.id, date_trunc('milliseconds', clock_timestamp() - use.age_ms * interval '1 millisecond') as at
      from json_to_recordset($1::json) as use (id text, age_ms double precision)
      join ${schema}.api_keys k on k.id = use.id
      where coalesce(k.last_used_at <= clock_timestamp() - (use.age_ms + ${intervalMs}) * interval '1 millisecond',
        true)
      for no key update of k skip locked
    ) as used
    where k.id = used.id`
}
