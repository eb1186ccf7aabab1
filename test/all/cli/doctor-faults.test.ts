import pg from 'pg'
import t from 'tap'
import type { NamedFinding } from '../../../src/cli/doctor/run-checks.js'
import { createRecruiting } from '../../../src/index.js'
import { watch } from '../../../src/postgres/index.js'
import { createCli } from '../../fixtures/cli/cli.js'
import { startStandby } from '../../fixtures/postgres/postgres-copies.js'
import { startPostgresServer } from '../../fixtures/postgres/postgres-server.js'
import { createTables } from '../../fixtures/postgres/postgres.js'

/** A fault of the database, and the finding that names it. */
interface Fault {
  name: string
  /** SQL, which sees the tables of this package and those of the host. */
  inject: string
  /** `schema` by default. */
  check?: string
  /** The beginning of its sentence. */
  text: RegExp
  /** SQL that ends the fault. By default the remedy of the finding does. */
  repair?: string
}

const faults: Fault[] = [
  // The schema.
  {
    name: 'a table that was dropped',
    inject: 'drop table marks',
    text: /^the table marks is missing, so every statement that uses it fails$/
  },
  {
    name: 'a column that was dropped',
    inject: 'alter table notices drop column leased_until',
    text: /^the column notices.leased_until is missing, so every statement that names it fails$/
  },
  {
    name: 'a column of another type',
    inject: 'alter table webhooks alter column revision type bigint',
    text: /^the column webhooks.revision is "bigint" instead of "integer", so statements that compare, sort or write it/
  },
  {
    name: 'an identity that was dropped',
    inject: 'alter table events alter column seq drop identity',
    text: /^the default of events.seq is missing/,
    repair: `alter table events alter column seq add generated always as identity;
      select setval('events_seq_seq', max(seq)) from events`
  },
  {
    name: 'a column that may be null',
    inject: 'alter table webhooks alter column secret drop not null',
    text: /^the constraint not null of webhooks.secret is missing, so a row without a value can be stored/
  },
  {
    name: 'a column of the host that must not be null',
    inject: `alter table deliveries add column region text not null default '';
      alter table deliveries alter column region drop default`,
    text: /^the constraint not null of deliveries.region is not part of this version, so inserts that leave it out/
  },
  {
    name: 'a key that was dropped',
    inject: 'alter table event_subjects drop constraint event_subjects_pkey',
    text: /^the constraint event_subjects.event_subjects_pkey is missing, so wrong or repeated rows can be stored/
  },
  {
    name: 'a constraint of the host',
    inject: 'alter table events add constraint small check (length(body) < 1000) not valid',
    text: /^the constraint events.small is not part of this version, so writes of this package that it does not allow/
  },
  {
    name: 'an index that was dropped',
    inject: 'drop index queue_ready',
    text: /^the index queue.queue_ready is missing, so statements that need it read the whole table$/
  },
  {
    name: 'an index that is invalid',
    inject: "update pg_index set indisvalid = false where indexrelid = 'deliveries_event'::regclass",
    text: /^the index deliveries.deliveries_event is "CREATE .* \(invalid\)" instead of/
  },
  {
    name: 'a table that a crash empties',
    inject: 'alter table notices set unlogged',
    text: /^the table notices is "unlogged" instead of "logged", so a crash of the server empties it$/
  },
  {
    name: 'a function with another body',
    inject: `create or replace function end_sync_tokens () returns void language sql
      set search_path from current set jit to off as 'select'`,
    text: /^the body of the function end_sync_tokens\(\) is not that of this version, so calls of it may fail or do/
  },
  {
    name: 'a function without its search_path',
    inject: 'alter function sweep_v1 reset search_path',
    text: /^the function sweep_v1\(bigint, integer\) is "\(p_webhook bigint, .*, so calls of it fail or do something/
  },
  {
    name: 'a second function of the same name',
    inject: "create function sweep_v1 (text, text) returns integer language sql as 'select 0'",
    text: /^the function sweep_v1\(text, text\) is not part of this version, so calls of this package may reach the/
  },
  {
    name: 'a trigger of the host on a table of this package',
    inject: `create trigger audit before update on events for each row
      execute function suppress_redundant_updates_trigger()`,
    text: /^the trigger events.audit is not part of this version, so it runs with each write of this package and can/
  },
  {
    name: 'a sequence that repeats its values',
    inject: 'alter sequence delivery_ids cycle',
    text: /^the sequence delivery_ids is "bigint .* cycle" instead of/
  },
  {
    name: 'a sequence that is behind its table, as after a restore of rows alone',
    inject: "select setval('webhook_ids', 1, false)",
    check: 'sequences',
    text: /^the sequence recruiting\.webhook_ids is behind the webhooks: they have ids up to 1, so new ids repeat old/
  },
  {
    name: 'the row of the state of changes is gone',
    inject: 'delete from change_state',
    check: 'rows',
    text: /^the table change_state is empty, so statements that rely on its row fail or do nothing$/
  },
  {
    name: 'a name_key with another collation',
    inject: `alter table jobs drop column name_key;
      alter table jobs add name_key text generated always as (lower(name)) stored`,
    check: 'relations',
    text: /^the column name_key of recruiting\.jobs has another collation than "C", so filter\[q\] fails or misses/,
    repair: `alter table jobs drop column name_key;
      alter table jobs add name_key text collate "C" generated always as (lower(name collate "und-x-icu")) stored`
  },
  {
    name: 'a name_key that only knows ASCII',
    inject: `alter table jobs drop column name_key;
      alter table jobs add name_key text collate "C" generated always as (lower(name)) stored`,
    check: 'relations',
    text: /^name_key of recruiting\.jobs is not lower\(name collate pg_catalog\."und-x-icu"\) in each row/,
    repair: `alter table jobs drop column name_key;
      alter table jobs add name_key text collate "C" generated always as (lower(name collate "und-x-icu")) stored`
  },
  // What surrounds it.
  {
    name: 'a publication of a table without replica identity',
    inject: 'alter table events replica identity nothing; create publication all_events for table events',
    check: 'publications',
    text: /^the publication all_events includes the table events, which has no replica identity, so every update and/
  },
  {
    name: 'a role that may only read',
    inject: 'alter role app set default_transaction_read_only to yes',
    check: 'settings',
    text: /^the role app has default_transaction_read_only = yes, so this package can record and deliver nothing$/,
    repair: 'alter role app reset default_transaction_read_only'
  },
  {
    name: 'a role whose writes fire no triggers',
    inject: 'alter role import in database postgres set session_replication_role to replica',
    check: 'settings',
    text: /^the role import has session_replication_role = replica, so the triggers of watch do not run, and sync/,
    repair: 'alter role import in database postgres reset session_replication_role'
  },
  {
    name: 'a database whose commits do not wait for the disk',
    inject: 'alter database postgres set synchronous_commit to off',
    check: 'settings',
    text: /^the database postgres has synchronous_commit = off, so the last events and results are lost if the server/,
    repair: 'alter database postgres reset synchronous_commit'
  },
  {
    name: 'autovacuum that is off for the queue',
    inject: 'alter table queue set (autovacuum_enabled = false)',
    check: 'vacuum',
    text: /^the table queue has autovacuum_enabled = false, so its dead rows stay and statements get slower and slower$/
  },
  {
    name: 'autovacuum that starts too late',
    inject: 'alter table queue reset (autovacuum_vacuum_scale_factor)',
    text: /^the storage parameter queue.autovacuum_vacuum_scale_factor is missing, so vacuum removes dead rows too late/
  },
  {
    name: 'dead rows that stay',
    inject: `alter table marks set (autovacuum_vacuum_threshold = 0);
      insert into marks (webhook_id, first_leased) select n, 0 from generate_series(1, 20000) as n; delete from marks;
      alter table marks reset (autovacuum_vacuum_threshold); select pg_stat_force_next_flush()`,
    check: 'vacuum',
    text: /^the table marks has 20000 dead rows, far more than autovacuum should leave, so statements get slower/,
    repair: 'vacuum marks'
  },
  {
    name: 'a replication slot that nobody reads',
    inject: "select pg_create_logical_replication_slot('forgotten', 'pgoutput')",
    check: 'replication',
    text: /^no client reads the replication slot forgotten, so the server keeps \d+ MB of WAL and the rows that \d+/,
    repair: "select pg_drop_replication_slot('forgotten')"
  },
  {
    name: 'events that retention does not reach',
    inject: `update events set recorded_at = now() - interval '40 days';
      update deliveries set created_at = now() - interval '40 days'`,
    check: 'retention',
    text: /^events of \d{4}-\d\d-\d\d are still there although they are kept for 30 days, so tables grow and personal/,
    repair: 'update events set recorded_at = now()'
  },
  {
    name: 'changes that retention does not reach',
    inject: `insert into changes (tenant, kind, id, seq, deleted, changed_at)
      values ('acme', 'job', '1', 1, false, now() - interval '100 days')`,
    check: 'retention',
    text: /^changes of \d{4}-\d\d-\d\d are still there although they are kept for 90 days/,
    repair: 'delete from changes'
  }
]

