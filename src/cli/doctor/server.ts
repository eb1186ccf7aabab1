import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createChangeStats } from '../../postgres/changes/stats.js'
import { type Check, type Patient, fault, ok } from './finding.js'

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
      who.startsWith('process') ? `end it: select pg_terminate_backend(${who.split(' ')[1]})` : 'end it: commit prepared or rollback prepared'))
  }
}

/** Whether a transaction, possibly in another database of the server, hides changes from sync. */
export const sync: Check = {
  name: 'sync',
  needsTables: true,
  async run ({ session, quotedSchema, flags }) {
    const limit = flags.integer('max-transaction-seconds') ?? usualTransactionSeconds
    const { heldBackMs, heldBackBy } = await createChangeStats(session, quotedSchema)()
    if (heldBackMs <= 1000 * limit) return [ok(`changes wait for no transaction that is older than ${limit} s`)]
    const seconds = Math.floor(heldBackMs / 1000)
    return [fault(`${heldBackBy} has had a transaction open for ${seconds} s, so later changes of candidates and jobs wait`,
      'end this transaction: pg_terminate_backend(pid), or commit prepared or rollback prepared')]
  }
}

/** Whether this machine and the server agree on the time. */
export const clocks: Check = {
  name: 'clocks',
  needsTables: false,
  async run (patient) {
    const offsets = []
    for (let count = 0; count < samples; count++) offsets.push(await measureOffset(patient))
    const [best = { offsetMs: 0, uncertaintyMs: 0 }] = offsets.toSorted((one, other) => one.uncertaintyMs - other.uncertaintyMs)
    const seconds = Math.abs(best.offsetMs / 1000).toFixed(1)
    if (Math.abs(best.offsetMs) - best.uncertaintyMs <= maxOffsetMs) return [ok(`this machine and the server are ${seconds} s apart`)]
    return [fault(`this machine is ${seconds} s ${best.offsetMs > 0 ? 'ahead of' : 'behind'} the server`,
      'synchronize the clocks of both (NTP): receivers refuse notifications whose timestamp is minutes off')]
  }
}

async function measureOffset ({ session, now }: Patient): Promise<{ offsetMs: number, uncertaintyMs: number }> {
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
