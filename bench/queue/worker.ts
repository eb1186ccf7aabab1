import { migrate, postgresStorage } from 'fastify-recruiting-api/postgres'
import pg from 'pg'
import { drain } from '../deliver/drain.js'
import type { Work } from '../deliver/work.js'
import { serveQuestions } from '../harness/helper.js'

/** `node worker.js <database URL>`. Its connections stay open, as in a process that runs for long. */
const [connectionString = ''] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: 5000, idleTimeoutMillis: 0 })
const storage = postgresStorage(pool)

serveQuestions({
  migrate: () => migrate(pool),
  send: (work) => drain(storage, work as Work),
  /** Claims 64 deliveries, and stops before it has read them. */
  stop () {
    storage.deliveries.claimDue({ limit: 64, perEndpoint: 4, leaseMs: 60_000 }).catch(() => {})
    setTimeout(() => process.kill(process.pid, 'SIGSTOP'), 20)
  }
})
