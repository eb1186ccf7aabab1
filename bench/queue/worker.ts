import { postgresStorage } from 'fastify-recruiting-api/postgres'
import pg from 'pg'
import { drain } from '../deliver/drain.js'
import type { Work } from '../deliver/work.js'
import { serveQuestions } from '../harness/helper.js'

/** `node worker.js <database URL>`. Its connections stay open, as in a process that runs for long. */
const [connectionString = ''] = process.argv.slice(2)
const storage = postgresStorage(new pg.Pool({ connectionString, idleTimeoutMillis: 0 }))

serveQuestions({ send: (work) => drain(storage, work as Work) })
