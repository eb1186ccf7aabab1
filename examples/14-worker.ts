// A process that only delivers, for servers with `delivery: false`. Any number of such processes share the work.
//
// npm install pg pino
// DATABASE_URL=postgres://localhost/ats tsx examples/14-worker.ts

import pg from 'pg'
import { pino } from 'pino'
import { createRecruiting } from 'fastify-recruiting-api'
import { migrate, postgresStorage } from 'fastify-recruiting-api/postgres'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, connectionTimeoutMillis: 5000 })
await migrate(pool)

const logger = pino()
const recruiting = createRecruiting({ storage: postgresStorage(pool), logger })
logger.info('delivering')

// On close, deliveries in flight get time to finish.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => recruiting.close().then(() => pool.end()))
