import { createChangeStats } from '../../postgres/changes/changes.js'
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

/** Whether old transactions delay vacuum, and prepared ones of other databases sync. */
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
    : fault(`${who} in the database ${database} has been open for ${seconds} s, so sync does not see later changes`,
      `in the database ${database}, ${remedy}`)
}

/** Whether statements of other users are hidden from this one. */
async function seesNobody (query: RunQuery): Promise<boolean> {
  return (await query("select from pg_stat_activity where query = '<insufficient privilege>' limit 1")).length > 0
}

/** Whether a transaction, possibly in another database of the server, hides changes from sync. */
export const sync: Check = {
  name: 'sync',
  needsTables: true,
  async run ({ session, quotedSchema, flags }) {
    const limit = flags.integer('max-transaction-seconds') ?? usualTransactionSeconds
    const { heldBackMs, heldBackBy } = await createChangeStats(session, quotedSchema)()
    if (heldBackMs <= 1000 * limit) return [ok(`no transaction older than ${limit} s holds back changes`)]
    const seconds = Math.floor(heldBackMs / 1000)
    const problem = `${heldBackBy} has had a transaction open for ${seconds} s`
    return [fault(`${problem}, so later changes of candidates and jobs wait`,
      'end this transaction with pg_terminate_backend(pid), or commit prepared or rollback prepared')]
  }
}
