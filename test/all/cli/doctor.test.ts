import type { EventEmitter } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import t, { type Test } from 'tap'
import type { NamedFinding } from '../../../src/cli/doctor/run-checks.js'
import { createRecruiting } from '../../../src/index.js'
import { postgresStorage, watch } from '../../../src/postgres/index.js'
import { createCli, type Surroundings } from '../../fixtures/cli/cli.js'
import { startPostgresServer } from '../../fixtures/postgres/postgres-server.js'
import { createTables, type PostgresTables } from '../../fixtures/postgres/postgres.js'

const webhook = { name: 'CRM', target_url: 'https://example.com/', event_types: ['application.created'] }
const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const
const secretKey = Buffer.alloc(32, 1)

/** A pool to which notifications do not arrive, as behind a pooler in transaction mode. */
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
const slowPage = (name: string, table = name) =>
  `public.${name}: every page reads all rows of a tenant, or of the table ${table}`
const slowUpdates = (name: string, table = name) =>
  `public.${name}: filter[updated_after] and sorting by updated_at read all rows of a tenant, or of the table ${table}`
const wholeTable = (name: string, table: string) => `public.${name}: every page reads the whole table ${table}`

/** Relations whose pages are slow: the SQL that creates them, the faults with their remedies, and SQL to use instead. */
const slowRelations: Array<{
  option: string
  create: string
  faults: Array<[text: string, remedy: string | RegExp]>
  repair?: string
}> = [
  {
    option: '--jobs public.titles',
    create: `create table titles (${slug}, id text collate "en-x-icu", ${rest});
      create index on titles (tenant_slug, id); create index on titles (tenant_slug, updated_at)`,
    faults: [[slowPage('titles'), 'create index on public.titles (tenant_slug, id collate "C")']]
  },
  {
    option: '--jobs public.bare',
    create: `create table bare (${slug}, id bigint, ${rest})`,
    faults: [
      [slowPage('bare'), 'create index on public.bare (tenant_slug, id)'],
      [slowUpdates('bare'), 'create index on public.bare (tenant_slug, updated_at, id)']
    ]
  },
  {
    option: '--candidates public.api_people',
    create: `create table "People" (id bigint primary key, "Company" text, name text, at timestamptz, name_key text collate "C");
      create index on "People" ("Company"); create index on "People" ("Company", id) where id > 5;
      create view api_people as select "Company" as tenant_slug, ${person} from "People" p`,
    faults: [
      [slowPage('api_people', 'People'), 'create index on public."People" ("Company", id)'],
      [slowUpdates('api_people', 'People'), 'create index on public."People" ("Company", at, id)']
    ]
  },
  {
    option: '--candidates public.by_uuid',
    create: `create table members (id bigint primary key, company uuid, name text, at timestamptz, name_key text collate "C");
      create view by_uuid as select company as tenant_id, ${person} from members p`,
    faults: [
      [slowPage('by_uuid', 'members'), 'create index on public.members (company, id)'],
      [slowUpdates('by_uuid', 'members'), 'create index on public.members (company, at, id)']
    ]
  },
  {
    option: '--jobs public.api_jobs',
    create: `create table companies (id bigint primary key, slug text); create table posts (company bigint, id bigint, ${rest});
      create view api_jobs as select c.slug as tenant_slug, p.* from posts p join companies c on c.id = p.company`,
    faults: [[wholeTable('api_jobs', 'companies'), /companies/], [wholeTable('api_jobs', 'posts'), /posts/]],
    repair: 'create index on posts (company); create unique index on companies (slug)'
  },
  {
    option: '--jobs public.api_offers',
    create: `create table offers (company text, id bigint, ${rest});
      create view api_offers as select lower(company) as tenant_slug, o.* from offers o`,
    faults: [[wholeTable('api_offers', 'offers'), /offers/]],
    repair: 'create index on offers (lower(company))'
  }
]

