import type { ChangeSource } from '../../ports/index.js'
import { askInTransaction } from '../handles/transaction.js'
import type { Session } from '../session.js'
import { createListChanges } from './list.js'
import { formatPosition } from './position.js'
import { createChangeStats } from './stats.js'

const compactLimit = 10_000

/** Remembers changes in PostgreSQL; `patient` has a longer time limit, `schema` is quoted. */
export function createChangeSource (session: Session, patient: Session, schema: string): ChangeSource {
  const recordHere = `select ${schema}.record_change_v1($1, $2, $3, $4) as result`
  const recordAlone = `select ${schema}.changed($1, $2, $3, $4::boolean)`

  /** Moves the recent changes that readers see to the table that keeps the last one of each candidate or job. */
  async function compact (): Promise<void> {
    for (let moved = compactLimit; moved === compactLimit;) {
      const [row] = await patient.query<{ moved: number }>('compact changes', `select ${schema}.compact_changes_v1($1) as moved`, [compactLimit])
      moved = Number(row?.moved)
    }
  }

  return {
    async begin (tenantSlug, kind) {
      const [row] = await session.query<{ epoch: string, xid: string }>('read position',
        `select epoch, read_to::text as xid from ${schema}.change_bounds_v1($1, $2)`, [tenantSlug, kind])
      return formatPosition({ xid: String(row?.xid), id: '', epoch: String(row?.epoch) })
    },

    list: createListChanges(session, schema),

    async record (tenantSlug, { kind, id, deleted }, transaction) {
      const values = [tenantSlug, kind, id, String(deleted)]
      if (transaction === undefined) await session.query('record change', recordAlone, values)
      else await askInTransaction(transaction, recordHere, values)
    },

    async tokenSecret () {
      const [row] = await session.query<{ secret: string }>('read token secret', `select encode(secret, 'hex') as secret from ${schema}.change_state`)
      return Buffer.from(String(row?.secret), 'hex')
    },

    async prune ({ retentionDays, limit }) {
      await compact()
      const [row] = await patient.query<{ pruned: number }>('prune changes',
        `select ${schema}.prune_changes_v1($1, $2) as pruned`, [retentionDays, limit])
      return Number(row?.pruned)
    },

    stats: createChangeStats(session, schema)
  }
}
