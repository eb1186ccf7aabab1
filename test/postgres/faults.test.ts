import t from 'tap'
import type pg from 'pg'
import { migrate, postgresStorage, watch } from '../../src/storages/postgres/index.js'
import type { Teardown } from '../fixtures/api/app.js'
import { followFeed, newEvent, withClient } from '../fixtures/postgres/changes.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'
import { watchPool } from '../fixtures/postgres/watched-pool.js'
import { requestSync } from '../fixtures/sync/sync-client.js'
import { startSyncedPeople } from '../fixtures/sync/synced-people.js'

let roles = 0

/** Creates a role and grants it all rights in the schema. */
async function createRole (t: Teardown, pool: pg.Pool): Promise<string> {
  const role = `faults_${process.pid}_${++roles}`
  await pool.query(`
    create role ${role};
    grant usage, create on schema recruiting to ${role};
    grant all on all tables in schema recruiting to ${role};
    grant all on all sequences in schema recruiting to ${role};
    grant execute on all functions in schema recruiting to ${role}`)
  t.teardown(() => pool.query(`drop owned by ${role} cascade; drop role ${role}`).catch(() => {}))
  return role
}

/** A right that the owner of a trigger loses, and the statement that restores it. */
const losses: Array<[lost: string, lose: string, restore: string]> = [
  ['usage on the schema', 'revoke usage on schema recruiting from ROLE', 'grant usage on schema recruiting to ROLE'],
  ['insert on recent_changes, insert on missed_changes, select on missed_changes',
    'revoke all on recruiting.recent_changes, recruiting.missed_changes from ROLE',
    'grant all on recruiting.recent_changes, recruiting.missed_changes to ROLE'],
  ['execute on start_recording_v1', 'revoke execute on function recruiting.start_recording_v1 from ROLE, public',
    'grant execute on function recruiting.start_recording_v1 to ROLE, public'],
  ['security definer', 'alter function recruiting.FUNCTION security invoker', 'alter function recruiting.FUNCTION security definer'],
  ['a way past row-level security on missed_changes', 'alter table recruiting.missed_changes enable row level security',
    'alter table recruiting.missed_changes disable row level security']
]

for (const [lost, lose, restore] of losses) {
  t.test(`sync returns 410 while the owner of a trigger lacks ${lost}, and until watch repairs it`, async (t) => {
    const { pool, serve, follow, watchPeople, assertExact } = await startSyncedPeople(t)
    const role = await createRole(t, pool)
    await pool.query(`alter schema crm owner to ${role}; alter table crm.people owner to ${role}`)
    await withClient(pool, async (client) => {
      await client.query(`begin; set local role ${role}`)
      await watch(null, 'crm.people', { kind: 'candidate', id: 'id', tenant: 'company', transaction: client })
      await client.query('commit')
    })
    const { rows: [{ name }] } = await pool.query("select proname as name from pg_proc where proname like 'watch_candidate_%'")
    const run = (text: string) => pool.query(text.replaceAll('ROLE', role).replaceAll('FUNCTION', name))
    const app = await serve()
    t.equal(await follow(), 200)

    await run(lose)
    await t.resolves(pool.query("insert into crm.people values (4, 'acme', 'Late')"))
    const { statusCode } = await requestSync(app)
    t.equal(statusCode, 410)
    const { rows } = await pool.query('select problem from recruiting.missed_changes')
    // The trigger itself reports a function that it may not call.
    t.match(rows, [{ problem: lost.startsWith('execute') ? /^permission denied for function/ : `the owner of its function, ${role}, lacks ${lost}` }])
    await run(restore)
    t.equal(await follow(), 410, 'the change is still missing')
    await watchPeople()
    await assertExact(t)
    await pool.query('delete from crm.people where id = 4')
    await assertExact(t)
  })
}

t.test('a user that may only read gets 410 too', async (t) => {
  const { server, pool, watchPeople } = await startSyncedPeople(t)
  await watchPeople()
  await pool.query('update recruiting.watched_tables set id = id; alter table recruiting.missed_changes enable row level security')
  const role = await createRole(t, pool)
  const { rows: [{ name }] } = await pool.query("select proname as name from pg_proc where proname like 'watch_candidate_%'")
  await pool.query(`alter function recruiting.${name} owner to ${role}`)
  const { changes } = postgresStorage(server.createPool({ options: '-c default_transaction_read_only=on' }))
  t.equal(await changes.list('acme', 'candidate', { after: await changes.begin('acme', 'candidate'), limit: 10 }), null)
})

t.test('an owner of the functions without rights on a sequence is an error, not an empty list of events', async (t) => {
  const { pool, storage: { feed, deliveries, changes } } = await startPostgresHost(t)
  await deliveries.record('acme', newEvent('1'))
  const role = await createRole(t, pool)
  await pool.query(`
    alter function recruiting.recorded_to_v1 owner to ${role};
    alter function recruiting.start_recording_v1 owner to ${role};
    revoke all on all sequences in schema recruiting from ${role}`)
  const denied = { code: '42501', message: /permission denied for sequence / }
  await t.rejects(feed.list('acme', { after: null, limit: 10, eventTypes: null }), denied)
  await t.rejects(feed.end('acme'), denied)
  await t.rejects(changes.begin('acme', 'candidate'), denied)
  await t.rejects(deliveries.record('acme', newEvent('2')), denied)
})

