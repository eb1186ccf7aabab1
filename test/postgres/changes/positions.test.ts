import t from 'tap'
import { postgresStorage } from '../../../src/postgres/index.js'
import { compact, follow, withClient } from '../../fixtures/postgres/changes.js'
import { startPostgresHost, startPostgresServerHost } from '../../fixtures/postgres/postgres.js'

t.test('a position', async (t) => {
  const { pool, storage: { changes } } = await startPostgresHost(t)
  const record = (id: string, transaction?: unknown) => changes.record('acme', { kind: 'candidate', id, deleted: false }, transaction)
  const list = (after: string) => changes.list('acme', 'candidate', { after, limit: 10 })
  const state = async () => (await pool.query('select * from recruiting.change_state')).rows[0]

  t.test('of a restored database is not known', async (t) => {
    const position = await changes.begin('acme', 'candidate')
    await pool.query('update recruiting.change_state set id = gen_random_uuid()')
    t.equal(await list(position), null)
    t.not(await list(await changes.begin('acme', 'candidate')), null)
  })

  t.test('of a copy of the database, made by PostgreSQL itself, is not known', async (t) => {
    const { server, pool: original, storage } = await startPostgresHost(t)
    const position = await storage.changes.begin('acme', 'candidate')
    const { rows: [{ name }] } = await original.query('select current_database() as name')
    await pool.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
    await pool.query(`create database copied template ${name}`)
    const copy = server.createPool({ database: 'copied' })
    t.equal(await postgresStorage(copy).changes.list('acme', 'candidate', { after: position, limit: 1 }), null)
    t.not(await storage.changes.list('acme', 'candidate', { after: position, limit: 1 }), null)
  })

  t.test('that no transaction has reached is not known', async (t) => {
    const [xid, ...rest] = (await changes.begin('acme', 'candidate')).split('.')
    t.equal(await list([BigInt(xid ?? 0) + 1000n, ...rest].join('.')), null)
    t.equal(await list(['9'.repeat(19), ...rest].join('.')), null)
  })

  t.test('that is no position is not known', async (t) => {
    const [xid, id, epoch] = (await changes.begin('acme', 'candidate')).split('.')
    for (const text of ['', '..', `-1.${id}.${epoch}`, `${xid}.${id}`, `${xid}.a\0.${epoch}`, `${xid}.${'x'.repeat(65)}.${epoch}`, `${xid}.${id}.${epoch?.toUpperCase()}`, `${'9'.repeat(20)}..${epoch}`]) {
      t.equal(await list(text), null, text)
    }
  })

  t.test('is known until changes after it are pruned', async (t) => {
    const start = await changes.begin('acme', 'candidate')
    await record('1')
    const { position: middle } = await follow(changes, start)
    await record('2')
    t.equal(await changes.prune({ retentionDays: 1, limit: 10 }), 0, 'none is older than a day')
    await pool.query("update recruiting.changes set changed_at = now() - interval '2 days' where id = '1'")
    t.equal(await changes.prune({ retentionDays: 1, limit: 10 }), 1)
    t.equal(await list(start), null)
    t.strictSame((await follow(changes, middle)).ids, ['2'])
  })

  t.test('stays unknown when an older transaction\'s changes are pruned later', async (t) => {
    await changes.prune({ retentionDays: 0, limit: 10 })
    await withClient(pool, async (older) => {
      await older.query('begin; select pg_current_xact_id()')
      await record('young')
      await record('old', older)
      await older.query('commit')
    })
    await compact(changes)
    await pool.query("update recruiting.changes set changed_at = now() - interval '3 days' where id = 'young'")
    t.equal(await changes.prune({ retentionDays: 2, limit: 10 }), 1)
    const { pruned_before: prunedBefore } = await state()
    t.equal(await changes.prune({ retentionDays: 0, limit: 10 }), 1)
    t.equal((await state()).pruned_before, prunedBefore)
  })

  t.test('is given after a restore on a server whose transactions have lower ids', async (t) => {
    await pool.query(`
      update recruiting.change_state set pruned_before = '1000000000';
      insert into recruiting.changes values ('acme', 'candidate', 'restored', '999999999', false, now())`)
    const start = await changes.begin('acme', 'candidate')
    await record('1')
    t.strictSame((await follow(changes, start)).ids, ['1'])
    t.strictSame(await changes.stats(), { heldBackMs: 0, heldBackBy: null })
    await changes.prune({ retentionDays: 0, limit: 10 })
    t.equal(await list(start), null)
    t.ok(Number((await state()).pruned_before) < 1_000_000_000)
    await record('2')
    await pool.query("insert into recruiting.changes values ('acme', 'candidate', '2', '999999999', false, now())")
    await compact(changes)
    t.strictSame((await follow(changes, await changes.begin('acme', 'candidate'))).ids, [])
    const { rows } = await pool.query("select xid::text::bigint < 999999999 as is_own from recruiting.changes where id = '2'")
    t.strictSame(rows, [{ is_own: true }], 'the restored row is replaced')
  })
})

t.test('after a crash of the server, nothing is passed by, although ids of transactions are used again', async (t) => {
  const { server, pool, storage: { changes } } = await startPostgresServerHost(t, { settings: ['fsync=off', 'autovacuum=off', 'wal_writer_delay=10s'] })
  const record = (id: string, transaction?: unknown) => changes.record('acme', { kind: 'candidate', id, deleted: false }, transaction)
  const start = await changes.begin('acme', 'candidate')
  await record('1')
  const readXid = 'select pg_current_xact_id()::text as xid'
  const { rows: [{ xid: first }] } = await pool.query(readXid)
  for (let n = 0; n < 50; n++) await pool.query(readXid)
  const { ids, position } = await follow(changes, start)
  t.strictSame(ids, ['1'])

  await server.stop('immediate')
  await server.start()
  await record('2')
  t.ok(Number((await pool.query('select xid::text from recruiting.recent_changes where id = $1', ['2'])).rows[0].xid) <= Number(first) + 50, 'an id is used again')
  t.strictSame((await follow(changes, position)).ids, ['2'])
})
