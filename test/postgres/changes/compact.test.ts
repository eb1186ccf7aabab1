import t from 'tap'
import { compact, follow, withClient } from '../../fixtures/postgres/changes.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

t.test('pruning compacts recent changes', async (t) => {
  const { pool, storage: { changes }, clear } = await startPostgresHost(t)
  t.beforeEach(clear)
  const record = (id: string, transaction?: unknown) => changes.record('acme', { kind: 'candidate', id, deleted: false }, transaction)
  const begin = () => changes.begin('acme', 'candidate')
  const ids = async (table: string) => (await pool.query(`select id from recruiting.${table} order by id`)).rows.map(({ id }) => id)

  t.test('one row is left for each candidate', async (t) => {
    const start = await begin()
    for (const id of ['1', '2', '1', '1']) await record(id)
    t.strictSame(await ids('recent_changes'), ['1', '1', '1', '2'])
    await compact(changes)
    t.strictSame([await ids('recent_changes'), await ids('changes')], [[], ['1', '2']])
    t.strictSame((await follow(changes, start)).ids, ['2', '1'])
    await record('2')
    await compact(changes)
    t.strictSame(await ids('changes'), ['1', '2'])
    t.strictSame((await follow(changes, start)).ids, ['1', '2'])
  })

  t.test('those that readers do not see yet stay', async (t) => {
    const start = await begin()
    await record('seen')
    await withClient(pool, async (client) => {
      await client.query('begin; select pg_current_xact_id()')
      await record('hidden')
      await compact(changes)
      t.strictSame([await ids('recent_changes'), await ids('changes')], [['hidden'], ['seen']])
      t.strictSame((await follow(changes, start)).ids, ['seen'])
    })
    await compact(changes)
    t.strictSame(await ids('changes'), ['hidden', 'seen'])
  })

  t.test('the last change stays, also when an earlier one is compacted after it', async (t) => {
    const start = await begin()
    await record('1')
    const { position } = await follow(changes, start)
    await record('1')
    await withClient(pool, async (holder) => {
      await holder.query('begin; select from recruiting.recent_changes order by xid limit 1 for update')
      await compact(changes)
      t.strictSame([await ids('recent_changes'), await ids('changes')], [['1'], ['1']])
    })
    await compact(changes)
    t.strictSame([await ids('recent_changes'), await ids('changes')], [[], ['1']])
    t.strictSame((await follow(changes, position)).ids, ['1'])
  })

  t.test('a reader between two pages misses nothing', async (t) => {
    const start = await begin()
    for (const id of ['1', '2', '3', '4', '2']) await record(id)
    const page = await changes.list('acme', 'candidate', { after: start, limit: 2 })
    t.strictSame(page?.ids, ['1', '2'])
    await compact(changes)
    await record('5')
    t.strictSame((await follow(changes, page?.position ?? '', { limit: 2 })).ids, ['3', '4', '2', '5'])
  })

  t.test('more than one statement moves, and by processes at once', async (t) => {
    const start = await begin()
    await pool.query("select recruiting.changed('acme', 'candidate', n::text) from generate_series(1, 25000) as n, generate_series(1, 2)")
    await Promise.all([compact(changes), compact(changes), compact(changes)])
    t.equal((await ids('recent_changes')).length, 0)
    t.equal((await ids('changes')).length, 25_000)
    t.equal(new Set((await follow(changes, start, { limit: 5000 })).ids).size, 25_000)
  })

  t.test('logical replication can follow', async (t) => {
    await pool.query('create publication everything for all tables')
    await record('1')
    await t.resolves(compact(changes))
    await pool.query('drop publication everything')
    t.strictSame(await ids('changes'), ['1'])
  })
})
