import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { listLacking, listLackingOnLists } from '../../postgres/grants.js'
import type { RunQuery } from '../../postgres/session.js'
import { findMissing, listNames } from '../../postgres/upgrade/missing.js'
import { readVersion } from '../../postgres/upgrade/version.js'
import { findLists } from '../rights.js'
import { listWorkerRoles } from './deliveries.js'
import { advice, type Check, fault, type Finding, ok, type DoctorContext, quoteShell } from './finding.js'

/** Whether the migrations of this version have run. `schema` compares what they made. */
export const migrations: Check = {
  name: 'migrations',
  needsTables: false,
  async run ({ query, schema }) {
    const missing = await findMissing(query, schema, await readVersion())
    if (missing.migrations.length === 0) return [ok('all of them have run')]
    const remedy = `run fastify-recruiting-api migrate --schema ${quoteShell(schema)}`
    return [fault(`the schema ${schema} lacks ${listNames(missing).join(', ')}, so servers do not start`, remedy)]
  }
}

const maxOffsetMs = 5000
const samples = 3
const notifyMs = 2000

/** Whether this machine and the server agree on the time. */
export const clocks: Check = {
  name: 'clocks',
  needsTables: false,
  async run (context) {
    const offsets = []
    for (let count = 0; count < samples; count++) offsets.push(await measureOffset(context))
    const sorted = offsets.toSorted((one, other) => one.uncertaintyMs - other.uncertaintyMs)
    const [best = { offsetMs: 0, uncertaintyMs: 0 }] = sorted
    const seconds = Math.abs(best.offsetMs / 1000).toFixed(1)
    if (Math.abs(best.offsetMs) - best.uncertaintyMs <= maxOffsetMs) {
      return [ok(`the clocks of this machine and the server differ by ${seconds} s`)]
    }
    const problem = `this machine is ${seconds} s ${best.offsetMs > 0 ? 'ahead of' : 'behind'} the server`
    return [fault(`${problem}, and receivers reject notifications that are minutes off`,
      'synchronize the clocks of both, for example with chrony')]
  }
}

async function measureOffset ({ query, now }: DoctorContext): Promise<{ offsetMs: number, uncertaintyMs: number }> {
  const before = now()
  const [row] = await query<{ time: number }>('select (extract(epoch from clock_timestamp()) * 1000)::float8 as time')
  const after = now()
  return { offsetMs: (before + after) / 2 - Number(row?.time), uncertaintyMs: (after - before) / 2 }
}

/** Whether notifications arrive. Behind a pooler in transaction mode they do not. */
export const listening: Check = {
  name: 'listen',
  needsTables: false,
  async run ({ pool, query }) {
    const channel = `doctor_${randomBytes(8).toString('hex')}`
    const client = await pool.connect()
    try {
      const arrived = new Promise<boolean>((resolve) => client.on?.('notification', () => resolve(true)))
      await client.query(`listen "${channel}"`)
      await query(`notify "${channel}"`)
      const hasArrived = await Promise.race([arrived, sleep(notifyMs, false, { ref: false })])
      if (hasArrived) return [ok('notifications arrive')]
      const problem = 'notifications do not arrive: a pooler in transaction mode is in between'
      return [fault(`${problem}, so deliveries are found by polling`,
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
    const { query } = context
    const [own] = await query<{ role: string }>(
      'select current_user::text as role from pg_namespace where nspname = $1', [context.schema])
    if (own === undefined) return []
    const { role } = own
    const workers = (await listWorkerRoles(context)).filter((worker) => worker !== role)
    const others = await Promise.all(workers.map((worker) => checkRole(query, context, worker, advice)))
    return [await checkRole(query, context, role, fault), ...others].flat()
  }
}

/** `report` makes findings about the host's relations, which processes that only deliver do not read. */
async function checkRole (
  query: RunQuery, { schema, flags }: DoctorContext, role: string, report: typeof advice
): Promise<Finding[]> {
  const lists = (await findLists(query, schema, flags)).flatMap(({ relation }) => relation ?? [])
  const lacking = await listLacking(query, schema, role)
  const onLists = await listLackingOnLists(query, role, lists)
  if (lacking.length + onLists.length === 0) return [ok(`${role} has all privileges that servers and workers need`)]
  const options = { schema, role, candidates: flags.text('candidates'), jobs: flags.text('jobs') }
  const words = Object.entries(options)
    .flatMap(([name, value]) => value === undefined ? [] : [`--${name}`, quoteShell(value)])
  const command = ['grants', ...words, ...flags.has('no-lists') ? ['--no-lists'] : [], '--apply'].join(' ')
  const remedy = `as the owner of the schema and of your tables, run fastify-recruiting-api ${command}`
  return [
    ...lacking.length === 0 ? [] : [fault(`${role} lacks ${lacking.join(', ')}`, remedy)],
    ...onLists.length === 0 ? [] : [report(`${role} lacks ${onLists.join(', ')}, and cannot serve lists`, remedy)]
  ]
}
