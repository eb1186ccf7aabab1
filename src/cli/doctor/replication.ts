import type { RunQuery } from '../../postgres/session.js'
import { type Check, fault, type Finding, orOk, unknown } from './finding.js'

/** Whether publications let this package update and delete its rows. */
export const publications: Check = {
  name: 'publications',
  needsTables: true,
  async run ({ query, schema, quotedSchema }) {
    const rows = await query<{ publication: string, name: string }>(`
      select string_agg(p.pubname, ', ' order by p.pubname) as publication, c.relname as name
      from pg_publication p
      join pg_publication_tables t on t.pubname = p.pubname
      join pg_class c on c.relname = t.tablename
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = t.schemaname
      where n.nspname = $1 and (p.pubupdate or p.pubdelete) and case c.relreplident
        when 'f' then false
        when 'd' then not exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary)
        when 'i' then not exists (select from pg_index i where i.indrelid = c.oid and i.indisreplident)
        else true
      end
      group by c.relname
      order by 2`, [schema])
    return orOk(rows.map(({ publication, name }) => {
      const problem = `the publication ${publication} includes the table ${name}, which has no replica identity`
      return fault(`${problem}, so every update and delete of its rows fails`,
        `alter table ${quotedSchema}.${name} replica identity full`)
    }), 'none keeps this package from writing')
  }
}

const manyTransactions = 1_000_000

interface SlotRow {
  slot: string
  active: boolean
  megabytes: string
  /** How many transactions ago the oldest row that it keeps was deleted. */
  age: number
}

interface StandbyRow {
  standby: string
  age: number
}

/** Whether a slot or standby keeps dead rows or WAL, or makes commits wait. */
export const replication: Check = {
  name: 'replication',
  needsTables: false,
  async run ({ query }) {
    const slots = await query<SlotRow>(`
      select slot_name as slot, active, coalesce(round(pg_wal_lsn_diff(
        case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end, restart_lsn
      ) / 1048576), 0)::text as megabytes, coalesce(greatest(age(xmin), age(catalog_xmin)), 0) as age
      from pg_replication_slots
      where not temporary and (xmin is not null or catalog_xmin is not null or restart_lsn is not null)
      order by 1`)
    const standbys = await query<StandbyRow>(`
      select coalesce(nullif(application_name, ''), pid::text) as standby, age(backend_xmin) as age
      from pg_stat_replication where age(backend_xmin) > ${manyTransactions} order by 1`)
    return orOk([
      ...slots.flatMap(judgeSlot),
      ...standbys.map(({ standby, age }) => fault(
        `a statement on the standby ${standby} keeps vacuum from rows that ${age} transactions deleted`,
        'end that statement on the standby, or set hot_standby_feedback to off there')),
      ...await findWaitingCommits(query)
    ], 'no slot or standby keeps dead rows or makes commits wait')
  }
}

function judgeSlot ({ slot, active, megabytes, age }: SlotRow): Finding[] {
  const drop = `select pg_drop_replication_slot('${slot.replaceAll("'", "''")}')`
  if (!active) {
    const kept = `${megabytes} MB of WAL and the rows that ${age} transactions deleted`
    return [fault(`no client reads the replication slot ${slot}, so the server keeps ${kept}`,
      `start its reader again, or run ${drop}`)]
  }
  return age <= manyTransactions
    ? []
    : [fault(
        `the reader of the replication slot ${slot} is slow, so vacuum keeps what ${age} transactions deleted`,
        `find out why it is slow, or stop it and run ${drop}`)]
}

async function findWaitingCommits (query: RunQuery): Promise<Finding[]> {
  const [row] = await query<{ names: string, count: number, hidden: number }>(`
    select current_setting('synchronous_standby_names') as names,
      count(*) filter (where sync_state in ('sync', 'quorum'))::int as count,
      count(*) filter (where sync_state is null)::int as hidden
    from pg_stat_replication`)
  const { names, count, hidden } = { names: '', count: 0, hidden: 0, ...row }
  if (names === '' || count > 0) return []
  if (hidden > 0) {
    return [unknown('the database user cannot see whether a synchronous standby is connected',
      'grant pg_monitor to the database user')]
  }
  return [fault(`no standby of synchronous_standby_names (${names}) is connected, so every commit waits for ever`,
    'start the standby, or run alter system reset synchronous_standby_names; select pg_reload_conf()')]
}
