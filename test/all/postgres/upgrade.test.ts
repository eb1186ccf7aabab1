import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { listGrants, listLacking } from '../../../src/storages/postgres/grants.js'
import { migrate, postgresStorage } from '../../../src/storages/postgres/index.js'
import { upgrade } from '../../../src/storages/postgres/upgrade/migrate.js'
import { startUpgradeLoad } from '../../fixtures/postgres/next-version/load.js'
import { createNextPool, readNextVersion } from '../../fixtures/postgres/next-version/next-version.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { begin } from '../../fixtures/postgres/postgres.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

const added = ['800-notes.sql', '801-deliveries-ended.sql', 'claim_v2']

t.test('the next version', async (t) => {
  const server = await startPostgres(t)
  const pool = server.createPool()
  const next = await readNextVersion()

  async function readFunctions (schema: string): Promise<string[]> {
    const { rows } = await pool.query("select proname from pg_proc where pronamespace = $1::regnamespace and proname ~ '^claim_v' order by 1", [schema])
    return rows.map(({ proname }) => proname)
  }

  async function isIndexValid (schema: string): Promise<boolean | undefined> {
    const { rows } = await pool.query('select indisvalid from pg_index where indexrelid = to_regclass($1)', [`${schema}.deliveries_ended`])
    return rows[0]?.indisvalid
  }

  t.test('is installed while workers of both versions deliver and others emit', async (t) => {
    const receiver = await startReceiver(t)
    const load = await startUpgradeLoad(pool, receiver, 'busy', { workers: 2, emitters: 2, logged: 20_000 })
    await sleep(300)
    t.strictSame(await upgrade(pool, 'busy', next), added)
    await load.startNext()
    await sleep(300)
    const { emitted, delivered, errors } = await load.finish()
    t.strictSame([delivered, errors], [emitted, []])
    t.ok(emitted > 10)
    const { emitMs, completeMs } = load.readSlowest()
    t.ok(Math.max(emitMs, completeMs) < 2000, `the slowest emit took ${emitMs} ms, the slowest completion ${completeMs} ms`)
    t.strictSame(await upgrade(pool, 'busy', next), [])
  })

  t.test('waits for a lock in steps of half a second, so that others wait no longer', async (t) => {
    await migrate(pool, { schema: 'locked' })
    const { deliveries } = postgresStorage(pool, { schema: 'locked' })
    const client = await begin(pool, 'begin; select from locked.deliveries')
    const upgraded = upgrade(pool, 'locked', next)
    const list = () => deliveries.list('acme', 1, { filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 5 })
    while ((await pool.query("select from pg_locks where not granted and mode = 'AccessExclusiveLock'")).rows.length === 0);
    await t.resolves(list(), 'a query behind it continues')
    await client.finish('rollback')
    t.strictSame(await upgraded, added)
  })

  t.test('can be installed after a kill during an index build', async (t) => {
    await migrate(pool, { schema: 'killed' })
    const client = await begin(pool, 'begin isolation level repeatable read; select from pg_class')
    const upgraded = upgrade(pool, 'killed', next)
    upgraded.catch(() => {})
    const building = "from pg_stat_activity where query ~ '^create index concurrently' and wait_event_type = 'Lock'"
    while ((await pool.query(`select ${building}`)).rows.length === 0);
    await t.resolves(migrate(pool, { schema: 'other' }), 'another schema does not wait')
    await pool.query(`select pg_terminate_backend(pid) ${building}`)
    await t.rejects(upgraded)
    t.equal(await isIndexValid('killed'), false)
    await client.finish('rollback')
    const both = await Promise.all([upgrade(pool, 'killed', next), upgrade(pool, 'killed', next)])
    t.strictSame(both.flat().sort(), added.slice(1).sort(), 'each file runs once, in one of the two')
    t.equal(await isIndexValid('killed'), true)
  })

  t.test('grants new tables, sequences and functions to the roles that have the others', async (t) => {
    const [schema, quoted] = ['Granted "x"', '"Granted ""x"""']
    const [app, reader] = ['upgrade-app', 'upgrade-reader']
    await pool.query(`create role "${app}"; create role "${reader}"`)
    t.teardown(() => pool.query(`drop owned by "${app}", "${reader}"; drop role "${app}", "${reader}"`))
    await migrate(pool, { schema })
    for (const statement of listGrants(schema, app)) await pool.query(statement)
    await pool.query(`grant usage on schema ${quoted} to "${reader}"; grant select on all tables in schema ${quoted} to "${reader}"`)
    await pool.query('alter default privileges revoke execute on functions from public')
    await upgrade(pool, schema, next)
    await pool.query('alter default privileges grant execute on functions to public')
    const { rows } = await pool.query(`
      select r.rolname as role, array(
        select p from unnest(array['select', 'insert', 'update', 'delete']) as p where has_table_privilege(r.oid, '${quoted}.notes', p)
      ) as held, has_sequence_privilege(r.oid, '${quoted}.note_numbers', 'usage') as numbers,
        has_function_privilege(r.oid, (select oid from pg_proc where proname = 'claim_v2' and pronamespace = '${quoted}'::regnamespace), 'execute') as claims
      from pg_roles r where r.rolname in ($1, $2) order by 1`, [app, reader])
    t.strictSame(rows, [
      { role: app, held: ['select', 'insert'], numbers: true, claims: true },
      { role: reader, held: ['select'], numbers: false, claims: false }
    ], 'and a read-only role gets nothing else')
    t.strictSame(await listLacking(async (text, values) => (await pool.query(text, values)).rows, schema, app), [])
  })

  t.test('keeps the functions of the previous version, which can be started again', async (t) => {
    const schema = 'old'
    await migrate(pool, { schema })
    await upgrade(pool, schema, next)
    t.strictSame(await readFunctions(schema), ['claim_v1', 'claim_v2'])
    t.strictSame(await migrate(pool, { schema }), [], 'the previous version has nothing to do')
    for (const version of [pool, createNextPool(pool)]) {
      const { deliveries } = postgresStorage(version, { schema })
      t.same(await deliveries.claimDue({ limit: 1, perEndpoint: 1, leaseMs: 1000 }), [])
    }
  })
})
