import t from 'tap'
import { postgresStorage } from '../../../src/postgres/index.js'
import { buildApp } from '../../fixtures/api/app.js'
import { peopleColumns, startSyncedPeople } from '../../fixtures/sync/synced-people.js'

t.test('the start warns of watched tables that are not recorded', async (t) => {
  const { pool, watchPeople } = await startSyncedPeople(t, `
    create table crm.people (${peopleColumns}) partition by range (id); create table crm.people_1 partition of crm.people for values from (0) to (9)`)
  async function warningsOf (): Promise<string[]> {
    const lines: string[] = []
    const storage = postgresStorage(pool, { candidates: 'crm.api_candidates', jobs: 'crm.api_jobs' })
    await buildApp(t, { storage, server: { logger: { level: 'warn', stream: { write: (line: string) => { lines.push(JSON.parse(line).msg) } } } } })
    return lines.filter((line) => line.includes('watched'))
  }
  t.strictSame(await warningsOf(), [], 'nothing is watched')
  await watchPeople()
  t.strictSame(await warningsOf(), [])
  await pool.query('create table crm.people_2 partition of crm.people for values from (10) to (19); alter table crm.people_1 disable trigger all')
  t.strictSame(await warningsOf(), [
    'crm.people_1, watched for candidates, has lost a trigger or has a disabled one: candidates/sync answers 404 until watch is called for crm.people again',
    'crm.people_2 became a partition of crm.people, which is watched for candidates, and is not watched itself: call watch for crm.people again'
  ])
  await watchPeople()
  t.strictSame(await warningsOf(), [])
})

t.test('a watched table that was renamed or dropped is forgotten', async (t) => {
  const { pool, watchPeople, serve, follow, copyOf, itemsOf } = await startSyncedPeople(t)
  await watchPeople()
  await serve()
  await follow()
  await pool.query('alter table crm.people rename to persons')
  t.equal(await follow(), 404, 'nothing is watched under a name that is there')
  await watchPeople('crm.persons')
  t.equal(await follow(), 200)
  await pool.query('delete from crm.persons where id = 1')
  t.equal(await follow(), 200)
  t.strictSame(copyOf(), await itemsOf())
  t.strictSame((await pool.query('select table_name from recruiting.watched_tables')).rows, [{ table_name: 'persons' }])
})
