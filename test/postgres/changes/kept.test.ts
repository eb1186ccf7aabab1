import t from 'tap'
import { compact, follow, withClient } from '../../fixtures/postgres/changes.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { peopleColumns, startSyncedPeople } from '../../fixtures/sync/synced-people.js'

t.test('pruning compacts recent changes', async (t) => {
  const { pool, storage: { changes }, clear } = await startPostgresHost(t)
  t.beforeEach(clear)
  const record = (id: string, transaction?: unknown) => changes.record('acme', { kind: 'candidate', id, deleted: false }, transaction)
  const begin = () => changes.begin('acme', 'candidate')
  const ids = async (table: string) => (await pool.query(`select id from recruiting.${table} order by id`)).rows.map(({ id }) => id)

  t.test('one row per candidate is left', async (t) => {
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

  t.test('changes that readers cannot see yet stay', async (t) => {
    const start = await begin()
    await record('seen')
    await withClient(pool, async (client) => {
      await client.query('begin')
      await record('open', client)
      await record('hidden')
      await compact(changes)
      t.strictSame([await ids('recent_changes'), await ids('changes')], [['hidden'], ['seen']])
      t.strictSame((await follow(changes, start)).ids, ['seen'])
    })
    await compact(changes)
    t.strictSame(await ids('changes'), ['hidden', 'seen'])
  })

  t.test('the last change stays, even if an earlier one is compacted after it', async (t) => {
    const start = await begin()
    await record('1')
    const { position } = await follow(changes, start)
    await record('1')
    await withClient(pool, async (holder) => {
      await holder.query('begin; select from recruiting.recent_changes order by seq limit 1 for update')
      await compact(changes)
      t.strictSame([await ids('recent_changes'), await ids('changes')], [['1'], ['1']])
    })
    await compact(changes)
    t.strictSame([await ids('recent_changes'), await ids('changes')], [[], ['1']])
    t.strictSame((await follow(changes, position)).ids, ['1'])
  })

  t.test('concurrent processes move more than one batch', async (t) => {
    const start = await begin()
    await pool.query("select recruiting.changed('acme', 'candidate', n::text) from generate_series(1, 25000) as n, generate_series(1, 2)")
    await Promise.all([compact(changes), compact(changes), compact(changes)])
    t.equal((await ids('recent_changes')).length, 0)
    t.equal((await ids('changes')).length, 25_000)
    t.equal(new Set((await follow(changes, start, { limit: 5000 })).ids).size, 25_000)
  })
})

const parted = `
  create table crm.people (${peopleColumns}) partition by range (id);
  create table crm.people_1 partition of crm.people for values from (0) to (100)`

t.test('rows of an attached partition reach copies', async (t) => {
  const { pool, begin, follow, watchPeople, assertExact } = await startSyncedPeople(t, parted)
  await begin()
  await pool.query(`create table crm.people_2 (${peopleColumns}); insert into crm.people_2 values (101, 'acme', 'Attached'); alter table crm.people attach partition crm.people_2 for values from (100) to (200)`)

  t.test('after watch, and tokens stay valid', async (t) => {
    await watchPeople()
    await assertExact(t, 0)
    await pool.query("update crm.people_2 set name = 'Changed by its name'")
    await assertExact(t, 0)
  })

  t.test('even if a detached partition is attached again', async (t) => {
    await pool.query('alter table crm.people detach partition crm.people_2')
    await assertExact(t)
    await watchPeople()
    await assertExact(t, 2)
    await pool.query('alter table crm.people attach partition crm.people_2 for values from (100) to (200)')
    await watchPeople()
    await assertExact(t, 2)
  })

  t.test('before watch, because tokens expire', async (t) => {
    await pool.query(`create table crm.people_3 (${peopleColumns}); insert into crm.people_3 values (201, 'acme', 'Attached'); alter table crm.people attach partition crm.people_3 for values from (200) to (300)`)
    await assertExact(t, 3)
    await watchPeople()
    await assertExact(t)
  })

  t.test('and rows of a dropped partition leave copies', async (t) => {
    await pool.query('drop table crm.people_3')
    await assertExact(t)
    await watchPeople()
    await assertExact(t)
  })

  t.test('sync is not served while a partition has lost its triggers', async (t) => {
    await pool.query('alter table crm.people_1 disable trigger all')
    t.equal(await follow(), 404)
    await watchPeople()
    t.equal(await follow(), 200)
  })
})

t.test('after writes that bypassed the triggers, expiring tokens makes copies exact', async (t) => {
  const { pool, begin, follow, compare, assertExact } = await startSyncedPeople(t)
  await begin()
  await withClient(pool, (client) => client.query('begin; set local session_replication_role = replica; delete from crm.people where id = (select min(id) from crm.people); commit'))
  await follow()
  const { copy, items } = await compare()
  t.notSame(copy, items, 'no one can detect it')
  await pool.query('select recruiting.end_sync_tokens()')
  await assertExact(t, 1)
})
