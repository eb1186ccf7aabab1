import type { ChangeSource } from '../../ports/index.js'
import { callInTransaction } from '../handles/transaction.js'
import type { Session } from '../session.js'
import { createListChanges } from './list.js'
import { formatPosition } from './position.js'
import { createChangeStats } from './stats.js'

/** Remembers changes in PostgreSQL; `patient` has a longer time limit, `schema` is quoted. */
export function createChangeSource (session: Session, patient: Session, schema: string): ChangeSource {
  const recordChange = `${schema}.record_change_v1($1, $2, $3, $4)`

  return {
    async begin () {
      const [row] = await session.query<{ epoch: string, xid: string }>('read position',
        `select epoch, read_to::text as xid from ${schema}.change_bounds_v1()`)
      return formatPosition({ xid: String(row?.xid), id: '', epoch: String(row?.epoch) })
    },

    list: createListChanges(session, schema),

    async record (tenantSlug, { kind, id, deleted }, transaction) {
      const values = [tenantSlug, kind, id, String(deleted)]
      if (transaction === undefined) await session.query('record change', `select ${recordChange}`, values)
      else await callInTransaction(transaction, recordChange, values)
    },

    async tokenSecret () {
      const [row] = await session.query<{ secret: string }>('read token secret', `select encode(secret, 'hex') as secret from ${schema}.change_state`)
      return Buffer.from(String(row?.secret), 'hex')
    },

    async prune ({ retentionDays, limit }) {
      const [row] = await patient.query<{ pruned: number }>('prune changes',
        `select ${schema}.prune_changes_v1($1, $2) as pruned`, [retentionDays, limit])
      return Number(row?.pruned)
    },

    stats: createChangeStats(session, schema)
  }
}
