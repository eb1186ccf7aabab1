// Writes dist/schema.json, the tables that the migrations create: `doctor` compares a database with it.

import { startPostgresServer } from '../test/fixtures/postgres/postgres-server.js'
import { writeDescription } from '../test/fixtures/postgres/postgres.js'

const closers: Array<() => unknown> = []
const server = await startPostgresServer({ teardown: (close) => { closers.unshift(close) } })
await writeDescription(server.createPool())
for (const close of closers) await close()
process.exit()
