import { readdir } from 'node:fs/promises'
import pg from 'pg'
import t from 'tap'
import { migrate, postgresStorage } from '../../src/storages/postgres/index.js'
import { upgrade } from '../../src/storages/postgres/upgrade/migrate.js'
import { readFolder, readVersion } from '../../src/storages/postgres/upgrade/version.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'
import { begin } from '../fixtures/postgres/postgres.js'

const version = await readVersion()
const migrations = (await readdir(new URL('../../src/storages/postgres/migrations/', import.meta.url))).sort()
const names = [...migrations, ...version.functions.keys()]
const tableNames = [
  'api_keys', 'change_state', 'changes', 'deliveries', 'ended_changes', 'event_subjects', 'events', 'home', 'marks', 'migrations',
  'missed_changes', 'notices', 'paused_webhooks', 'queue', 'recent_changes', 'requests', 'stopped_webhooks', 'tenants',
  'watched_tables', 'webhook_health', 'webhooks'
]

t.test('migrating', async (t) => {
  const server = await startPostgres(t)
  const pool = server.createPool()

  async function tables (schema: string): Promise<string[]> {
    const { rows } = await pool.query('select tablename from pg_tables where schemaname = $1 order by 1', [schema])
    return rows.map(({ tablename }) => tablename)
  }

  t.test('ten processes that start together migrate once', async (t) => {
    const pools = Array.from({ length: 10 }, () => server.createPool())
    await Promise.all(pools.map((each) => migrate(each)))
    const { rows } = await pool.query('select name from recruiting.migrations order by name')
    t.strictSame(rows.map(({ name }) => name), migrations)
    t.strictSame(await tables('recruiting'), tableNames)
  })

  t.test("no index sorts text by a language's collation, which may change", async (t) => {
    const { rows } = await pool.query(`
      select a.attrelid::regclass::text as index, a.attname as column
      from pg_index i
      join pg_class c on c.oid = i.indexrelid and c.relnamespace = 'recruiting'::regnamespace
      join pg_attribute a on a.attrelid = i.indexrelid
      where a.attcollation not in (0, '"C"'::regcollation)`)
    t.strictSame(rows, [])
  })

  t.test('a dry run changes nothing and returns what would run', async (t) => {
    t.strictSame(await migrate(pool, { schema: 'dry', dryRun: true }), names)
    t.strictSame(await tables('dry'), [])
    t.strictSame(await migrate(pool, { schema: 'dry' }), names)
    t.strictSame(await migrate(pool, { schema: 'dry', dryRun: true }), [])
    await t.rejects(migrate(pool, { dryRun: 'yes' as unknown as boolean }), { code: 'invalid_option', field: 'dryRun' })
  })

  t.test('a migration that cannot get a lock rejects and leaves nothing', async (t) => {
    await pool.query('create schema locked')
    const client = await begin(pool, 'begin; create table locked.migrations (name text)')
    await t.rejects(upgrade(pool, 'locked', version, 1000), { message: /lock timeout/ })
    t.strictSame(await tables('locked'), [])
    const migrated = migrate(pool, { schema: 'locked' })
    while ((await pool.query("select from pg_stat_activity where wait_event_type = 'Lock'")).rows.length === 0);
    await client.finish('rollback')
    t.strictSame(await migrated, names, 'it retries for a minute')
  })

  t.test('a migration that waits too long for another one rejects, alone or with others', async (t) => {
    const warnings: string[] = []
    const onWarning = ({ message }: Error): void => { warnings.push(message) }
    process.on('warning', onWarning)
    t.teardown(() => process.off('warning', onWarning))
    const client = await pool.connect()
    t.teardown(() => client.release())
    await client.query('select pg_advisory_lock(hashtextextended($1, 0))', ['fastify-recruiting-api migrate twice'])
    const { rows: [{ pid }] } = await client.query('select pg_backend_pid() as pid')
    await t.rejects(upgrade(pool, 'twice', version, 50), {
      code: 'storage_timeout', message: new RegExp(`^migrate gave up after waiting 1 s for pid ${pid} \\(`)
    })
    t.match(warnings, [new RegExp(`^migrate waits for up to 0.5 s for pid ${pid} \\(`)])

    await client.query(
      'select pg_advisory_unlock_all(); create schema twice; begin; create table twice.migrations (name text)'
    )
    const waiting = [1, 2, 3].map(() => upgrade(pool, 'twice', version, 1000).catch(({ message }: Error) => message))
    const ended = await Promise.all(waiting)
    await client.query('rollback')
    for (const message of ended) {
      t.match(message, new RegExp(`^migrate gave up after waiting \\d s for pid ${pid} \\(.*lock timeout`))
    }
  })

  t.test("every function's name has a version, except functions for hosts", async (t) => {
    const { rows } = await pool.query("select proname from pg_proc where pronamespace = 'recruiting'::regnamespace and proname !~ '_v[0-9]+$' order by 1")
    t.strictSame(rows, [{ proname: 'changed' }, { proname: 'end_sync_tokens' }])
  })

  t.test('a schema can have any valid name, and nothing outside it changes', async (t) => {
    for (const schema of ['Größe "x"; drop schema recruiting', 'a.b', 'ß'.repeat(31), "it's"]) {
      await migrate(pool, { schema })
      t.strictSame(await tables(schema), tableNames, schema)
      await t.resolves(postgresStorage(pool, { schema }).verify(null))
    }
    t.strictSame(await tables('public'), [])
  })

  t.test('invalid schema names are rejected', async (t) => {
    for (const schema of ['', 'x'.repeat(64), 'ß'.repeat(32), 'a\0b', '\ud800', 'pg_mine', 5 as unknown as string]) {
      await t.rejects(migrate(pool, { schema }), { code: 'invalid_option', field: 'schema' })
      t.throws(() => postgresStorage(pool, { schema }), { code: 'invalid_option', field: 'schema' })
    }
  })

  t.test('a user who cannot create schemas can migrate an existing one', async (t) => {
    await pool.query('create role tenant_app login; create schema given authorization tenant_app')
    const own = server.createPool({ user: 'tenant_app' })
    await migrate(own, { schema: 'given' })
    t.strictSame(await tables('given'), tableNames)
    await t.rejects(migrate(own, { schema: 'not_given' }), { message: /permission denied/ })
  })

  t.test("the vendor's tool can run the files, and migrate runs later ones", async (t) => {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    await client.query('create schema by_tool')
    const texts = [...version.migrations.values(), ...version.functions.values()]
    for (const path of ['by_tool', 'by_tool, public, pg_temp', 'nowhere, pg_temp']) {
      await client.query(`set search_path to ${path}`)
      await t.rejects(client.query(String(texts[0])), {
        message: `search_path: expected the schema of the tables and pg_temp, such as recruiting, pg_temp, got ${path}`
      })
    }
    await client.query('set search_path to by_tool, pg_temp')
    for (const text of texts.slice(0, -1)) await client.query(text)
    await client.end()

    const storage = postgresStorage(pool, { schema: 'by_tool' })
    await t.rejects(storage.verify(null), {
      code: 'storage_not_ready',
      field: 'schema',
      message: `the schema by_tool lacks the migrations ${names.at(-1)}: call migrate(pool, { schema: "by_tool" }) before starting`
    })
    await migrate(pool, { schema: 'by_tool' })
    await t.resolves(storage.verify(null))
  })

  t.test("temporary objects do not run with the owner's rights, even if a tool creates the functions in a wrong path", async (t) => {
    await migrate(pool, { schema: 'planted' })
    const texts = [...version.functions.values()].filter((text) => text.includes('security definer'))
    await pool.query(`set search_path to planted; ${texts.join(';')}; reset search_path;
      create role sower login; grant usage on schema planted to sower`)
    const sower = server.createPool({ user: 'sower', max: 1 })
    await sower.query(`
      create temp table seen (role text); grant all on seen to public;
      create function pg_temp.spy () returns boolean language plpgsql
        as $$ begin insert into pg_temp.seen values (current_user); return true; end $$;
      create temp view pg_locks as select *, pg_temp.spy() from pg_catalog.pg_locks where pg_temp.spy();
      grant select on pg_locks to public;
      create domain pg_temp.text as pg_catalog.text check (pg_temp.spy())`)
    const sequence = "'planted.recent_changes_seq_seq'"
    await sower.query(`select planted.start_recording_v1(${sequence}); select planted.recorded_to_v1(${sequence})`)
    t.strictSame((await sower.query('select role from seen')).rows, [])
    const { rows } = await pool.query(`select proname from pg_proc where prosecdef
      and pronamespace = 'planted'::regnamespace and proconfig @> '{"search_path=pg_catalog, pg_temp"}' order by 1`)
    t.strictSame(rows, [{ proname: 'recorded_to_v1' }, { proname: 'start_recording_v1' }])
  })

  t.test('a failed step is rolled back, and the migration can be run again', async (t) => {
    await pool.query('create schema half; create table half.events ()')
    await t.rejects(migrate(pool, { schema: 'half' }), { message: /"events" already exists/ })
    t.strictSame(await tables('half'), ['events'])
    await pool.query('drop table half.events')
    t.strictSame(await migrate(pool, { schema: 'half' }), names)
  })
})

t.test('without the SQL files, as in a bundle, the error contains the remedy', async (t) => {
  const message = /^there are no SQL files in .*nowhere.*: install fastify-recruiting-api next to your bundle, with all of its files$/
  await t.rejects(readFolder(new URL('nowhere/', import.meta.url)), { code: 'storage_not_ready', message })
})
