import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createChangeStats } from '../../postgres/changes/changes.js'
import { listLacking, listLackingOnLists } from '../../postgres/grants.js'
import type { RunQuery } from '../../postgres/session.js'
import { readVersion } from '../../postgres/upgrade/version.js'
import { findMissingMigrations } from '../database.js'
import { findLists } from '../rights.js'
import { listWorkerRoles } from './deliveries.js'
import { advice, type Check, fault, type Finding, ok, type DoctorContext, quoteShell } from './finding.js'

export const migrations: Check = {
  name: 'migrations',
  needsTables: false,
  async run ({ pool, schema }) {
    const missing = await findMissingMigrations(pool, schema)
    if (missing.length === 0) return [ok('all of them have run')]
    return [fault(`the schema ${schema} lacks ${missing.join(', ')}`, `run fastify-recruiting-api migrate --schema ${schema}`)]
  }
}

/** The indexes of the package's own tables. */
export const packageIndexes: Check = {
  name: 'own indexes',
  needsTables: true,
  async run ({ session, schema }) {
    const names = await listIndexes()
    const rows = await session.query<{ name: string }>('list indexes', `
      select c.relname::text as name from pg_index i
      join pg_class c on c.oid = i.indexrelid
      join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $1 and i.indisvalid`, [schema])
    const found = new Set(rows.map(({ name }) => name))
    const missing = [...names].filter(([name]) => !found.has(name))
    if (missing.length === 0) return [ok(`all ${names.size} exist`)]
    return missing.map(([name, statement]) => fault(`the index ${name} is missing or invalid`, `run in the schema ${schema}: drop index if exists ${name}; ${statement}`))
  }
}

/** The statements of the migrations that create indexes, by the names of these. */
async function listIndexes (): Promise<Map<string, string>> {
  const { migrations } = await readVersion()
  const statements = [...migrations.values()].flatMap((text) => [...text.matchAll(/^create (?:unique )?index (?:concurrently )?(\w+)[^;]*;/gm)])
  return new Map(statements.map(([statement, name = '']) => [name, statement.replaceAll(/\s+/g, ' ')]))
}

/** Whether the tables are there, and of this version. */
export async function hasTables ({ pool, schema }: DoctorContext): Promise<boolean> {
  const missing = await findMissingMigrations(pool, schema).catch(() => null)
  return missing?.length === 0
}

const usualTransactionSeconds = 600
const maxOffsetMs = 5000
const samples = 3
const notifyMs = 2000

interface OpenTransaction {
  who: string
  seconds: number
}

/** Whether old transactions keep vacuum from removing dead rows. */
export const transactions: Check = {
  name: 'transactions',
  needsTables: false,
  async run ({ session, flags }) {
    const limit = flags.integer('max-transaction-seconds') ?? usualTransactionSeconds
    const open = await session.query<OpenTransaction>('look for old transactions', `
      select format('process %s (%s, %s)', pid, usename, coalesce(nullif(application_name, ''), state)) as who,
        extract(epoch from clock_timestamp() - xact_start)::int as seconds
      from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and (backend_xid is not null or backend_xmin is not null)
        and xact_start < clock_timestamp() - $1::int * interval '1 second'
      union all
      select format('prepared transaction %s (%s)', gid, owner), extract(epoch from clock_timestamp() - prepared)::int
      from pg_prepared_xacts
      where database = current_database() and prepared < clock_timestamp() - $1::int * interval '1 second'
      order by seconds desc`, [limit])
    if (open.length === 0) return [ok(`none is older than ${limit} s`)]
    return open.map(({ who, seconds }) => fault(`${who} has had a transaction open for ${seconds} s, so vacuum cannot remove deleted rows`,
      who.startsWith('process') ? `end it with select pg_terminate_backend(${who.split(' ')[1]})` : 'end it with commit prepared or rollback prepared'))
  }
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
    return [fault(`${heldBackBy} has had a transaction open for ${seconds} s, so later changes of candidates and jobs wait`,
      'end this transaction with pg_terminate_backend(pid), or commit prepared or rollback prepared')]
  }
}

