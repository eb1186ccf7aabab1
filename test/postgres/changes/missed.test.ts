import t from 'tap'
import { postgresStorage, watch, watchSql, type WatchOptions } from '../../../src/storages/postgres/index.js'
import { buildApp } from '../../fixtures/api/app.js'
import { withClient } from '../../fixtures/postgres/changes.js'
import { requestSync } from '../../fixtures/sync/sync-client.js'
import { peopleColumns, startSyncedPeople } from '../../fixtures/sync/synced-people.js'

const people: WatchOptions = { kind: 'candidate', id: 'id', tenant: 'company' }

const table = `
  create table crm.people (${peopleColumns});
  create table crm.companies (slug text primary key); insert into crm.companies values ('acme')`

/** Statements after which the trigger's expressions fail, and the options that repair the watch. */
const faults: Array<[what: string, options: WatchOptions, fault: string, repaired: WatchOptions]> = [
  ['a column was renamed', people, 'alter table crm.people rename company to account',
    { ...people, tenant: 'account' }],
  ['a table of an expression was dropped', { ...people, tenant: '(select slug from companies where slug = row.company)' },
    'drop table crm.companies', people],
  ['an expression returns several rows', { ...people, tenant: '(select slug from companies)' },
    "insert into crm.companies values ('globex')", people],
  ['a value cannot be computed', { ...people, id: '(1 / (row.id - 4))' }, 'select', people]
]

for (const [what, options, fault, repaired] of faults) {
  t.test(`when ${what}, writes succeed and sync returns 410 until watch repairs it`, async (t) => {
    const { pool, serve, follow, assertExact } = await startSyncedPeople(t, table)
    await watch(pool, 'crm.people', options)
    await serve()
    t.equal(await follow(), 200)
    await pool.query(fault)
    for (const write of [
      "insert into crm.people values (4, 'acme', 'Late')", "update crm.people set name = 'Changed' where id = 2",
      'delete from crm.people where id = 1', "begin; insert into crm.people values (5, 'acme', 'Later'); commit"
    ]) await t.resolves(pool.query(write), write)
    t.equal(await follow(), 410)
    t.equal((await pool.query('select from recruiting.missed_changes')).rows.length, 1, 'stored once')

    await watch(pool, 'crm.people', repaired)
    await assertExact(t)
    await pool.query('delete from crm.people where id = 2')
    await assertExact(t)
  })
}

t.test('truncating a table whose trigger fails succeeds, and the next watch expires tokens even if nothing else changed', async (t) => {
  const { pool, begin, follow, watchPeople, assertExact } = await startSyncedPeople(t)
  await begin()
  await pool.query('alter table crm.people rename company to account; truncate crm.people; alter table crm.people rename account to company')
  t.equal(await follow(), 410)
  await watchPeople()
  await assertExact(t, 1)
  // It repairs once.
  await watchPeople()
  await assertExact(t, 1)
})

t.test('a writer whose trigger fails uses one subtransaction per statement, and waits for no other writer', async (t) => {
  const { pool, watchPeople } = await startSyncedPeople(t)
  await watchPeople()
  await pool.query('alter table crm.people rename company to account')
  await withClient(pool, async (first) => {
    // Other suites take ids from the same server.
    let fewest = Infinity
    for (let id = 600; id < 700 && fewest > 6; id++) {
      await first.query("begin; insert into crm.people select n, 'acme', 'x' from generate_series(10, 500) n")
      await withClient(pool, async (second) => {
        await second.query(`
          begin; set local lock_timeout to '100ms'; insert into crm.people values (${id}, 'acme', 'x'); commit`)
      })
      const { rows } = await first.query(`
        select pg_current_xact_id()::text::bigint as own,
          pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next`)
      fewest = Math.min(fewest, rows[0].next - rows[0].own)
      await first.query('rollback')
    }
    t.ok(fewest <= 6, 'ids of transactions that two statements took')
  })
})

