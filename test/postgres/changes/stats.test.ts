import t from 'tap'
import { postgresStorage } from '../../../src/postgres/index.js'
import { follow, withClient } from '../../fixtures/postgres/changes.js'
import { startPostgresServerHost } from '../../fixtures/postgres/postgres.js'

t.test('readers are held back', async (t) => {
  const { pool, server, storage: { changes }, clear } = await startPostgresServerHost(t, { settings: ['fsync=off', 'autovacuum=off', 'max_prepared_transactions=2'] })
  t.beforeEach(clear)
  const record = (id: string, transaction?: unknown) => changes.record('acme', { kind: 'candidate', id, deleted: false }, transaction)
  const nobody = { heldBackMs: 0, heldBackBy: null }

  t.test('by a transaction that writes, whose owner is named, once a change is hidden', async (t) => {
    await withClient(pool, async (client) => {
      await client.query("set application_name to 'night import'; begin; select pg_current_xact_id()")
      const { rows: [{ pid }] } = await client.query('select pg_backend_pid() as pid')
      t.strictSame(await changes.stats(), nobody)
      await record('1')
      const { heldBackMs, heldBackBy } = await changes.stats()
      t.equal(heldBackBy, `pid ${pid}, user postgres, application night import`)
      const { rows: [{ ms }] } = await pool.query('select 1000 * extract(epoch from clock_timestamp() - xact_start)::float as ms from pg_stat_activity where pid = $1', [pid])
      t.ok(Number.isInteger(heldBackMs) && heldBackMs <= ms && heldBackMs > 0, `${heldBackMs} of ${ms} ms`)
      await client.query('commit; reset application_name')
      t.strictSame(await changes.stats(), nobody)
    })
  })

  t.test('by a transaction in another database of the server', async (t) => {
    await pool.query('create database other')
    await withClient(server.createPool({ database: 'other' }), async (client) => {
      await client.query('begin; select pg_current_xact_id()')
      await record('1')
      t.match((await changes.stats()).heldBackBy, /^pid \d+, user postgres, application $/)
    })
  })

  t.test('by a prepared transaction, which needs no connection', async (t) => {
    const start = await changes.begin('acme', 'candidate')
    await withClient(pool, async (client) => {
      await client.query('begin')
      await record('prepared', client)
      await client.query("prepare transaction 'two phases'")
    })
    await record('1')
    t.strictSame((await follow(changes, start)).ids, [])
    t.match(await changes.stats(), { heldBackBy: 'prepared transaction two phases, user postgres', heldBackMs: Number })
    await pool.query("commit prepared 'two phases'")
    t.strictSame((await follow(changes, start)).ids, ['prepared', '1'])
    t.strictSame(await changes.stats(), nobody)
  })

  t.test('by somebody whose transaction the database user may not see, for as long as the first change is hidden', async (t) => {
    await pool.query('create role app login; grant usage on schema recruiting to app; grant select on all tables in schema recruiting to app')
    const own = postgresStorage(server.createPool({ user: 'app' }))
    await withClient(pool, async (client) => {
      await client.query('begin; select pg_current_xact_id()')
      t.strictSame(await own.changes.stats(), nobody)
      await record('1')
      await pool.query("update recruiting.recent_changes set changed_at = now() - interval '1 hour'")
      const { heldBackMs, heldBackBy } = await own.changes.stats()
      t.match(heldBackBy, /^pid \d+, user postgres, application /)
      t.ok(heldBackMs >= 3_600_000)
    })
  })
})