t.test('sync and events work on a server without WAL positions and without the id of the cluster', async (t) => {
  const { pool, watchPeople, serve, follow, assertExact } = await startSyncedPeople(t)
  const unavailable = `language plpgsql as $$ begin
    raise exception 'not available' using errcode = 'object_not_in_prerequisite_state'; end $$`
  await pool.query(`
    alter function pg_current_wal_lsn() rename to hidden_1; alter function pg_control_system() rename to hidden_2;
    create function pg_catalog.pg_current_wal_lsn() returns pg_lsn ${unavailable};
    create function pg_catalog.pg_control_system(
      out pg_control_version integer, out catalog_version_no integer, out system_identifier bigint, out pg_control_last_modified timestamptz
    ) returns record ${unavailable}`)
  await t.rejects(pool.query('select pg_current_wal_lsn()'), { code: '55000' })
  await watchPeople()
  await serve()
  t.equal(await follow(), 200)
  await pool.query("insert into crm.people values (4, 'acme', 'New')")
  await assertExact(t, 0)
  const { feed, deliveries, holds } = postgresStorage(pool)
  const start = await feed.end('acme')
  await deliveries.record('acme', newEvent('1'))
  t.strictSame((await followFeed(feed, start)).ids, ['1'])
  await migrate(pool, { schema: 'other' })
  t.equal(await holds.find(null), null)
})

t.test('a sequence with a cache changes neither the order of events nor which ones a reader gets', async (t) => {
  const { pool, storage: { feed } } = await startPostgresHost(t)
  await pool.query('alter sequence recruiting.events_seq_seq cache 50; alter sequence recruiting.delivery_ids cache 7')
  const { deliveries, verify } = postgresStorage(pool)
  t.match((await verify(null)).filter((line) => line.startsWith('the sequence')), [/^the sequence recruiting\.delivery_ids has a cache/, /events_seq_seq has/])
  let position = await feed.end('acme')
  const read: string[] = []
  async function readOn () {
    const found = await followFeed(feed, position)
    read.push(...found.ids)
    position = found.position
  }
  async function emitAll (a: pg.PoolClient, b: pg.PoolClient, names: string[]) {
    for (const name of names) {
      const client = name.startsWith('a') ? a : b
      await client.query('begin')
      await deliveries.record('acme', newEvent(name), client)
      await client.query('commit')
      if (name.endsWith('!')) await readOn()
    }
  }
  await withClient(pool, (a) => withClient(pool, async (b) => {
    await emitAll(a, b, ['a1', 'b1!', 'a2', 'b2', 'a3!'])
    t.strictSame(await migrate(pool), [])
    const { rows } = await pool.query("select sequencename from pg_sequences where schemaname = 'recruiting' and cache_size <> 1")
    t.strictSame(rows, [])
    t.strictSame((await verify(null)).filter((line) => line.startsWith('the sequence')), [])
    // These sessions still have reserved numbers.
    await emitAll(a, b, ['b3', 'a4', 'b4!', 'a5!', 'b5!'])
  }))
  t.strictSame(read, ['a1', 'b1!', 'a2', 'b2', 'a3!', 'b3', 'a4', 'b4!', 'a5!', 'b5!'])
})

t.test('timeouts of the database user do not end migrations, watch, replays, erasures, removals and pruning', async (t) => {
  const { server, pool } = await startPostgresHost(t)
  const seen = new Map<string, string[]>()
  let what = ''
  const { rows: [{ has }] } = await pool.query("select exists (select from pg_settings where name = 'transaction_timeout') as has")
  const limited = server.createPool({ options: `-c statement_timeout=30s${has ? ' -c transaction_timeout=30s' : ''}` })
  const watched = watchPool(limited, async (text, _values, client) => {
    if (/begin|statement_timeout|select pg_backend_pid|pg_try_advisory/.test(text)) return
    const { rows: [row] } = await client.query(
      "select concat_ws(' ', current_setting('statement_timeout'), current_setting('transaction_timeout', true)) as found"
    ).catch(() => ({ rows: [] }))
    // After an error, a transaction accepts no statement.
    if (row !== undefined) seen.set(what, [...new Set([...seen.get(what) ?? [], (row as { found: string }).found])])
  })
  async function run (name: string, work: () => Promise<unknown>) {
    what = name
    await work()
  }
  const { deliveries, changes, webhooks } = postgresStorage(watched)
  await run('migrate', () => migrate(watched, { schema: 'other' }))
  await pool.query('create table public.people (id bigint, company text)')
  await run('watch', () => watch(watched, 'public.people', { kind: 'candidate', id: 'id', tenant: 'company' }))
  await run('erase', () => deliveries.erase('acme', 'c1'))
  await run('remove', () => webhooks.removeTenant('acme', { limit: 10 }))
  await run('prune', () => deliveries.prune({ retentionDays: 1, limit: 1 }))
  await run('prune changes', () => changes.prune({ retentionDays: 1, limit: 1 }))
  await run('replay', () => deliveries.replay('acme', 1, {
    include: 'all', eventTypes: null, eventIds: null, since: null, until: null, limit: 10
  }))
  const zero = has ? ' 0' : ''
  t.strictSame(Object.fromEntries(seen), {
    migrate: [`0${zero}`],
    watch: [`0${zero}`],
    erase: [`1min${zero}`],
    remove: [`1min${zero}`],
    prune: [`1min${zero}`],
    'prune changes': [`1min${zero}`],
    replay: [`1min${zero}`]
  })
})

t.test('a server whose pg_locks shows no advisory locks is rejected at startup', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  await pool.query(`
    set allow_system_table_mods = on;
    alter view pg_catalog.pg_locks rename to all_locks;
    create view pg_catalog.pg_locks as select * from pg_catalog.all_locks where locktype <> 'advisory';
    reset allow_system_table_mods`)
  await t.rejects(storage.verify(null), { code: 'storage_not_ready', message: /^pg_locks of this server does not show advisory locks/ })
})