t.test('a writer succeeds even if missed changes cannot be stored', async (t) => {
  const { pool, watchPeople } = await startSyncedPeople(t)
  await watchPeople()
  await pool.query('alter table crm.people rename company to account; alter table recruiting.missed_changes rename to hidden')
  await t.resolves(pool.query("insert into crm.people values (4, 'acme', 'Late')"))
})

t.test('log and warnings name the table whose changes were missed', async (t) => {
  const { pool, watchPeople } = await startSyncedPeople(t)
  await watchPeople()
  const lines: string[] = []
  async function start () {
    const stream = { write: (line: string) => { lines.push(JSON.parse(line).msg) } }
    const storage = postgresStorage(pool, { candidates: 'crm.api_candidates', jobs: 'crm.api_jobs' })
    return buildApp(t, { storage, server: { logger: { level: 'warn', stream } } })
  }
  const app = await start()
  await pool.query("alter table crm.people rename company to account; insert into crm.people values (4, 'acme', 'Late')")
  const { statusCode, body } = await requestSync(app)
  t.match([statusCode, JSON.parse(body).error.code], [410, 'sync_token_expired'])
  t.ok(lines.includes('changes of the kind candidate were missed, so its sync returns 410: doctor names the table, and watch repairs it'))
  t.match((await app.recruiting.stats()).changes?.missed, [{ kind: 'candidate', table: 'crm.people', eventType: null }])
  await start()
  t.match(lines.filter((line) => line.startsWith('crm.people')), [
    /^crm\.people, watched for the kind candidate, has missed changes since 20\S+Z, because its trigger failed \(column row\.company does not exist\): /
  ])
})

t.test("watch runs in the host's transaction, together with its migration", async (t) => {
  const { pool, begin, assertExact } = await startSyncedPeople(t)
  await begin()
  await withClient(pool, async (client) => {
    await client.query("begin; set local lock_timeout to '7s'; alter table crm.people rename company to account")
    await t.rejects(watch(null, 'crm.people', { ...people, transaction: client }), { code: 'invalid_option', field: 'tenant' })
    await watch(null, 'crm.people', { ...people, tenant: 'account', transaction: client })
    const { rows: [settings] } = await client.query("select current_setting('lock_timeout') as lock, current_setting('search_path') as path")
    t.strictSame(settings, { lock: '7s', path: '"$user", public' }, 'settings are as before')
    await client.query("insert into crm.people values (4, 'acme', 'New')")
    await client.query('commit')
  })
  await assertExact(t)
  t.equal((await pool.query('select from recruiting.missed_changes')).rows.length, 0)

  await t.test('values other than transactions are rejected', async (t) => {
    for (const transaction of [pool, {}, 5, null]) {
      await t.rejects(watch(null, 'crm.people', { ...people, tenant: 'account', transaction }), { code: 'invalid_event', field: 'transaction' })
    }
    await t.rejects(watch(null, 'crm.people', people), { code: 'invalid_option', field: 'pool' })
  })
})

t.test('the SQL of watch changes triggers together with columns, in a migration tool', async (t) => {
  const { pool, begin, follow, assertExact } = await startSyncedPeople(t)
  await begin()
  await pool.query('alter table crm.people rename company to account')
  const sql = await watchSql(pool, 'crm.people', { ...people, tenant: 'account' })
  await pool.query('alter table crm.people rename account to company')
  t.equal(await follow(), 200, 'nothing has changed yet')
  await pool.query(`
    set quote_all_identifiers to on; begin; alter table crm.people rename company to account; ${sql} commit; reset quote_all_identifiers`)
  await pool.query("insert into crm.people values (4, 'acme', 'New')")
  await assertExact(t)
  const before = (await pool.query('select parts from recruiting.watched_tables')).rows
  await watch(pool, 'crm.people', { ...people, tenant: 'account' })
  t.strictSame((await pool.query('select parts from recruiting.watched_tables')).rows, before, 'watch finds nothing to do')
})