/** Whether this machine and the server agree on the time. */
export const clocks: Check = {
  name: 'clocks',
  needsTables: false,
  async run (context) {
    const offsets = []
    for (let count = 0; count < samples; count++) offsets.push(await measureOffset(context))
    const [best = { offsetMs: 0, uncertaintyMs: 0 }] = offsets.toSorted((one, other) => one.uncertaintyMs - other.uncertaintyMs)
    const seconds = Math.abs(best.offsetMs / 1000).toFixed(1)
    if (Math.abs(best.offsetMs) - best.uncertaintyMs <= maxOffsetMs) return [ok(`the clocks of this machine and the server differ by ${seconds} s`)]
    return [fault(`this machine is ${seconds} s ${best.offsetMs > 0 ? 'ahead of' : 'behind'} the server`,
      'synchronize the clocks of both (NTP): receivers refuse notifications whose timestamp is minutes off')]
  }
}

async function measureOffset ({ session, now }: DoctorContext): Promise<{ offsetMs: number, uncertaintyMs: number }> {
  const before = now()
  const [row] = await session.query<{ time: number }>('read clock', 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as time')
  const after = now()
  return { offsetMs: (before + after) / 2 - Number(row?.time), uncertaintyMs: (after - before) / 2 }
}

/** Whether notifications arrive. Behind a pooler in transaction mode they do not. */
export const listening: Check = {
  name: 'listen',
  needsTables: false,
  async run ({ pool, session }) {
    const channel = `doctor_${randomBytes(8).toString('hex')}`
    const client = await pool.connect()
    try {
      const arrived = new Promise<boolean>((resolve) => client.on?.('notification', () => resolve(true)))
      await client.query(`listen "${channel}"`)
      await session.query('notify', `notify "${channel}"`)
      const hasArrived = await Promise.race([arrived, sleep(notifyMs, false, { ref: false })])
      if (hasArrived) return [ok('notifications arrive')]
      return [fault('notifications do not arrive: a pooler in transaction mode is in between, so deliveries are found by polling',
        'connect the workers directly or in session mode; or accept a delay of delivery.pollMs')]
    } finally {
      client.release(true)
    }
  }
}

/** Whether the database user and those of the workers have the privileges that a process needs. */
export const privileges: Check = {
  name: 'privileges',
  // Without privileges, the check for the tables fails too.
  needsTables: false,
  async run (context) {
    const { session } = context
    const query: RunQuery = (text, values) => session.query('list privileges', text, values)
    const [own] = await query<{ role: string }>('select current_user::text as role from pg_namespace where nspname = $1', [context.schema])
    if (own === undefined) return []
    const { role } = own
    const workers = (await listWorkerRoles(context)).filter((worker) => worker !== role)
    const found = [await checkRole(query, context, role, fault), ...await Promise.all(workers.map((worker) => checkRole(query, context, worker, advice)))]
    return found.flat()
  }
}

/** `report` makes findings about the host's relations, which processes that only deliver do not read. */
async function checkRole (query: RunQuery, { schema, flags }: DoctorContext, role: string, report: typeof advice): Promise<Finding[]> {
  const lists = (await findLists(query, schema, flags)).flatMap(({ relation }) => relation ?? [])
  const lacking = await listLacking(query, schema, role)
  const onLists = await listLackingOnLists(query, role, lists)
  if (lacking.length + onLists.length === 0) return [ok(`${role} has all privileges that servers and workers need`)]
  const options = { schema, role, ...Object.fromEntries(['candidates', 'jobs'].map((name) => [name, flags.text(name)])) }
  const named = Object.entries(options).flatMap(([name, value]) => value === undefined ? [] : [` --${name} ${quoteShell(value)}`]).join('')
  const remedy = `as the owner of the schema and of your tables, run fastify-recruiting-api grants${named}${flags.has('no-lists') ? ' --no-lists' : ''} --apply`
  return [
    ...lacking.length === 0 ? [] : [fault(`${role} lacks ${lacking.join(', ')}`, remedy)],
    ...onLists.length === 0 ? [] : [report(`${role} lacks ${onLists.join(', ')}, and cannot serve lists`, remedy)]
  ]
}
