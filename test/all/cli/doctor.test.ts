import type { EventEmitter } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import type { NamedFinding } from '../../../src/tools/cli/doctor/doctor.js'
import { createRecruiting, type defaultEvents, type RecruitingOptions } from '../../../src/index.js'
import { postgresStorage, watch } from '../../../src/storages/postgres/index.js'
import { createCli, type Surroundings } from '../../fixtures/cli/cli.js'
import { startStandby } from '../../fixtures/postgres/postgres-copies.js'
import { startPostgresServer } from '../../fixtures/postgres/postgres-server.js'
import { createTables } from '../../fixtures/postgres/postgres.js'

const webhook = { name: 'CRM', target_url: 'https://example.com/', event_types: ['application.created'] }
const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const
const [secretKey, otherKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 9)]

/** A pool that gets no notifications, like behind a pooler in transaction mode. */
class DeafPool extends pg.Pool {
  constructor (options: pg.PoolConfig) {
    super(options)
    this.on('connect', (client: EventEmitter) => client.on('newListener', (event, listener) => {
      if (event === 'notification') setImmediate(() => client.off('notification', listener))
    }))
  }
}

const slug = 'tenant_slug text'
const rest = 'name text, status text, created_at timestamptz, updated_at timestamptz, name_key text collate "C"'
const person = `p.id, p.name as full_name, null::text as headline, null::bigint as source_id, null::bigint as recruiter_id,
  p.at as created_at, p.at as updated_at, p.name_key`
const slowPage = (name: string, rows = 'all rows of a tenant') =>
  `public.${name}: every page reads ${rows}, because no index serves it`
const slowUpdates = (name: string, rows = 'all rows of a tenant') =>
  `public.${name}: sort=updated_at reads ${rows}, because no index serves it`
const wholeTable = (table: string) => `all rows of the table ${table}`

/** A fault in the database, and the findings that report it. */
interface Fault {
  /** SQL with the package's and the host's tables in its search path. */
  inject: string
  options?: string
  /** @default 'schema' */
  check?: string
  /** @default 'fault' */
  state?: string
  /** The texts of the findings, in order. */
  texts: Array<string | RegExp>
  /** A repair. @default the findings' remedies */
  repair?: string
}

