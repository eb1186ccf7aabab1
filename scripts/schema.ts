// Writes the schema created by the migrations to src/storages/postgres/schema.json, for `doctor`.

import { writeFile } from 'node:fs/promises'
import { migrate } from '../src/storages/postgres/index.js'
import { createSession } from '../src/storages/postgres/session.js'
import { countRows, descriptionFile, describeSchema, parseKey } from '../src/storages/postgres/upgrade/describe.js'
import { startPostgresServer } from '../test/fixtures/postgres/postgres-server.js'

const closers: Array<() => unknown> = []
const server = await startPostgresServer({ teardown: (close) => { closers.unshift(close) } })
const pool = server.createPool()
await migrate(pool)
const description = await createSession(pool, 10_000).transaction('describe', async (query) => {
  const found = await describeSchema(query, 'recruiting')
  const tables = [...found.keys()].map(parseKey).filter(({ kind }) => kind === 'table').map(({ owner }) => owner)
  const counts = await countRows(query, 'recruiting', tables)
  const filled = [...counts].filter(([key, count]) => count !== '0' && key !== 'rows migrations')
  return [...found].filter(([key]) => parseKey(key).kind !== 'body').concat(filled)
})
await writeFile(descriptionFile, `${JSON.stringify(Object.fromEntries(description), null, 2)}\n`)
for (const close of closers) await close()
process.exit()
