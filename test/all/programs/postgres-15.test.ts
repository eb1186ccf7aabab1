import { dirname } from 'node:path'
import t from 'tap'
import { migrate, postgresStorage } from '../../../src/storages/postgres/index.js'
import { findProgram } from '../../fixtures/programs.js'
import { testConformance } from '../../fixtures/postgres/postgres-conformance.js'
import { createStoryTables, goodStory, tellStory } from '../../fixtures/postgres/host-story.js'
import { dumpDatabase, restoreDatabase } from '../../fixtures/postgres/postgres-copies.js'
import { startPostgresServer } from '../../fixtures/postgres/postgres-server.js'
import { createTables } from '../../fixtures/postgres/postgres.js'

const { path, missing } = findProgram('postgresql-15', ['/usr/lib/postgresql/15/bin/postgres'])

t.test('PostgreSQL 15 passes the conformance kit', { skip: missing }, async (t) => {
  const pool = (await startPostgresServer(t, { binaries: dirname(path) })).createPool()
  await testConformance(t, pool, await createTables(pool))
})

t.test('a database restored from a dump works, and rejects earlier positions', { skip: missing }, async (t) => {
  const binaries = dirname(path)
  const original = await startPostgresServer(t, { binaries })
  const pool = original.createPool()
  await createStoryTables(pool)
  const { changes } = postgresStorage(pool)
  const position = await changes.begin('acme', 'candidate')

  const copy = await startPostgresServer(t, { binaries })
  restoreDatabase(copy, dumpDatabase(original))
  const restored = copy.createPool()
  t.equal(await postgresStorage(restored).changes.list('acme', 'candidate', { after: position, limit: 1 }), null)
  t.strictSame(await migrate(restored), [])
  const { holds } = postgresStorage(restored)
  t.match(await holds.find(null), { reason: 'copy' })
  t.strictSame(await holds.adopt({ environment: null, pending: 'discard' }), { reason: 'copy', pending: 0 })
  t.strictSame(await tellStory(t, restored), goodStory)
})
