import { migrate, postgresStorage } from 'fastify-recruiting-api/postgres'
import pg from 'pg'
import { drain } from '../deliver/drain.js'
import { createEvents, createWebhooks, record } from '../deliver/recording.js'
import type { Work } from '../deliver/work.js'
import { serveQuestions } from '../harness/helper.js'

/** `node own-worker.js <database URL>` */
const [connectionString = ''] = process.argv.slice(2)
let peakBytes = 0

serveQuestions({
  /** Records everything, in new tables. */
  async record (work) {
    const pool = new pg.Pool({ connectionString, options: '-c synchronous_commit=off' })
    await pool.query('drop schema if exists recruiting cascade')
    await migrate(pool)
    const storage = postgresStorage(pool)
    const { ports } = work as Work
    await createWebhooks(storage, ports)
    await record(storage, createEvents(work as Work), work as Work)
    // Like autovacuum a minute later.
    await pool.query('vacuum analyze')
    await pool.end()
  },
  async send (work) {
    const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: 5000 })
    const watch = setInterval(() => { peakBytes = Math.max(peakBytes, process.memoryUsage().rss) }, 100)
    const done = await drain(postgresStorage(pool), work as Work)
    clearInterval(watch)
    await pool.end()
    return done
  },
  /** Peak memory in bytes. */
  memory: () => peakBytes
})