const faults: Fault[] = [
  // The schema.
  {
    inject: 'drop table ended_changes',
    texts: [/^the table ended_changes is missing, so every statement that uses it fails$/]
  },
  {
    inject: 'alter table notices drop column leased_until',
    texts: [/^the column notices.leased_until is missing, so every statement that names it fails$/]
  },
  {
    inject: 'alter table webhooks alter column revision type bigint',
    texts: [/^the column webhooks.revision is "bigint" instead of "integer", so statements that compare, sort or write it/]
  },
  {
    inject: 'alter table events alter column seq drop identity',
    texts: [/^the default of events.seq is missing/],
    repair: `alter table events alter column seq add generated always as identity;
      select setval('events_seq_seq', max(seq)) from events`
  },
  {
    inject: 'alter table webhooks alter column secret drop not null',
    texts: [/^the constraint not null of webhooks.secret is missing, so a row without a value can be stored/]
  },
  {
    inject: `alter table deliveries add column region text not null default '';
      alter table deliveries alter column region drop default`,
    texts: [/^the constraint not null of deliveries.region is not part of this version, so inserts that leave it out/]
  },
  {
    inject: 'alter table event_subjects drop constraint event_subjects_pkey',
    texts: [/^the constraint event_subjects.event_subjects_pkey is missing, so wrong or repeated rows can be stored/]
  },
  {
    inject: 'alter table events add constraint small check (length(body) < 1000) not valid',
    texts: [/^the constraint events.small is not part of this version, so writes of this package that it does not allow/]
  },
  {
    inject: 'drop index queue_ready',
    texts: [/^the index queue.queue_ready is missing, so statements that need it read the whole table$/]
  },
  {
    inject: "update pg_index set indisvalid = false where indexrelid = 'deliveries_event'::regclass",
    texts: [/^the index deliveries.deliveries_event is "CREATE .* \(invalid\)" instead of/]
  },
  {
    inject: 'alter table notices set unlogged',
    texts: [/^the table notices is "unlogged" instead of "logged", so a crash of the server empties it$/]
  },
  {
    inject: `create or replace function end_sync_tokens () returns void language sql
      set search_path to recruiting, pg_temp set jit to off as 'select'`,
    texts: [/^the body of the function end_sync_tokens\(\) differs from this version's, so calls may fail or behave differently$/]
  },
  {
    inject: 'alter function sweep_v1 reset search_path',
    texts: [/^the function sweep_v1\(bigint, integer\) is "\(p_webhook bigint, .*, so calls fail or behave differently$/]
  },
  {
    inject: 'alter function sweep_v1 set search_path to recruiting',
    texts: [/^the function sweep_v1\(bigint, integer\) is ".* set search_path=recruiting" instead of ".*, so calls fail/]
  },
  {
    inject: 'alter function recorded_to_v1 set search_path to recruiting, pg_temp',
    texts: [/^the function recorded_to_v1\(regclass\) is ".*" instead of ".* set search_path=pg_catalog, pg_temp"/]
  },
  {
    inject: "create function sweep_v1 (text, text) returns integer language sql as 'select 0'",
    texts: [/^the function sweep_v1\(text, text\) is not part of this version, so this package may call the wrong one$/]
  },
  {
    inject: `create trigger audit before update on events for each row
      execute function suppress_redundant_updates_trigger()`,
    texts: [/^the trigger events.audit is not part of this version, so it runs with each write of this package and can/]
  },
  {
    inject: 'alter sequence delivery_ids cycle',
    texts: [/^the sequence delivery_ids is "bigint .* cycle" instead of/]
  },
  {
    inject: "select setval('webhook_ids', 1, false)",
    check: 'sequences',
    texts: [/^the sequence recruiting\.webhook_ids is behind the webhooks: they have ids up to 1, so new ids repeat old/]
  },
  {
    inject: 'delete from change_state',
    texts: [/^the table change_state is empty, so statements that rely on its row fail or do nothing$/]
  },
  {
    inject: `alter table jobs drop column name_key;
      alter table jobs add name_key text generated always as (lower(name)) stored`,
    check: 'relations',
    texts: [/^the column name_key of recruiting\.jobs has another collation than "C", so filter\[q\] fails or misses/],
    repair: `alter table jobs drop column name_key;
      alter table jobs add name_key text collate "C" generated always as (lower(name collate "und-x-icu")) stored`
  },
  {
    inject: `alter table jobs drop column name_key;
      alter table jobs add name_key text collate "C" generated always as (lower(name)) stored`,
    check: 'relations',
    texts: [/^name_key of recruiting\.jobs is not lower\(name collate pg_catalog\."und-x-icu"\) in each row/],
    repair: `alter table jobs drop column name_key;
      alter table jobs add name_key text collate "C" generated always as (lower(name collate "und-x-icu")) stored`
  },
  {
    inject: 'alter sequence events_seq_seq cache 50',
    check: 'sequences',
    texts: ['the sequence recruiting.events_seq_seq has cache 50, so readers skip events that are committed later']
  },
  {
    inject: 'create role builder; alter function start_recording_v1 owner to builder',
    check: 'privileges',
    texts: [/^builder, who owns functions such as start_recording_v1, lacks usage on events_seq_seq, recent_changes_seq_seq, so/]
  },
  // The host's tables and views.
  {
    inject: '',
    options: '--candidates public.nowhere',
    check: 'relations',
    texts: ['--candidates: there is no table or view public.nowhere that the database user may see'],
    repair: 'create view public.nowhere as select * from candidates'
  },
  {
    inject: `create table public.half as select tenant_slug, id::numeric as id, full_name, headline, source_id,
      created_at::date as created_at, updated_at from candidates`,
    options: '--candidates public.half',
    check: 'relations',
    texts: [
      'candidates: public.half has no column recruiter_id',
      'candidates: the column created_at of public.half is date, expected timestamp with time zone',
      /^candidates: the column id of public.half is numeric, expected bigint or integer or smallint or uuid or text or/
    ],
    repair: 'drop table public.half; create view public.half as select * from candidates'
  },
  {
    inject: `create table public.titles (${slug}, id text collate "en-x-icu", ${rest});
      create index on titles (tenant_slug, id); create index on titles (tenant_slug, updated_at)`,
    options: '--jobs public.titles',
    check: 'relations',
    texts: [slowPage('titles')]
  },
  {
    inject: `create table public.bare (${slug}, id bigint, ${rest})`,
    options: '--jobs public.bare',
    check: 'relations',
    texts: [slowPage('bare', wholeTable('bare')), slowUpdates('bare', wholeTable('bare'))]
  },
  {
    inject: `create table public."People" (
        id bigint primary key, "Company" text, name text, at timestamptz, name_key text collate "C"
      );
      create index on "People" ("Company"); create index on "People" ("Company", id) where id > 5;
      create view public.api_people as select "Company" as tenant_slug, ${person} from "People" p`,
    options: '--candidates public.api_people',
    check: 'relations',
    texts: [slowPage('api_people'), slowUpdates('api_people')]
  },
  {
    inject: `create table public.members (
        id bigint primary key, company uuid, name text, at timestamptz, name_key text collate "C"
      );
      create view public.by_uuid as select company as tenant_id, ${person} from members p`,
    options: '--candidates public.by_uuid',
    check: 'relations',
    texts: [slowPage('by_uuid', wholeTable('members')), slowUpdates('by_uuid', wholeTable('members'))]
  },
  {
    inject: `create table public.companies (id bigint primary key, slug text);
      create table public.posts (company bigint, id bigint, ${rest});
      create view public.api_jobs as
        select c.slug as tenant_slug, p.* from posts p join companies c on c.id = p.company`,
    options: '--jobs public.api_jobs',
    check: 'relations',
    texts: [slowPage('api_jobs', wholeTable('posts')), slowUpdates('api_jobs', wholeTable('posts'))],
    repair: 'drop view api_jobs; create view public.api_jobs as select * from jobs'
  },
  {
    inject: `create table public.offers (company text, id bigint, ${rest});
      create view public.api_offers as select lower(company) as tenant_slug, o.* from offers o`,
    options: '--jobs public.api_offers',
    check: 'relations',
    texts: [slowPage('api_offers', wholeTable('offers')), slowUpdates('api_offers', wholeTable('offers'))]
  },
  {
    inject: "delete from watched_tables where kind = 'job'",
    check: 'watched tables',
    state: 'advice',
    texts: ["no table is watched for jobs: there is no jobs/sync, unless postgresStorage has changes: 'manual'"],
    repair: 'run fastify-recruiting-api watch --kind job --relation recruiting.jobs --id id --tenant tenant_slug'
  },
  // The server and the stored data.
  {
    inject: "update migrations set name = 'x' where name = '001-tables.sql'",
    check: 'migrations',
    texts: ['the schema recruiting lacks 001-tables.sql, so servers do not start'],
    repair: "update migrations set name = '001-tables.sql' where name = 'x'"
  },
  {
    inject: "update home set environment = 'production'",
    options: '--environment staging',
    check: 'copy',
    texts: ['the database belongs to the environment production, so nothing is sent'],
    repair: 'update home set environment = null'
  },
  {
    inject: 'update home set database_oid = database_oid::int + 1',
    check: 'copy',
    texts: ['the database is a copy, so nothing is sent'],
    repair: 'run fastify-recruiting-api adopt --deliver --yes'
  },
  {
    inject: 'alter table events replica identity nothing; create publication all_events for table events',
    check: 'publications',
    texts: [/^the publication all_events includes the table events, which has no replica identity, so every update and/]
  },
  {
    inject: 'alter role app set default_transaction_read_only to yes',
    check: 'settings',
    texts: [/^the role app has default_transaction_read_only = yes, so this package cannot record or deliver anything$/],
    repair: 'alter role app reset default_transaction_read_only'
  },
  {
    inject: 'alter role import in database postgres set session_replication_role to replica',
    check: 'settings',
    texts: [/^the role import has session_replication_role = replica, so the triggers of watch do not run, and sync/],
    repair: 'alter role import in database postgres reset session_replication_role'
  },
  {
    inject: 'alter database postgres set synchronous_commit to off',
    check: 'settings',
    texts: [/^the database postgres has synchronous_commit = off, so the last events and results are lost if the server/],
    repair: 'alter database postgres reset synchronous_commit'
  },
  ...Object.entries({
    statement_timeout: ['1s', 'so statements of this package fail when the server is busy'],
    lock_timeout: ['100', 'so statements of this package fail if they wait for others'],
    transaction_timeout: ['5s', 'so replays, erasures and changes of tenants fail'],
    idle_session_timeout: ['1min', 'so the server ends the connections of pools and workers'],
    plan_cache_mode: ['force_generic_plan', 'so large tenants get the plans of small ones'],
    enable_indexscan: ['off', 'so pages and claims read many more rows than they need']
  }).map(([name, [value, effect]]): Fault => ({
    inject: `alter role app set ${name} to '${value}'`,
    check: 'settings',
    texts: [`the role app has ${name} = ${value}, ${effect}`],
    repair: `alter role app reset ${name}`
  })),
  {
    inject: `update pg_database set datname = datname, datfrozenxid = ((
      pg_current_xact_id()::text::bigint + 4294967296 - 1300000000) % 4294967296)::text::xid where datname = 'template0'`,
    check: 'database',
    texts: [/^the database template0 has not frozen rows for 13\d{8} transactions: at two thousand million, the server stops/],
    repair: "update pg_database set datfrozenxid = pg_current_xact_id()::text::xid where datname = 'template0'"
  },
  {
    inject: 'alter role postgres connection limit 2',
    check: 'database',
    texts: [/^\d+ of 2 connections of the role postgres are used, so servers and workers soon cannot connect$/],
    repair: 'alter role postgres connection limit -1'
  },
  {
    inject: `update events set id = 'evt_' || lpad(to_hex(((extract(epoch from recorded_at) - 600) * 1000)::bigint), 12, '0') ||
      right(id, 20)`,
    check: 'clocks',
    texts: ['a machine that emits events is 600.0 s behind the server, and receivers reject its notifications'],
    repair: `update events set id = 'evt_' || lpad(to_hex((extract(epoch from recorded_at) * 1000)::bigint), 12, '0') ||
      right(id, 20)`
  },
  {
    inject: `insert into marks (webhook_id, first_leased) select n, 0 from generate_series(1, 500000) as n;
      delete from marks where webhook_id <> 500000; select pg_stat_force_next_flush(); select 1; vacuum marks; vacuum marks; vacuum marks; analyze marks; select pg_stat_force_next_flush()`,
    check: 'vacuum',
    texts: [/^the table marks takes \d+ MB, more than 10 times as much as its rows, so scans are slow$/],
    repair: 'vacuum full marks; delete from marks; vacuum full marks; analyze marks'
  },
  {
    inject: 'alter table queue set (autovacuum_enabled = false)',
    check: 'vacuum',
    texts: [/^the table queue has autovacuum_enabled = false, so its dead rows stay and statements get slower and slower$/]
  },
  {
    inject: 'alter table queue reset (autovacuum_vacuum_scale_factor)',
    texts: [/^the storage parameter queue.autovacuum_vacuum_scale_factor is missing, so vacuum removes dead rows too late/]
  },
  {
    inject: `alter table marks set (autovacuum_vacuum_threshold = 0);
      insert into marks (webhook_id, first_leased) select n, 0 from generate_series(1, 20000) as n; delete from marks;
      alter table marks reset (autovacuum_vacuum_threshold); select pg_stat_force_next_flush()`,
    check: 'vacuum',
    texts: [/^the table marks has 20000 dead rows, far more than autovacuum should leave, so statements get slower/],
    repair: 'vacuum marks'
  },
  {
    inject: "select pg_create_logical_replication_slot('forgotten', 'pgoutput')",
    check: 'replication',
    texts: [/^no client reads the replication slot forgotten, so the server keeps \d+ MB of WAL and the rows deleted in the/],
    repair: "select pg_drop_replication_slot('forgotten')"
  },
  {
    inject: `update events set recorded_at = now() - interval '40 days';
      update deliveries set created_at = now() - interval '40 days'`,
    check: 'retention',
    texts: [/^events of \d{4}-\d\d-\d\d are still stored, although they are kept for 30 days, so tables grow and personal/],
    // An id contains the time.
    repair: "update events set recorded_at = to_timestamp(('x0000' || substr(id, 5, 12))::bit(64)::bigint / 1000.0)"
  },
  {
    inject: "select suspend_tenant_v1('globex'); update tenants set suspended_at = now() - interval '31 days'",
    check: 'suspended',
    state: 'advice',
    texts: [/^globex has been suspended for over 30 days, and older deliveries have been deleted$/],
    repair: "select resume_tenant_v1('globex', false)"
  },
  {
    inject: `insert into changes (tenant, kind, id, seq, deleted, changed_at)
      values ('acme', 'job', '1', 1, false, now() - interval '100 days')`,
    check: 'retention',
    texts: [/^changes of \d{4}-\d\d-\d\d are still stored, although they are kept for 90 days/],
    repair: 'delete from changes'
  }
]

t.test('doctor', async (t) => {
  const server = await startPostgresServer(t, {
    settings: ['fsync=off', 'autovacuum_naptime=1d', 'max_prepared_transactions=2', 'wal_level=logical']
  })
  const pool = server.createPool()
  const { storage, saveJobs } = await createTables(pool)
  await saveJobs('acme', [{ id: 1, name: 'Élève', status: 'open' }])
  const { rows: [{ major }] } = await pool.query("select current_setting('server_version_num')::int / 10000 as major")
  const cli = createCli(server.url)
  const folder = t.testdir({})

  async function runSql (text: string): Promise<void> {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    try {
      await client.query('set search_path to recruiting, public')
      // Index and vacuum statements cannot run in a transaction block.
      for (const statement of text.includes('$$') ? [text] : text.split(/;\s+/)) await client.query(statement)
    } finally {
      await client.end()
    }
  }

  async function repair (remedy: string): Promise<void> {
    for (const part of remedy.includes('$$') ? [remedy] : remedy.split('; ')) {
      const [, command] = /^run fastify-recruiting-api (.*)/.exec(part) ?? []
      if (command === undefined) await runSql(part)
      else t.match(await cli(command), { code: 0 }, command)
    }
  }

  async function examine (options = '', surroundings: Surroundings = {}): Promise<NamedFinding[]> {
    const { code, out, err } = await cli(`doctor --json ${options}`, surroundings)
    if (err !== '') throw new Error(err)
    const { findings } = JSON.parse(out) as { findings: NamedFinding[] }
    t.equal(code, findings.some(({ state }) => state === 'fault') ? 1 : 0, 'exit code 1 if and only if there is a fault')
    for (const { state, remedy } of findings) t.equal(typeof remedy === 'string', state !== 'ok')
    return findings
  }

  const find = async (wanted: string, ...options: Parameters<typeof examine>): Promise<NamedFinding | undefined> =>
    (await examine(...options)).find(({ check }) => check === wanted)

  /** Returns the findings that are not ok, except the advice about unencrypted secrets. */
  const findFaults = async (...options: Parameters<typeof examine>): Promise<NamedFinding[]> =>
    (await examine(...options)).filter(({ check, state }) => state !== 'ok' && check !== 'secrets')

  await runSql(`
    create index on candidates (tenant_slug, updated_at, id); create index on jobs (tenant_slug, updated_at, id);
    alter table candidates
      add name_key text collate "C" generated always as (lower(full_name collate "und-x-icu")) stored;
    alter table jobs add name_key text collate "C" generated always as (lower(name collate "und-x-icu")) stored;
    create role app login; grant insert on events to app; create role import login`)
  await watch(pool, 'recruiting.candidates', { kind: 'candidate', id: 'id', tenant: 'tenant_slug' })
  await watch(pool, 'recruiting.jobs', { kind: 'job', id: 'id', tenant: 'tenant_slug' })
  await pool.query('delete from recruiting.recent_changes')
  const worker = createRecruiting({ storage })
  t.teardown(() => worker.close())
  // Records events, but does not deliver.
  const recorder = createRecruiting({ storage, delivery: false })
  t.teardown(() => recorder.close())

  await t.test('prints each check of a healthy database as ok', async (t) => {
    const { code, out, err } = await cli('doctor')
    t.strictSame([code, err], [0, ''])
    t.strictSame(
      out.trimEnd().split('\n').map((line) => line.slice(0, 24).trimEnd()),
      [
        'locks', 'transactions', 'migrations', 'privileges', 'database', 'settings', 'vacuum', 'publications',
        'replication', 'listen', 'relations', 'relations', 'schema', 'sequences', 'copy', 'suspended',
        'due deliveries', 'agents', 'workers', 'retention', 'clocks', 'secrets', 'watched tables', 'watched tables'
      ].map((check) => `ok       ${check}`)
    )
  })

  await t.test('finds each fault, and its remedy repairs it', async (t) => {
    const { id } = await recorder.webhooks.create('acme', { ...webhook, status: 'inactive' })
    await recorder.emit(event)
    for (const { inject, options = '', check = 'schema', state = 'fault', texts, repair: own } of faults) {
      await t.test(texts.join(), async (t) => {
        if (inject.includes('transaction_timeout') && major < 17) return
        await runSql(inject)
        const findings = await findFaults(options)
        const sorted = findings.sort((one, other) => one.text < other.text ? -1 : 1)
        t.match(sorted, texts.map((text) => ({ check, state, text })))
        t.equal(findings.length, texts.length)
        const remedies = own === undefined ? findings.map(({ remedy }) => remedy) : [own]
        for (const remedy of remedies) await repair(String(remedy))
        t.strictSame(await findFaults(options), [])
      })
    }
    await recorder.webhooks.delete('acme', id)
  })

  await t.test('watched tables with missing or disabled triggers, with the repair command', async (t) => {
    await watch(pool, 'recruiting.jobs', { kind: 'job', id: 'id', tenant: "coalesce(row.tenant_slug, 'none')" })
    await watch(pool, 'recruiting.jobs', { kind: 'opening', id: 'id', tenant: 'tenant_slug' })
    const findWatched = async () => (await examine()).filter(({ check }) => check === 'watched tables').map(({ state, text, remedy }) => [state, text, remedy])
    t.strictSame(await findWatched(), [
      ['ok', 'recruiting.candidates is watched for the kind candidate: id id, tenant tenant_slug', null],
      ['ok', "recruiting.jobs is watched for the kind job: id id, tenant coalesce(row.tenant_slug, 'none')", null],
      ['ok', 'recruiting.jobs is watched for the kind opening: id id, tenant tenant_slug', null]
    ])
    await pool.query('drop trigger changes_candidate_delete_recruiting on recruiting.candidates; alter table recruiting.jobs disable trigger all')
    t.strictSame(await findWatched(), [
      ['fault', 'recruiting.candidates, watched for the kind candidate, has lost a trigger or has a disabled one: sync of this kind returns 404 until watch is called for recruiting.candidates again',
        'run fastify-recruiting-api watch --schema recruiting --kind candidate --relation recruiting.candidates --id id --tenant tenant_slug'],
      ['fault', 'recruiting.jobs, watched for the kind job, has lost a trigger or has a disabled one: sync of this kind returns 404 until watch is called for recruiting.jobs again',
        "run fastify-recruiting-api watch --schema recruiting --kind job --relation recruiting.jobs --id id --tenant 'coalesce(row.tenant_slug, '\\''none'\\'')'"],
      ['fault', 'recruiting.jobs, watched for the kind opening, has lost a trigger or has a disabled one: sync of this kind returns 404 until watch is called for recruiting.jobs again',
        'run fastify-recruiting-api watch --schema recruiting --kind opening --relation recruiting.jobs --id id --tenant tenant_slug']
    ])
    await watch(pool, 'recruiting.candidates', { kind: 'candidate', id: 'id', tenant: 'tenant_slug' })
    for (const kind of ['job', 'opening']) await watch(pool, 'recruiting.jobs', { kind, id: 'id', tenant: 'tenant_slug' })
    const { rows: [{ name }] } = await pool.query("select oid::regprocedure::text as name from pg_proc where proname like 'watch_candidate_%'")
    await pool.query(`create role watcher; alter function ${name} owner to watcher`)
    const [[state, text, remedy] = []] = await findWatched()
    t.match([state, text], ['fault', /because its trigger failed \(the owner of its function, watcher, lacks usage on the schema.*\): sync of this kind returns 410/])
    await repair(String(remedy))
    t.match(await findWatched(), [['ok'], ['ok'], ['ok']])
  })

  await t.test('grants --sql prints the privileges that roles have on the relations', async (t) => {
    await pool.query('grant select on recruiting.candidates to import; grant select (id) on recruiting.jobs to import')
    t.strictSame(await cli('grants --sql'), {
      code: 0, err: '', out: 'grant select (id) on table recruiting.jobs to import;\ngrant select on table recruiting.candidates to import;\n'
    })
  })

  await t.test('missing relations, --no-lists, and a relation without name_key', async (t) => {
    await pool.query('alter table recruiting.jobs rename to positions')
    t.match(await findFaults(), [{
      check: 'relations',
      text: '--jobs: there is no table or view "recruiting".jobs that the database user may see',
      remedy: 'name your own table or view, --jobs public.api_jobs, or add --no-lists if your server has no lists of candidates and jobs'
    }])
    await pool.query('alter table recruiting.positions rename to jobs')
    t.match(await find('relations', '--no-lists'), { state: 'ok', text: 'not checked, because of --no-lists' })
    t.strictSame(await cli('doctor --no-lists --jobs public.api_jobs'), { code: 2, out: '', err: 'doctor: --no-lists: cannot be combined with --jobs\n' })
    t.strictSame(await cli('doctor --no-lists --job-filters city'), { code: 2, out: '', err: 'doctor: --no-lists: cannot be combined with --job-filters\n' })
    for (const filters of ['city:near', 'city:sort:after', '', 'e-mail']) {
      t.match(await cli(`doctor --candidate-filters=${filters}`), { code: 2, err: /^doctor: --candidate-filters: / }, filters)
    }
    await pool.query('create table no_key as select * from recruiting.jobs; alter table no_key drop column name_key')
    t.match((await examine('--jobs public.no_key')).filter(({ state }) => state === 'advice'), [{
      text: 'public.no_key has no column name_key, so filter[q] reads every row of the tenant',
      remedy: 'add a column name_key text collate "C" generated always as (lower(name collate pg_catalog."und-x-icu")) stored, in an index (tenant_slug, id) include (name_key)'
    }])
  })

  await t.test("a view whose pages read all tenants' rows, and a view without tenant_id", async (t) => {
    await pool.query(`
      create table firms (id bigint primary key, slug text not null unique);
      create table staff (id bigint primary key, firm bigint not null, name text, at timestamptz, name_key text collate "C");
      create view by_slug as select f.slug as tenant_slug, ${person} from staff p join firms f on f.id = p.firm;
      create view by_both as select f.slug as tenant_slug, p.firm as tenant_id, ${person} from staff p join firms f on f.id = p.firm;
      insert into firms select n, 'tenant_' || n from generate_series(1, 40) as n;
      insert into staff (id, firm, name, name_key) select n, case when n % 2 = 0 then 1 else 1 + n % 39 end, 'Ada', 'ada' from generate_series(1, 20000) as n;
      create index on staff (firm, id); create index on staff (firm, at, id); create index on staff (firm, name collate "C", id)`)
    await pool.query('analyze firms, staff')
    const relations = async (option: string) => (await examine(`--candidates ${option}`))
      .filter(({ check, text }) => check === 'relations' && !text.includes('jobs'))
    for (const name of ['by_slug', 'by_both']) {
      t.match(await relations(`public.${name}`), [{
        state: 'fault',
        text: new RegExp(`^public\\.${name}: every page of the tenant tenant_1 reads [12]\\d{4} rows or blocks to return 25$`),
        remedy: /set the option tenantId, and replace tenant_slug with tenant_id, the tenant's id in public\.staff$/
      }])
    }
    t.match(await relations('public.by_both --tenant-ids'), [{ state: 'ok' }])
    t.match(await relations('public.by_slug --tenant-ids'), [{
      state: 'fault', text: 'candidates: public.by_slug has no column tenant_id, which the option tenantId needs'
    }])
  })

  await t.test('unknown workers, without the privilege to see them', async (t) => {
    await pool.query('create role blind login; grant usage on schema recruiting to blind; grant select on all tables in schema recruiting to blind')
    const finding = await find('workers', '--wait-seconds 0', {
      env: { DATABASE_URL: server.url.replace('postgres@', 'blind@') }
    })
    t.match(finding, { state: 'unknown', remedy: 'grant pg_monitor to the database user' })
  })

  await t.test('a lock of claims or of health that is kept, even if nobody waits for it now', async (t) => {
    const client = new pg.Client({ connectionString: server.url, application_name: 'import' })
    await client.connect()
    for (const [name, what] of [['claim', 'claims'], ['health', 'the health of webhooks']]) {
      await client.query(`begin; select pg_advisory_xact_lock(hashtextextended('recruiting.${name}', 0))`)
      t.match(await find('locks'), {
        state: 'fault',
        text: new RegExp(`^process \\d+ \\(postgres, import\\) has kept the lock of ${what} for more than a second, so deliveries wait$`),
        remedy: /^end it with select pg_terminate_backend\(\d+\)$/
      })
      await client.query('rollback')
    }
    await client.query("begin; select pg_advisory_xact_lock(hashtextextended('recruiting.claim', 0)); prepare transaction 'kept'")
    t.match(await find('locks'), { text: /^prepared transaction kept \(postgres\) has kept the lock of claims/, remedy: "end it with rollback prepared 'kept' or commit prepared 'kept'" })
    await client.query("rollback prepared 'kept'")
    await client.end()
  })

  await t.test('the role of grants sees everything that a healthy installation needs, and policies that hide rows from it', async (t) => {
    await pool.query('create role member login')
    t.match(await cli('grants --role member --apply --yes'), { code: 0 })
    const own = server.createPool({ user: 'member' })
    const helper = createRecruiting({ storage: postgresStorage(own) })
    const asMember = { env: { DATABASE_URL: server.url.replace('postgres@', 'member@') } }
    t.strictSame(await findFaults('', asMember), [])
    await pool.query('alter table recruiting.webhooks enable row level security; create policy partly on recruiting.webhooks using (id < 0)')
    t.match(await findFaults('', asMember), [{
      check: 'privileges',
      state: 'fault',
      text: 'row-level security can hide rows of webhooks from member, so events reach no webhook and keys are unknown',
      remedy: 'alter role "member" bypassrls, or disable row level security for these tables'
    }])
    await pool.query('alter policy partly on recruiting.webhooks using (true)')
    t.strictSame(await findFaults('', asMember), [])
    await pool.query('drop policy partly on recruiting.webhooks; alter table recruiting.webhooks disable row level security')
    await helper.close()
    // Otherwise its last claims would count as a worker behind a pooler.
    await own.end()
  })

  await t.test('a locked row that the package waits for', async (t) => {
    const { id } = await worker.webhooks.create('locked', webhook)
    const client = new pg.Client({ connectionString: server.url, application_name: 'import' })
    await client.connect()
    await client.query(`begin; update recruiting.webhooks set name = 'x' where id = ${id}`)
    const waiting = worker.webhooks.update('locked', id, { name: 'CRM 2' })
    let found
    while (found?.state !== 'fault') found = await find('locks', '--max-lock-seconds 0')
    t.match(found.text, /^process \d+ \(postgres, import\) has locked rows that this package needs since .*, so statements wait; its last one: begin; update recruiting\.webhooks set name = 'x'/)
    await client.query('rollback')
    await client.end()
    await waiting
    await worker.removeTenant('locked')
  })

  await t.test('a long transaction that blocks vacuum', async (t) => {
    const client = await pool.connect()
    await client.query("set application_name to 'nightly report'; begin isolation level repeatable read; select 1")
    const finding = (await examine('--max-transaction-seconds 0')).find(({ text }) => text.includes('nightly report'))
    t.match(finding, {
      check: 'transactions',
      text: /^process \d+ \(postgres, nightly report\) has had a transaction open for \d s, so vacuum cannot remove deleted rows, and the feed and sync wait if it has recorded something$/,
      remedy: /^end it with select pg_terminate_backend\(\d+\)$/
    })
    await client.query('rollback; reset application_name')
    client.release()
  })

  await t.test('a prepared transaction in another database', async (t) => {
    await pool.query('create database other')
    const other = server.createPool({ database: 'other', max: 1 })
    await other.query('begin')
    await other.query('create table left_behind ()')
    await other.query("prepare transaction 'imported'")
    t.match(await find('transactions', '--max-transaction-seconds 0'), {
      text: /^prepared transaction imported \(postgres\) in the database other has had a transaction open for \d+ s, so the server cannot reuse transaction ids/,
      remedy: "in the database other, end it with rollback prepared 'imported' or commit prepared 'imported'"
    })
    await other.query("rollback prepared 'imported'")
  })

  await t.test('different clocks', async (t) => {
    // Slow machines measure less exactly.
    for (const [ms, text] of [
      [60_000, /^this machine is (59|60)\.\d s ahead of the server, and receivers reject notifications that are minutes/],
      [-60_000, /^this machine is (59|60)\.\d s behind the server, and receivers reject/]
    ] as const) t.match(await findFaults('', { now: () => Date.now() + ms }), [{ check: 'clocks', text }])
  })

  await t.test('a pooler through which LISTEN does not work', async (t) => {
    t.match(await findFaults('', { importDriver: async () => ({ Pool: DeafPool }) }), [
      { check: 'listen', text: /^notifications do not arrive: a pooler in transaction mode is in between/ }
    ])
  })

  await t.test('secrets encrypted with a key that is missing from secretKeys', async (t) => {
    const open = (secretKeys: NonNullable<RecruitingOptions<typeof defaultEvents>['secretKeys']>) => {
      const sealing = createRecruiting({ storage, delivery: false, secretKeys })
      t.teardown(() => sealing.close())
      return sealing.webhooks
    }
    const { id } = await open([secretKey]).create('acme', webhook)
    const [right, wrong] = [join(folder, 'right'), join(folder, 'wrong')]
    await writeFile(right, secretKey.toString('base64'))
    await writeFile(wrong, otherKey.toString('hex'))
    const text = `no key opens the secrets of 1 webhook, so their deliveries wait: ${id} of acme`
    t.match(await find('secrets', `--secret-keys ${right}`), { state: 'ok' })
    t.match(await find('secrets', `--secret-keys ${wrong}`), { state: 'fault', text })
    // Headers encrypted with another key than the secret, like after an interrupted rotation.
    await open([otherKey]).update('acme', id, { headers: { 'X-Token': '1' } })
    t.match(await find('secrets', `--secret-keys ${right}`), { state: 'fault', text })
    t.match(await find('secrets'), { state: 'unknown', text: 'the secrets of 1 webhook are encrypted' })
    t.match(await cli('doctor --secret-keys /nowhere'), { code: 2, out: '' })
    await recorder.webhooks.delete('acme', id)
    const sealed = await open({ seal: (plain) => plain, open: (sealed) => sealed }).create('acme', webhook)
    t.match(await find('secrets'), { state: 'ok', text: /^the functions of secretKeys .* 1 webhook$/ })
    await recorder.webhooks.delete('acme', sealed.id)
  })

  await t.test('a failing check is a fault, and the others continue', async (t) => {
    t.match(await findFaults('--candidates a.b.c.d'), [
      { check: 'relations', state: 'fault', text: /^could not be checked: improper (qualified|relation) name/ }
    ])
  })

  await t.test('prints faults and remedies as text', async (t) => {
    const { code, out } = await cli('doctor --candidates public.missing')
    t.equal(code, 1)
    t.match(out, /^fault {4}relations {7}--candidates: there is no table or view public\.missing that the database user may see\n {9,}to fix it: create it, or grant the right to read it$/m)
    for (const option of ['max-due-seconds', 'max-lock-seconds', 'max-transaction-seconds', 'wait-seconds']) {
      t.match(await cli(`doctor --${option} soon`), { code: 2, err: `doctor: --${option}: expected an integer, got "soon"\n` })
    }
  })

  /** Changes a server setting, and waits until new connections have it. */
  async function configure (name: string, value: string): Promise<void> {
    await pool.query(`alter system set ${name} to '${value}'`)
    await pool.query('select pg_reload_conf()')
    for (let now = ''; now !== value;) {
      const client = new pg.Client({ connectionString: server.url })
      await client.connect()
      now = (await client.query(`show ${name}`)).rows[0][name]
      await client.end()
    }
  }

  await t.test('server settings that prevent vacuum or commits', async (t) => {
    for (const [check, name, wrong, right, text, remedy] of [
      ['settings', 'autovacuum', 'off', 'on',
        'the server has autovacuum = off, so dead rows stay and claims get slower and slower',
        'alter system reset autovacuum; select pg_reload_conf()'],
      ['replication', 'synchronous_standby_names', 'paris', '',
        'no standby of synchronous_standby_names (paris) confirms commits, so each of them waits',
        'start the standby, or run alter system reset synchronous_standby_names; select pg_reload_conf()']
    ] as const) {
      await configure(name, wrong)
      const found = await find(check)
      await configure(name, right)
      t.match(found, { state: 'fault', text, remedy })
    }
  })

  await t.test('the role of grants sees whether a synchronous standby confirms commits', async (t) => {
    const primary = await startPostgresServer(t)
    const owner = primary.createPool()
    await createTables(owner)
    const standby = await startStandby(t, primary)
    await owner.query('create role member login')
    t.match(await createCli(primary.url)('grants --role member --apply --yes'), { code: 0 })
    await owner.query("alter system set synchronous_standby_names to '*'")
    await owner.query('select pg_reload_conf()')
    await owner.query('create table confirmed ()')
    const member = { env: { DATABASE_URL: primary.url.replace('postgres@', 'member@') } }
    const helper = createRecruiting({ storage: postgresStorage(primary.createPool({ user: 'member' })) })
    t.match(await find('replication', '', member), { state: 'ok' })
    t.strictSame((await examine('', member)).filter(({ state }) => state === 'unknown'), [])
    await helper.close()
    await standby.stop('immediate')
    t.match(await find('replication', '--wait-seconds 0', member), { state: 'fault', text: /^no standby of .* confirms commits/ })
  })

  await t.test('a slot, where the server has no WAL positions, like Amazon Aurora', async (t) => {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    await client.query(`
      select pg_create_physical_replication_slot('forgotten', true);
      set allow_system_table_mods to on; alter function pg_catalog.pg_current_wal_lsn() rename to hidden_lsn;
      create function pg_catalog.pg_current_wal_lsn() returns pg_lsn language plpgsql as
        $$ begin raise object_not_in_prerequisite_state using message = 'WAL is not available'; end $$`)
    t.match(await find('replication'), { state: 'fault', text: /^no client reads the replication slot forgotten, so the server keeps unknown MB/ })
    await client.query(`drop function pg_catalog.pg_current_wal_lsn(); alter function pg_catalog.hidden_lsn() rename to pg_current_wal_lsn;
      select pg_drop_replication_slot('forgotten')`)
    await client.end()
  })

  await t.test('locks and old snapshots of users whose transactions it may not see', async (t) => {
    await pool.query('create role stranger superuser login')
    const stranger = new pg.Client({ connectionString: server.url.replace('postgres@', 'stranger@') })
    await stranger.connect()
    const asMember = { env: { DATABASE_URL: server.url.replace('postgres@', 'member@') } }
    await stranger.query('begin isolation level repeatable read; select 1; lock recruiting.notices in exclusive mode')
    t.match(await find('locks', '--wait-seconds 0', asMember), {
      state: 'unknown', text: /^the database user cannot see since when process \d+ \(stranger, hidden\) has locked notices$/, remedy: 'grant pg_monitor to the database user'
    })
    t.match(await find('transactions', '--wait-seconds 0', asMember), { state: 'ok' }, 'it keeps few deleted rows')
    await pool.query('do $$ begin for n in 1..10001 loop perform pg_current_xact_id(); commit; end loop; end $$')
    t.match(await find('transactions', '--wait-seconds 0', asMember), {
      state: 'unknown', text: /^the database user cannot see since when process \d+ \(stranger, hidden\) has had a transaction open$/
    })
    await stranger.query('rollback')
    await stranger.end()
  })

  await t.test('a database that is not UTF-8, and a standby', async (t) => {
    await pool.query("create database latin encoding 'LATIN1' template template0")
    const standby = await startStandby(t, await startPostgresServer(t))
    for (const [url, text] of [
      [server.url.replace(/postgres$/, 'latin'),
        'the encoding of the database is LATIN1 instead of UTF8, so events with other characters cannot be recorded'],
      [standby.url, 'this server is a standby, so nothing can be recorded or delivered here']
    ] as const) t.match(await find('database', '--no-lists', { env: { DATABASE_URL: url } }), { state: 'fault', text })
  })

  await t.test('deliveries that have been due for too long', async (t) => {
    await worker.close()
    // Otherwise a claim could be the last statement of an idle connection, like of a worker behind a pooler.
    const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()))
    for (const client of clients) {
      await client.query('select 1')
      client.release()
    }
    const { id } = await recorder.webhooks.create('acme', webhook)
    await recorder.emit(event)
    await pool.query("update recruiting.queue set due_at = now() - interval '400 seconds'")
    t.match(await find('due deliveries', '--wait-seconds 0'), {
      state: 'fault', text: /^the oldest has been due for 40\d s, so receivers get their notifications late$/
    })
    t.match(await find('due deliveries', '--wait-seconds 0 --max-due-seconds 500'), { state: 'ok' })
    await recorder.webhooks.delete('acme', id)
  })

  await t.test('events that wait for agents, and tenants with no place for more of them', async (t) => {
    const add = (tenant: string, count: number): Promise<unknown> => pool.query(`
      insert into recruiting.webhooks (id, tenant, tenant_slug, name, status, target_url, event_types, secret,
        subscription_id, expires_at, position, filled_at, created_at, updated_at)
      select nextval('recruiting.webhook_ids'), $1, $1, 'agent', 'active', 'https://agent.example/',
        '{application.hired}', 's', n, now() + interval '1 hour', 0, now(), now(), now()
      from generate_series(1, $2) as n`, [tenant, count])
    await add('globex', 200)
    t.match(await find('agents', '--wait-seconds 0'), {
      state: 'advice', text: 'globex can have no more subscriptions of agents'
    })
    await add('acme', 1)
    await recorder.emit(event)
    await pool.query("update recruiting.events set recorded_at = now() - interval '400 seconds'")
    t.match(await find('agents', '--wait-seconds 0'), {
      state: 'fault', text: /^events have waited for 40\d s to be queued for agents$/
    })
    await pool.query('delete from recruiting.webhooks where subscription_id is not null')
    // The check clocks compares the time in the id.
    await pool.query(`update recruiting.events
      set recorded_at = to_timestamp(('x0000' || substr(id, 5, 12))::bit(64)::bigint / 1000.0)`)
  })

  await t.test('no delivering process, until one starts', async (t) => {
    t.match(await findFaults('--wait-seconds 1'), [{ text: 'no process delivers, so events wait' }])
    const started = findFaults('--wait-seconds 10')
    const late = createRecruiting({ storage: postgresStorage(pool) })
    t.teardown(() => late.close())
    t.strictSame(await started, [])
    t.match(await findFaults('--schema other --no-lists'), [
      { check: 'migrations', text: /^the schema other lacks 001-tables\.sql, / }
    ], 'a worker of another schema does not count')
  })
})