t.test('doctor names each fault, and its remedy ends it', async (t) => {
  const settings = ['fsync=off', 'max_prepared_transactions=2', 'wal_level=logical']
  const server = await startPostgresServer(t, { settings })
  const pool = server.createPool()
  const { storage, saveJobs } = await createTables(pool)
  await saveJobs('acme', [{ id: 1, name: 'Élève', status: 'open' }])
  const cli = createCli(server.url)

  async function runSql (text: string): Promise<void> {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    try {
      await client.query('set search_path to recruiting')
      // Statements for indexes and vacuum need to be alone.
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

  async function findFaults (options = ''): Promise<NamedFinding[]> {
    const { out, err } = await cli(`doctor --json ${options}`)
    if (err !== '') throw new Error(err)
    // The secrets of the webhooks are plain, which is advice.
    return (JSON.parse(out) as { findings: NamedFinding[] }).findings
      .filter(({ check, state }) => state !== 'ok' && check !== 'secrets')
  }

  await runSql(`
    create index on candidates (tenant_slug, updated_at, id); create index on jobs (tenant_slug, updated_at, id);
    alter table candidates
      add name_key text collate "C" generated always as (lower(full_name collate "und-x-icu")) stored;
    alter table jobs add name_key text collate "C" generated always as (lower(name collate "und-x-icu")) stored;
    create role app login; grant insert on events to app; create role import login`)
  await watch(pool, 'recruiting.candidates', { kind: 'candidate', id: 'id', tenant: 'tenant_slug' })
  await watch(pool, 'recruiting.jobs', { kind: 'job', id: 'id', tenant: 'tenant_slug' })
  await pool.query('delete from recruiting.recent_changes')
  const recruiting = createRecruiting({ storage, delivery: { allowNetworks: ['127.0.0.0/8'] } })
  t.teardown(() => recruiting.close())
  const webhook = { name: 'CRM', target_url: 'https://127.0.0.1:9/', event_types: ['application.created'] }
  await recruiting.webhooks.create('acme', { ...webhook, status: 'inactive' })
  await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: { id: 1 } })
  t.strictSame(await findFaults(), [])

  for (const { name, inject, check = 'schema', text, repair: own } of faults) {
    await t.test(name, async (t) => {
      await runSql(inject)
      const findings = await findFaults()
      t.match(findings, [{ check, state: 'fault', text }])
      t.equal(findings.length, 1)
      if (own === undefined) for (const { remedy } of findings) await repair(String(remedy))
      else await runSql(own)
      t.strictSame(await findFaults(), [])
    })
  }

  await t.test('a prepared transaction in another database', async (t) => {
    await pool.query('create database other')
    const other = server.createPool({ database: 'other', max: 1 })
    await other.query('begin')
    await other.query('create table left_behind ()')
    await other.query("prepare transaction 'imported'")
    t.match(await findFaults('--max-transaction-seconds 0'), [
      {
        check: 'transactions',
        text: /^prepared transaction imported \(postgres\) in the database other has been open for \d+ s, so the server cannot reuse transaction ids/,
        remedy: "in the database other, end it with rollback prepared 'imported' or commit prepared 'imported'"
      }
    ])
    await other.query("rollback prepared 'imported'")
    t.strictSame(await findFaults(), [])
  })

  /** Changes a setting of the server, and waits until new connections have it. */
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

  await t.test('a server whose autovacuum is off', async (t) => {
    await configure('autovacuum', 'off')
    t.match(await findFaults(), [{
      check: 'vacuum',
      text: 'the server has autovacuum = off, so dead rows stay and claims get slower and slower',
      remedy: 'alter system set autovacuum = on; select pg_reload_conf()'
    }])
    await configure('autovacuum', 'on')
    t.strictSame(await findFaults(), [])
  })

  await t.test('a synchronous standby that is not there', async (t) => {
    await configure('synchronous_standby_names', 'paris')
    const [found] = (await findFaults()).filter(({ check }) => check === 'replication')
    await configure('synchronous_standby_names', '')
    t.match(found, {
      state: 'fault',
      text: 'no standby of synchronous_standby_names (paris) is connected, so every commit waits for ever',
      remedy: 'start the standby, or run alter system reset synchronous_standby_names; select pg_reload_conf()'
    })
  })

  await t.test('a database that is not UTF-8', async (t) => {
    await pool.query("create database latin encoding 'LATIN1' template template0")
    const { out } = await createCli(server.url.replace(/postgres$/, 'latin'))('doctor --json --no-lists')
    t.match((JSON.parse(out) as { findings: NamedFinding[] }).findings.find(({ check }) => check === 'database'), {
      state: 'fault',
      text: 'the encoding of the database is LATIN1 instead of UTF8, so events with other characters cannot be recorded'
    })
  })

  await t.test('a standby in place of the primary', async (t) => {
    const standby = await startStandby(t, await startPostgresServer(t))
    const { out } = await createCli(standby.url)('doctor --json')
    t.match((JSON.parse(out) as { findings: NamedFinding[] }).findings.find(({ check }) => check === 'database'), {
      state: 'fault',
      text: 'this server is a standby, so nothing can be recorded or delivered here',
      remedy: 'use the address of the primary, or promote this server with select pg_promote()'
    })
  })
})
