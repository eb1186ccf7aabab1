import { createReadHeldBack } from '../../postgres/changes/position.js'
import type { RunQuery } from '../../postgres/session.js'
import { type Check, fault, type Finding, ok, orOk, unknown } from './finding.js'

const usualTransactionSeconds = 600

interface OpenTransaction {
  who: string
  seconds: number
  remedy: string
  /** `null` if it is this one. */
  database: string | null
}

/** Whether old transactions delay vacuum, and prepared ones of other databases the reuse of transaction ids. */
export const transactions: Check = {
  name: 'transactions',
  needsTables: false,
  async run ({ query, flags }) {
    const limit = flags.integer('max-transaction-seconds') ?? usualTransactionSeconds
    const open = await query<OpenTransaction>(`
      select format('process %s (%s, %s)', pid, usename, coalesce(nullif(application_name, ''), state)) as who,
        extract(epoch from clock_timestamp() - xact_start)::int as seconds, null as database,
        format('end it with select pg_terminate_backend(%s)', pid) as remedy
      from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and (backend_xid is not null or backend_xmin is not null)
        and xact_start < clock_timestamp() - $1::int * interval '1 second'
        and not starts_with(query, '/* fastify-recruiting-api doctor ')
      union all
      select format('prepared transaction %s (%s)', gid, owner), extract(epoch from clock_timestamp() - prepared)::int,
        nullif(database, current_database()), format('end it with rollback prepared %1$L or commit prepared %1$L', gid)
      from pg_prepared_xacts
      where prepared < clock_timestamp() - $1::int * interval '1 second'
      order by seconds desc`, [limit])
    const findings = open.map(describeOpen)
    if (await seesNobody(query)) {
      findings.push(unknown('the database user cannot see the transactions of other users',
        'grant pg_monitor to the database user'))
    }
    return orOk(findings, `none is older than ${limit} s`)
  }
}

function describeOpen ({ who, seconds, remedy, database }: OpenTransaction): Finding {
  return database === null
    ? fault(`${who} has had a transaction open for ${seconds} s, so vacuum cannot remove deleted rows`, remedy)
    : fault(
        `${who} in the database ${database} has been open for ${seconds} s, so the server cannot reuse transaction ids`,
        `in the database ${database}, ${remedy}`
    )
}

/** Whether statements of other users are hidden from this one. */
async function seesNobody (query: RunQuery): Promise<boolean> {
  return (await query("select from pg_stat_activity where query = '<insufficient privilege>' limit 1")).length > 0
}

/** Whether an open transaction that recorded a change hides later ones from sync. */
export const sync = createHeldBackCheck('sync', 'recent_changes', 'changes of candidates and jobs')

/** Whether an open transaction that emitted an event hides later ones from the feed. */
export const feed = createHeldBackCheck('feed', 'events', 'events in GET .../events')

function createHeldBackCheck (name: string, table: 'events' | 'recent_changes', held: string): Check {
  return {
    name,
    needsTables: true,
    async run ({ session, quotedSchema, flags }) {
      const limit = flags.integer('max-transaction-seconds') ?? usualTransactionSeconds
      const { heldBackMs, heldBackBy } = await createReadHeldBack(session, quotedSchema, table)()
      if (heldBackMs <= 1000 * limit) return [ok(`no transaction older than ${limit} s holds back ${held}`)]
      const seconds = Math.floor(heldBackMs / 1000)
      return [fault(`${heldBackBy} has had a transaction open for ${seconds} s, so later ${held} wait`,
        'end this transaction with pg_terminate_backend(pid), or commit prepared or rollback prepared')]
    }
  }
}