t.test('doctor', async (t) => {
  const server = await startPostgresServer(t, { settings: ['fsync=off'] })
  const pool = server.createPool()
  const tables: PostgresTables = await createTables(pool)
  await pool.query(`
    create index on recruiting.candidates (tenant_slug, updated_at, id);
    create index on recruiting.jobs (tenant_slug, updated_at, id);
    alter table recruiting.candidates add name_key text collate "C" generated always as (lower(full_name collate "und-x-icu")) stored;
    alter table recruiting.jobs add name_key text collate "C" generated always as (lower(name collate "und-x-icu")) stored`)
  const watchCandidates = () => watch(pool, 'recruiting.candidates', { kind: 'candidate', id: 'id', tenant: 'tenant_slug' })
  await watchCandidates()
  await watch(pool, 'recruiting.jobs', { kind: 'job', id: 'id', tenant: "coalesce(row.tenant_slug, 'none')" })
  const worker = createRecruiting({ storage: tables.storage })
  t.teardown(() => worker.close())
  const cli = createCli(server.url)
  const folder = t.testdir({})

  async function examine (options = '', surroundings: Surroundings = {}): Promise<NamedFinding[]> {
    const { code, out, err } = await cli(`doctor --json ${options}`, surroundings)
    if (err !== '') throw new Error(err)
    const { findings } = JSON.parse(out) as { findings: NamedFinding[] }
    t.equal(code, findings.some(({ state }) => state === 'fault') ? 1 : 0, 'exit code 1 if and only if there is a fault')
    return findings
  }

  const faultsOf = (findings: NamedFinding[]): Array<[check: string, text: string]> =>
    findings.filter(({ state }) => state === 'fault').map(({ check, text }) => [check, text])

  /** The faults, which have remedies. */
  async function findFaults (t: Test, options = '', surroundings: Surroundings = {}): Promise<Array<[check: string, text: string]>> {
    const findings = await examine(options, surroundings)
    for (const { state, remedy } of findings) t.equal(typeof remedy === 'string', state !== 'ok')
    return faultsOf(findings)
  }

  await t.test('finds nothing where all is well, and says what it has checked', async (t) => {
    const { code, out, err } = await cli('doctor')
    t.strictSame([code, err], [0, ''])
    t.strictSame(
      out.trimEnd().split('\n').map((line) => line.slice(0, 24).trimEnd()),
      [
        'locks', 'migrations', 'privileges', 'database', 'settings', 'schema', 'rows', 'sequences', 'relations',
        'relations', 'copy', 'due deliveries', 'workers', 'retention', 'vacuum', 'transactions', 'publications',
        'replication', 'sync', 'feed', 'watched tables', 'watched tables', 'clocks', 'listen', 'secrets', 'webhooks'
      ].map((check) => `ok       ${check}`)
    )
  })

  await t.test('no migration, and an old one', async (t) => {
    const faults = await findFaults(t, '--schema empty --no-lists')
    t.match(faults, [['migrations', /^the schema empty lacks 001-tables\.sql, /]])
    await pool.query("update recruiting.migrations set name = 'x' where name = '001-tables.sql'")
    t.strictSame(await findFaults(t), [['migrations', 'the schema recruiting lacks 001-tables.sql, so servers do not start']])
    await pool.query("update recruiting.migrations set name = '001-tables.sql' where name = 'x'")
    await pool.query('alter function recruiting.sweep_v1 rename to sweep_v2')
    t.match(await findFaults(t), [['migrations', /was updated by a later version of fastify-recruiting-api/]])
    await pool.query('alter function recruiting.sweep_v2 rename to sweep_v1')
  })

  await t.test('watched tables whose triggers are gone or disabled, with the command that repairs them', async (t) => {
    const findWatched = async () => (await examine()).filter(({ check }) => check === 'watched tables').map(({ state, text, remedy }) => [state, text, remedy])
    t.strictSame(await findWatched(), [
      ['ok', 'recruiting.candidates is watched for candidates: id id, tenant tenant_slug', null],
      ['ok', "recruiting.jobs is watched for jobs: id id, tenant coalesce(row.tenant_slug, 'none')", null]
    ])
    await pool.query('drop trigger changes_candidate_delete_recruiting on recruiting.candidates; alter table recruiting.jobs disable trigger all')
    t.strictSame(await findWatched(), [
      ['fault', 'recruiting.candidates, watched for candidates, has lost a trigger or has a disabled one: candidates/sync answers 404 until watch is called for recruiting.candidates again',
        'run fastify-recruiting-api watch --schema recruiting --kind candidate --relation recruiting.candidates --id id --tenant tenant_slug'],
      ['fault', 'recruiting.jobs, watched for jobs, has lost a trigger or has a disabled one: jobs/sync answers 404 until watch is called for recruiting.jobs again',
        "run fastify-recruiting-api watch --schema recruiting --kind job --relation recruiting.jobs --id id --tenant 'coalesce(row.tenant_slug, '\\''none'\\'')'"]
    ])
    await watchCandidates()
    await pool.query("delete from recruiting.watched_tables where kind = 'job'")
    t.match(await findWatched(), [['ok'], ['advice', "no table is watched for jobs: there is no jobs/sync, unless postgresStorage has changes: 'manual'", /^if your customers should sync jobs, call watch/]])
    await watch(pool, 'recruiting.jobs', { kind: 'job', id: 'id', tenant: 'tenant_slug' })
  })

  await t.test('a relation that is not there', async (t) => {
    t.strictSame(await findFaults(t, '--candidates public.nowhere'), [
      ['relations', '--candidates: there is no table or view public.nowhere that the database user may see']
    ])
    t.match(await findFaults(t, '--candidates a.b.c.d'), [['relations', /^could not be checked: improper (qualified|relation) name/]])
    await pool.query('alter table recruiting.jobs rename to positions')
    const findings = await examine()
    t.match(findings.filter(({ state }) => state !== 'ok'), [{
      check: 'relations',
      state: 'fault',
      text: '--jobs: there is no table or view "recruiting".jobs that the database user may see',
      remedy: 'name your own table or view, --jobs public.api_jobs, or add --no-lists if your server has no lists of candidates and jobs'
    }])
    const without = await examine('--no-lists')
    t.match([faultsOf(without), without.filter(({ check }) => check === 'relations')], [[], [{ state: 'ok', text: 'not checked, because of --no-lists' }]])
    t.strictSame(await cli('doctor --no-lists --jobs public.api_jobs'), { code: 2, out: '', err: 'doctor: --no-lists: cannot be combined with --jobs\n' })
    await pool.query('alter table recruiting.positions rename to jobs')
  })

  await t.test('columns that are not there or of another type, all of them', async (t) => {
    await pool.query(`create table public.half as
      select tenant_slug, id::numeric as id, full_name, headline, source_id, created_at::date as created_at, updated_at from recruiting.candidates`)
    t.strictSame(await findFaults(t, '--candidates public.half'), [
      ['relations', 'candidates: the column created_at of public.half is date, expected timestamp with time zone'],
      ['relations', 'candidates: the column id of public.half is numeric, expected bigint or integer or smallint or uuid or text or character varying'],
      ['relations', 'candidates: public.half has no column recruiter_id']
    ])
  })

  await t.test('relations that no index serves, until their remedies are run', async (t) => {
    await pool.query('create table no_key as select * from recruiting.jobs; alter table no_key drop column name_key')
    for (const { option, create, faults, repair } of slowRelations) {
      await pool.query(create)
      const found = (await examine(option)).filter(({ state }) => state === 'fault')
      t.match(found.map(({ text, remedy }) => [text, remedy]).sort(), faults)
      t.equal(found.length, faults.length, option)
      await pool.query(repair ?? found.map(({ remedy }) => remedy).join(';'))
      t.strictSame(await findFaults(t, option), [])
    }
    t.match((await examine('--jobs public.no_key')).filter(({ state }) => state === 'advice'), [{
      text: 'public.no_key has no column name_key, so filter[q] reads every row of the tenant',
      remedy: 'add a column name_key text collate "C" generated always as (lower(name collate pg_catalog."und-x-icu")) stored, in an index (tenant_slug, id) include (name_key)'
    }])
  })

  await t.test('a view whose pages read the rows of all tenants, and one that has no tenant id', async (t) => {
    await pool.query(`
      create table firms (id bigint primary key, slug text not null unique);
      create table staff (id bigint primary key, firm bigint not null, name text, at timestamptz, name_key text collate "C");
      create view by_slug as select f.slug as tenant_slug, ${person} from staff p join firms f on f.id = p.firm;
      create view by_both as select f.slug as tenant_slug, p.firm as tenant_id, ${person} from staff p join firms f on f.id = p.firm;
      insert into firms select n, 'tenant_' || n from generate_series(1, 40) as n;
      insert into staff (id, firm, name, name_key) select n, 1 + n % 39, 'Ada', 'ada' from generate_series(1, 20000) as n;
      create index on staff (firm, id); create index on staff (firm, at, id)`)
    await pool.query('analyze firms, staff')
    const relations = async (option: string) => (await examine(`--candidates ${option}`))
      .filter(({ check, text }) => check === 'relations' && !text.includes('jobs'))
    for (const name of ['by_slug', 'by_both']) {
      t.match(await relations(`public.${name}`), [{
        state: 'fault',
        text: `public.${name}: pages of a small tenant read the rows of all tenants in staff, because tenant_slug is not a column of that table`,
        remedy: "set the option tenantId, and replace tenant_slug by tenant_id, the tenant's id in staff"
      }])
    }
    t.match(await relations('public.by_both --tenant-ids'), [{ state: 'ok' }])
    t.match(await relations('public.by_slug --tenant-ids'), [{
      state: 'fault', text: 'candidates: public.by_slug has no column tenant_id, which the option tenantId needs'
    }])
  })

  await t.test('nothing of workers where the database user may not look', async (t) => {
    await pool.query('create role blind login; grant usage on schema recruiting to blind; grant select on all tables in schema recruiting to blind')
    const url = server.url.replace('postgres@', 'blind@')
    const { out } = await createCli(url)('doctor --json --wait-seconds 0')
    const { findings } = JSON.parse(out) as { findings: NamedFinding[] }
    t.match(findings.find(({ check }) => check === 'workers'), { state: 'unknown', remedy: 'grant pg_monitor to the database user' })
  })

  await t.test('who has locked a row that a statement of this package waits for', async (t) => {
    const { id } = await worker.webhooks.create('locked', webhook)
    const client = new pg.Client({ connectionString: server.url, application_name: 'import' })
    await client.connect()
    await client.query(`begin; update recruiting.webhooks set name = 'x' where id = ${id}`)
    const waiting = worker.webhooks.update('locked', id, { name: 'CRM 2' })
    const findLock = async () => (await examine('--max-lock-seconds 0')).find(({ check, state }) => check === 'locks' && state === 'fault')
    let found
    while (found === undefined) found = await findLock()
    t.match(found.text, /^process \d+ \(postgres, import\) has locked rows that this package needs since .*, so statements wait; its last one: begin; update recruiting\.webhooks set name = 'x'/)
    await client.query('rollback')
    await client.end()
    await waiting
    await worker.removeTenant('locked')
  })

  await t.test('a long transaction that holds vacuum back', async (t) => {
    const client = await pool.connect()
    await client.query("set application_name to 'nightly report'; begin isolation level repeatable read; select 1")
    const finding = (await examine('--max-transaction-seconds 0')).find(({ text }) => text.includes('nightly report'))
    t.match(finding, {
      check: 'transactions',
      text: /^process \d+ \(postgres, nightly report\) has had a transaction open for \d s, so vacuum cannot remove deleted rows$/,
      remedy: /^end it with select pg_terminate_backend\(\d+\)$/
    })
    await client.query('rollback; reset application_name')
    client.release()
  })

  await t.test('clocks that differ', async (t) => {
    // A slow machine measures less exactly.
    t.match(await findFaults(t, '', { now: () => Date.now() + 60_000 }), [['clocks', /^this machine is (59|60)\.\d s ahead of the server, and receivers reject notifications that are minutes off$/]])
    t.match(await findFaults(t, '', { now: () => Date.now() - 60_000 }), [['clocks', /^this machine is (59|60)\.\d s behind the server, and receivers reject/]])
  })

  await t.test('a pooler through which LISTEN does not work', async (t) => {
    const importDriver = async () => ({ Pool: DeafPool })
    const faults = faultsOf(await examine('', { importDriver }))
    t.match(faults, [['listen', /^notifications do not arrive: a pooler in transaction mode is in between/]])
  })

  await t.test('secrets encrypted with a key that is missing from secretKeys', async (t) => {
    const sealing = createRecruiting({ storage: tables.storage, delivery: false, secretKeys: [secretKey] })
    t.teardown(() => sealing.close())
    const { id } = await sealing.webhooks.create('acme', webhook)
    const [right, wrong] = [join(folder, 'right'), join(folder, 'wrong')]
    await writeFile(right, secretKey.toString('base64'))
    await writeFile(wrong, Buffer.alloc(32, 9).toString('hex'))
    t.strictSame(await findFaults(t, `--secret-keys ${right}`), [])
    t.strictSame(await findFaults(t, `--secret-keys ${wrong}`), [['secrets', `no key opens the secrets of 1 webhook, so their deliveries wait: ${id} of acme`]])
    // Headers under another key than the secret, as after an interrupted change of keys.
    const other = createRecruiting({ storage: tables.storage, delivery: false, secretKeys: [Buffer.alloc(32, 9)] })
    t.teardown(() => other.close())
    await other.webhooks.update('acme', id, { headers: { 'X-Token': '1' } })
    t.strictSame(await findFaults(t, `--secret-keys ${right}`), [['secrets', `no key opens the secrets of 1 webhook, so their deliveries wait: ${id} of acme`]])
    t.match((await examine()).find(({ check }) => check === 'secrets'), { state: 'unknown', text: 'the secrets of 1 webhook are encrypted' })
    t.match(await cli('doctor --secret-keys /nowhere'), { code: 2, out: '' })
    await sealing.webhooks.delete('acme', id)
    const functions = { seal: (plain: Uint8Array) => plain, open: (sealed: Uint8Array) => sealed }
    const byHost = createRecruiting({ storage: tables.storage, delivery: false, secretKeys: functions })
    t.teardown(() => byHost.close())
    const sealed = await byHost.webhooks.create('acme', webhook)
    t.match(
      (await examine()).find(({ check }) => check === 'secrets'),
      { state: 'ok', text: /^the functions of secretKeys .* 1 webhook$/ }
    )
    await byHost.webhooks.delete('acme', sealed.id)
  })

  await t.test('webhooks that are disabled or failing', async (t) => {
    const recorder = createRecruiting({ storage: tables.storage, delivery: false })
    t.teardown(() => recorder.close())
    const ids = await Promise.all(Array.from({ length: 23 }, async () => (await recorder.webhooks.create('acme', webhook)).id))
    await pool.query("update recruiting.webhooks set status = 'disabled' where id <> $1", [ids[0]])
    t.match(await findFaults(t), [['webhooks', /^22 disabled, so their receivers get nothing or too little: /]])
    await pool.query(`insert into recruiting.webhook_health (webhook_id, revision, failing_since, failed_deliveries, is_warned)
      select id, revision, now(), 3, false from recruiting.webhooks where id = $1`, [ids[0]])
    t.match(await findFaults(t), [['webhooks', /^22 disabled, .*: \d+ of acme, .* and 2 more$/], ['webhooks', `1 failing, so their receivers get nothing or too little: ${ids[0]} of acme`]])
    await pool.query("update recruiting.webhooks set status = 'inactive'")
    t.strictSame(await findFaults(t), [], 'one that its tenant has switched off is none of these')
  })

  await t.test('a copy, and a database of another environment', async (t) => {
    await pool.query("update recruiting.home set environment = 'production'")
    t.match((await examine('--wait-seconds 0 --environment production')).find(({ check }) => check === 'copy'), { state: 'ok', text: 'no copy; it belongs to the environment production' })
    t.strictSame(await findFaults(t, '--wait-seconds 0 --environment staging'), [['copy', 'the database belongs to the environment production, so nothing is sent']])
    await pool.query('update recruiting.home set environment = null, database_oid = database_oid::int + 1')
    t.strictSame(await findFaults(t, '--wait-seconds 0'), [['copy', 'the database is a copy, so nothing is sent']])
    t.match(await cli('adopt --deliver --yes'), { code: 0 })
  })

  await t.test('a check that fails is a fault, and the others go on', async (t) => {
    await pool.query('alter table recruiting.webhook_health rename to hidden')
    const findings = await examine('--wait-seconds 0')
    t.match(faultsOf(findings).filter(([check]) => check === 'webhooks'), [['webhooks', /^could not be checked: relation "recruiting\.webhook_health" does not exist$/]])
    t.match(findings.find(({ check }) => check === 'listen'), { state: 'ok' })
    await pool.query('alter table recruiting.hidden rename to webhook_health')
  })

  await t.test('shows faults and remedies to people', async (t) => {
    const { code, out } = await cli('doctor --candidates public.nowhere')
    t.equal(code, 1)
    t.match(out, /^fault {4}relations {7}--candidates: there is no table or view public\.nowhere that the database user may see\n {9,}to fix it: create it, or grant the right to read it$/m)
    for (const option of ['max-due-seconds', 'max-lock-seconds', 'max-transaction-seconds', 'wait-seconds']) {
      t.match(await cli(`doctor --${option} soon`), { code: 2, err: `doctor: --${option}: expected an integer, got "soon"\n` })
    }
  })

  await t.test('deliveries that have been due for too long', async (t) => {
    await worker.close()
    // Otherwise a claim may be the last statement of an idle connection, as of a worker behind a pooler.
    const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()))
    for (const client of clients) {
      await client.query('select 1')
      client.release()
    }
    const recorder = createRecruiting({ storage: tables.storage, delivery: false })
    t.teardown(() => recorder.close())
    const { id } = await recorder.webhooks.create('acme', webhook)
    await recorder.emit(event)
    await pool.query("update recruiting.queue set due_at = now() - interval '400 seconds'")
    t.match(faultsOf(await examine('--wait-seconds 0')), [['due deliveries', /^the oldest has been due for 40\d s, so receivers get their notifications late$/], ['workers', 'no process delivers, so events wait']])
    t.match(faultsOf(await examine('--wait-seconds 0 --max-due-seconds 500')), [['workers', 'no process delivers, so events wait']])
    await recorder.webhooks.delete('acme', id)
  })

  await t.test('no process that delivers, until one starts', async (t) => {
    t.match(faultsOf(await examine('--wait-seconds 1')), [['workers', 'no process delivers, so events wait']])
    const started = examine('--wait-seconds 10')
    const late = createRecruiting({ storage: postgresStorage(pool) })
    t.teardown(() => late.close())
    t.strictSame(faultsOf(await started), [])
    t.strictSame(faultsOf(await examine('--schema other --no-lists')).map(([check]) => check), ['migrations'], 'one of another schema does not count')
  })
})
