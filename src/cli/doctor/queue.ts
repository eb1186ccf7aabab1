import { setTimeout as sleep } from 'node:timers/promises'
import { channelOf } from '../../postgres/deliveries/due.js'
import { postgresStorage } from '../../postgres/index.js'
import { type Check, type Patient, fault, ok, unknown } from './finding.js'

const usualDueSeconds = 300
const usualWaitSeconds = 3
const sampleMs = 100

/** Whether due deliveries are attempted in time. */
export const dueDeliveries: Check = {
  name: 'due deliveries',
  needsTables: true,
  async run ({ pool, schema, flags }) {
    const { oldestDueMs } = await postgresStorage(pool, { schema }).deliveries.stats()
    const seconds = Math.round(oldestDueMs / 1000)
    const limit = flags.integer('max-due-seconds') ?? usualDueSeconds
    if (seconds <= limit) return [ok(`the oldest has been due for ${seconds} s`)]
    return [fault(`the oldest has been due for ${seconds} s`,
      'start a worker, or add workers or raise delivery.concurrency if they run')]
  }
}

/** Whether any process delivers: one that listens on the channel of the schema, or claims deliveries. */
export const workers: Check = {
  name: 'workers',
  needsTables: true,
  async run (patient) {
    const waitMs = 1000 * (patient.flags.integer('wait-seconds') ?? usualWaitSeconds)
    const startedAt = performance.now()
    // A worker behind a pooler is seen only while its last statement was a claim, once every pollMs.
    for (;;) {
      const { count, hidden } = await countWorkers(patient)
      if (count > 0) return [ok(`${count} connections of workers`)]
      if (performance.now() - startedAt < waitMs) {
        await sleep(sampleMs)
        continue
      }
      if (hidden > 0) return [unknown('the database user may not see the statements of others', 'grant pg_monitor to the database user')]
      return [fault('no process delivers', 'start one: a server without delivery: false, or a process with createRecruiting')]
    }
  }
}

async function countWorkers ({ session, schema, quotedSchema }: Patient): Promise<{ count: number, hidden: number }> {
  const [row] = await session.query<{ count: number, hidden: number }>('look for workers', `
    select count(*) filter (where query = $1 or (starts_with(query, $2) and strpos(query, $3) > 0 and query_start > clock_timestamp() - interval '1 minute'))::int as count,
      count(*) filter (where query = '<insufficient privilege>')::int as hidden
    from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  [`listen "${channelOf(schema)}"`, '/* fastify-recruiting-api claim deliveries', `${quotedSchema}.`])
  return { count: 0, hidden: 0, ...row }
}
