// A process that only delivers. Start the servers with DELIVERY=no. Any number of these processes share the work.

import { createRecruiting } from 'fastify-recruiting-api'
import { postgresStorage } from 'fastify-recruiting-api/postgres'
import { readConfig } from './config.js'
import { openDatabase } from './database.js'

const { secretKeys, delivery, ...config } = readConfig(process.env)
const pool = await openDatabase(config)
const recruiting = createRecruiting({
  storage: postgresStorage(pool),
  secretKeys,
  delivery: { ...delivery, worker: true },
  logger: console
})
console.log('delivering')

// Deliveries in flight get time to finish.
async function stop (): Promise<void> {
  await recruiting.close()
  await pool.end()
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop)
