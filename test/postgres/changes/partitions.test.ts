import t from 'tap'
import { peopleColumns, startSyncedPeople } from '../../fixtures/sync/synced-people.js'

const parted = `
  create table crm.people (${peopleColumns}) partition by range (id);
  create table crm.people_1 partition of crm.people for values from (0) to (100)`

t.test('rows that come with a partition reach copies', async (t) => {
  const { pool, serve, follow, watchPeople, copyOf, itemsOf, restarts } = await startSyncedPeople(t, parted)
  await watchPeople()
  await serve()
  await follow()
  await pool.query(`create table crm.people_2 (${peopleColumns}); insert into crm.people_2 values (101, 'acme', 'Attached'); alter table crm.people attach partition crm.people_2 for values from (100) to (200)`)

  t.test('after watch, and tokens stay valid', async (t) => {
    await watchPeople()
    t.equal(await follow(), 200)
    t.strictSame([copyOf(), restarts()], [await itemsOf(), 0])
    await pool.query("update crm.people_2 set name = 'Changed by its name'")
    await follow()
    t.strictSame([copyOf(), restarts()], [await itemsOf(), 0])
  })

  t.test('also when a partition comes back that was detached', async (t) => {
    await pool.query('alter table crm.people detach partition crm.people_2')
    await follow()
    t.strictSame(copyOf(), await itemsOf(), 'without its rows')
    await watchPeople()
    await follow()
    const before = restarts()
    await pool.query('alter table crm.people attach partition crm.people_2 for values from (100) to (200)')
    await watchPeople()
    await follow()
    t.strictSame([copyOf(), restarts()], [await itemsOf(), before])
  })

  t.test('before watch, because tokens expire', async (t) => {
    await pool.query(`create table crm.people_3 (${peopleColumns}); insert into crm.people_3 values (201, 'acme', 'Attached'); alter table crm.people attach partition crm.people_3 for values from (200) to (300)`)
    t.equal(await follow(), 200)
    t.strictSame(copyOf(), await itemsOf())
    await watchPeople()
    t.equal(await follow(), 200)
    t.strictSame(copyOf(), await itemsOf())
  })

  t.test('and those that go with one leave copies', async (t) => {
    await pool.query('drop table crm.people_3')
    t.equal(await follow(), 200)
    t.strictSame(copyOf(), await itemsOf())
    await watchPeople()
    t.equal(await follow(), 200)
    t.strictSame(copyOf(), await itemsOf())
  })

  t.test('sync is not served while a partition has lost its triggers', async (t) => {
    await pool.query('alter table crm.people_1 disable trigger all')
    t.equal(await follow(), 404)
    await watchPeople()
    t.equal(await follow(), 200)
  })
})
