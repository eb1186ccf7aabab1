import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import type pg from 'pg'
import t from 'tap'
import { doctor, createReader, type NamedFinding } from '../../../src/tools/cli/doctor/doctor.js'
import { serverChecks } from '../../../src/tools/cli/doctor/server.js'
import { parseFlags } from '../../../src/tools/cli/commands.js'
import { channelOf } from '../../../src/storages/postgres/deliveries/due.js'
import { listGrants, rights, type Rights } from '../../../src/storages/postgres/grants.js'
import { migrate, type PgPool, postgresStorage, watch } from '../../../src/storages/postgres/index.js'
import type { RunQuery } from '../../../src/storages/postgres/session.js'
import recruitingApi, { createRecruiting } from '../../../src/index.js'
import { memoryKeyLookup } from '../../../src/storages/memory/index.js'
import { createCli } from '../../fixtures/cli/cli.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { resetStory, usePrivileges } from '../../fixtures/postgres/privilege-story.js'
import { grantFewest } from '../../fixtures/postgres/smallest-grants.js'
import { apiKeys, bearer, keys } from '../../fixtures/api/app.js'
import { createStoryTables, goodStory, storyRelations, tellStory } from '../../fixtures/postgres/host-story.js'
import { createUser } from '../../fixtures/postgres/users.js'
import { changedIds, followSync } from '../../fixtures/sync/sync-client.js'
import { begin, startPostgresHost } from '../../fixtures/postgres/postgres.js'

const lists = { candidates: 'host.people', jobs: 'host.positions' }
const options = `--candidates ${lists.candidates} --jobs ${lists.jobs}`

t.test('a role that owns nothing', async (t) => {
  const server = await startPostgres(t)
  const owner = server.createPool()
  await migrate(owner)
  const role = 'app-1'
  await owner.query(`
    create schema host;
    create table host.people (
      tenant_slug text, id bigint, full_name text, headline text, source_id bigint, recruiter_id bigint, created_at timestamptz, updated_at timestamptz);
    create table host.positions (tenant_slug text, id bigint, name text, status text, created_at timestamptz, updated_at timestamptz);
    revoke execute on all functions in schema recruiting from public;
    create user "${role}"`)
  await watch(owner, 'host.people', { kind: 'candidate', id: 'id', tenant: 'tenant_slug' })
  t.teardown(() => owner.query(`drop owned by "${role}"; drop user "${role}"`))
  const { rows: functions } = await owner.query<{ name: string }>(
    "select proname as name from pg_proc where pronamespace = 'recruiting'::regnamespace and prorettype <> 'trigger'::regtype")
  // As errors name their objects, as in `grant`, and as doctor names them.
  const ofRelations = (kind: string, privileges: Rights['tables']) => Object.entries(privileges).flatMap(([name, wanted]) => wanted.map((privilege) => (
    { object: `${kind} ${name}`, text: `${privilege} on ${kind} recruiting.${name}`, lacking: `${privilege} on ${name}` }
  )))
  const each = [
    ...ofRelations('table', rights.tables),
    ...ofRelations('sequence', rights.sequences),
    { object: 'schema recruiting', text: 'usage on schema recruiting', lacking: 'usage on the schema' },
    ...functions.map(({ name }) => ({ object: `function ${name}`, text: `execute on function recruiting.${name}`, lacking: `execute on ${name}` })),
    { object: 'schema host', text: 'usage on schema host', lacking: 'usage on the schema host, and cannot serve lists' },
    ...Object.values(lists).map((name) => ({ object: `table ${name.split('.')[1]}`, text: `select on ${name}`, lacking: `select on ${name}, and cannot serve lists` }))
  ]
  const pool = server.createPool({ user: role })
  const cli = createCli(server.url)
  const own = createCli(server.url.replace('postgres@', `${role}@`))

  async function findLacking (run = own, given = options): Promise<Array<[text: string, remedy: string | null]>> {
    const { findings } = JSON.parse((await run(`doctor --json --wait-seconds 0 ${given}`)).out) as { findings: NamedFinding[] }
    return findings.filter(({ check, state }) => check === 'privileges' && state !== 'ok').map(({ text, remedy }) => [text, remedy])
  }

  await t.test('has no privileges, and doctor names all of them', async (t) => {
    const [[ours = '', remedy] = [], [onLists = ''] = []] = await findLacking()
    for (const [name, wanted] of Object.entries({ ...rights.tables, ...rights.sequences })) {
      for (const privilege of wanted) t.ok(ours.includes(`${privilege} on ${name}`), `${privilege} on ${name}`)
    }
    t.match(ours, /^app-1 lacks usage on the schema, /)
    t.match(ours, 'execute on claim_v1')
    t.equal(remedy, `as the owner of the schema and of your tables, run fastify-recruiting-api grants --schema recruiting --role app-1 ${options} --apply`)
    t.equal(onLists, 'app-1 lacks usage on the schema host, select on host.positions, select on host.people, and cannot serve lists')
    t.strictSame(await findLacking(own, '--no-lists'), [[ours, remedy?.replace(options, '--no-lists')]])
  })

  await t.test('needs all of them and no others', async (t) => {
    const { step, left } = grantFewest(owner, `"${role}"`, each)
    await resetStory(owner)
    t.strictSame(await usePrivileges(pool, lists, step), [], 'every method of the storage was called')
    t.strictSame(left(), [])
    t.strictSame(await findLacking(), [])
    await owner.query(`drop owned by "${role}"`)
  })

  await t.test('gets them from the command, after confirmation', async (t) => {
    const shown = await cli(`grants --role ${role} ${options}`)
    const host = [{ schema: 'host', name: 'people' }, { schema: 'host', name: 'positions' }]
    t.strictSame(shown, { code: 0, err: '', out: listGrants('recruiting', role, host).map((statement) => `${statement};\n`).join('') })
    t.match(await cli(`grants --role ${role} ${options} --apply`), { code: 2, err: /--yes: required/ })
    t.match(await findLacking(), [[/^app-1 lacks usage/], [/cannot serve lists$/]], 'nothing was granted')
    t.strictSame(await cli(`grants --role ${role} ${options} --apply`, { answers: ['y'] }), {
      code: 0,
      out: 'granted app-1 the privileges of servers and workers\n',
      err: 'Grants app-1 the privileges of servers and workers on the schema recruiting, host.people, host.positions.\nContinue? [y/N] '
    })
    t.strictSame(await findLacking(), [])
    await resetStory(owner)
    t.strictSame(await usePrivileges(pool, lists), [])
  })

  await t.test('cannot grant them to others, and nothing is granted partially', async (t) => {
    await owner.query(`create role "${role}-2"`)
    t.teardown(() => owner.query(`drop owned by "${role}-2"; drop role "${role}-2"`))
    t.match(await own(`grants --role ${role}-2 --no-lists --apply --yes`), {
      code: 1, err: /grants: app-1-2 still lacks usage on the schema, .*: run this as the owner of the schema and of your tables\n$/
    })
  })

  await t.test('rejects a relation that does not exist', async (t) => {
    t.strictSame(await cli('grants --role nobody --no-lists'), { code: 1, out: '', err: 'grants: --role: there is no role nobody: create it first\n' })
    t.match(await cli(`grants --role ${role} --jobs positions`), {
      code: 1, err: /^grants: --candidates: there is no table or view recruiting\.candidates: name your own, --candidates public\.api_candidates, or add --no-lists/
    })
    t.match(await cli(`grants --role ${role} --no-lists --jobs positions`), { code: 2, err: 'grants: --no-lists: cannot be combined with --jobs\n' })
    t.match(await cli('grants'), { code: 2, err: 'grants: --role: missing, add --role NAME\n' })
    const { out } = await cli(`grants --role ${role} --no-lists --json`)
    t.match(JSON.parse(out), { role, applied: false, statements: listGrants('recruiting', role) })
  })

  await t.test('sees in doctor which privilege was revoked', async (t) => {
    const { flags } = parseFlags(options.split(' '), doctor)
    const session = createReader(pool)
    const query: RunQuery = (text, values) => session.query('check', text, values)
    const patient = {
      pool, flags, session, query, schema: 'recruiting', quotedSchema: '"recruiting"', secretKeys: [], now: Date.now
    }
    for (const { text, lacking } of each) {
      await owner.query(`revoke ${text} from "${role}"`)
      t.match(await serverChecks.find(({ name }) => name === 'privileges')?.find(patient), [{ state: 'fault', text: `app-1 lacks ${lacking}` }], text)
      await owner.query(`grant ${text} to "${role}"`)
    }
    t.strictSame(await findLacking(), [])
  })

  await t.test('is detected by doctor as a worker\'s user', async (t) => {
    const client = await pool.connect()
    await client.query(`listen "${channelOf('recruiting')}"`)
    await owner.query(`revoke select on recruiting.queue, host.people from "${role}"`)
    t.match(await findLacking(cli), [['app-1 lacks select on queue'], ['app-1 lacks select on host.people, and cannot serve lists']])
    await owner.query(`grant select on recruiting.queue to "${role}"`)
    const { out } = await cli(`doctor --json ${options}`)
    t.match((JSON.parse(out) as { findings: NamedFinding[] }).findings.filter(({ check }) => check === 'privileges'), [
      { state: 'ok', text: 'postgres has all privileges that servers and workers need' }, { state: 'advice' }
    ], 'a process that only delivers does not read lists')
    client.release(true)
    t.strictSame(await findLacking(cli), [])
  })
})

t.test('a role of grants --emit emits events and records changes, and reads no secret and no data', async (t) => {
  const server = await startPostgres(t)
  const owner = server.createPool()
  await migrate(owner)
  await owner.query('revoke execute on all functions in schema recruiting from public; create user emitter')
  t.teardown(() => owner.query('drop owned by emitter; drop user emitter'))
  const cli = createCli(server.url)
  t.match(await cli('grants --role emitter --emit --no-lists'), { code: 2, err: 'grants: --emit: cannot be combined with --no-lists\n' })
  t.match((await cli('grants --role emitter --emit')).out, /^grant select \(id, tenant, status, event_types, filter_path, changed, subscription_id\) on table "recruiting"\.webhooks to "emitter";$/m)
  const pool = server.createPool({ user: 'emitter' })
  const emitter = createRecruiting({ storage: postgresStorage(pool), delivery: false })
  const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const
  await t.rejects(emitter.emit(event), /permission denied/)
  t.match(await cli('grants --role emitter --emit --apply --yes'), {
    code: 0, out: 'granted emitter the privileges of processes that only emit\n'
  })

  const vendor = createRecruiting({ storage: postgresStorage(owner), delivery: { worker: false } })
  const webhook = { name: 'CRM', target_url: 'https://example.com/', event_types: ['application.created'] }
  await vendor.webhooks.create('acme', { ...webhook, filters: { 'data.id': [1] } } as typeof webhook)
  await vendor.webhooks.create('acme', { ...webhook, status: 'inactive' } as typeof webhook)
  const starting = createRecruiting({ storage: postgresStorage(pool), delivery: false })
  for (const more of [{}, { idempotencyKey: 'one' }, { idempotencyKey: 'one' }, { subject: 'candidate:1' }]) {
    t.match(await starting.emit({ ...event, ...more }), { deliveries: 1 })
  }
  const inTransaction = await begin(pool)
  await starting.emit(event, { transaction: inTransaction })
  await inTransaction.query("select recruiting.changed('acme', 'candidate', '1')")
  await inTransaction.finish('commit')
  await starting.changed({ kind: 'candidate', tenantSlug: 'acme', id: 1 })
  t.strictSame((await owner.query('select count(*)::int from recruiting.queue')).rows, [{ count: 4 }])

  for (const read of [
    'secret from recruiting.webhooks', 'headers from recruiting.webhooks', 'target_url from recruiting.webhooks', '* from recruiting.api_keys',
    '* from recruiting.change_state', 'body from recruiting.events', 'attempts from recruiting.queue', '* from recruiting.deliveries', '* from recruiting.requests',
    'recruiting.end_sync_tokens()'
  ]) await t.rejects(pool.query(`select ${read}`), { code: '42501' }, read)
  await Promise.all([emitter, starting, vendor].map((one) => one.close()))
})

const tenantOf = new AsyncLocalStorage<string>()

/** Sets the request's tenant on the server, as hosts with row-level security do. */
function withTenant (pool: pg.Pool): PgPool {
  const connect = async (): Promise<pg.PoolClient> => {
    const client = await pool.connect()
    await client.query("select set_config('app.tenant', $1, false)", [tenantOf.getStore() ?? ''])
    return client
  }
  return {
    connect,
    async query (text, values) {
      const client = await connect()
      try {
        return await client.query(text, values)
      } finally {
        client.release()
      }
    }
  }
}

t.test("with row-level security on the host's tables", async (t) => {
  const server = await startPostgres(t)
  const owner = server.createPool()
  await createStoryTables(owner)
  await owner.query(`
    create view visible_people with (security_invoker) as select * from people;
    alter table people enable row level security;
    alter table positions enable row level security;
    create policy tenant on people using (tenant_slug = current_setting('app.tenant'));
    create policy tenant on positions using (tenant_slug = current_setting('app.tenant'))`)
  const pool = await createUser(t, server, owner)

  async function listen (storage: ReturnType<typeof postgresStorage>) {
    const app = Fastify()
    t.teardown(() => app.close())
    app.addHook('onRequest', (request, _reply, done) => {
      tenantOf.run(request.url.split('/')[4] ?? '', done)
    })
    await app.register(recruitingApi, { storage, keyLookup: memoryKeyLookup(apiKeys), delivery: false })
    await app.ready()
    return app
  }

  const names = async (app: Awaited<ReturnType<typeof listen>>, tenant: string, key: string): Promise<string[]> => {
    const answer = await app.inject({ url: `/api/v1/public/${tenant}/candidates`, headers: bearer(key) })
    return answer.json<{ data: Array<{ full_name: string }> }>().data.map(({ full_name: name }) => name)
  }

  await owner.query("insert into people (tenant_slug, id, full_name) values ('acme', 1, 'Ada'), ('globex', 1, 'Hank')")

  for (const candidates of ['public.people', 'public.visible_people']) {
    await t.test(`lists and syncs of ${candidates} work with a pool that sets the request's tenant`, async (t) => {
      const app = await listen(postgresStorage(withTenant(pool), { ...storyRelations, candidates }))
      t.strictSame([await names(app, 'acme', keys.full), await names(app, 'globex', keys.globex)], [['Ada'], ['Hank']])
      const first = await followSync(app)
      t.strictSame(changedIds(first.pages), ['1'])
      // The trigger records the change, even though the writer sees only its tenant's rows.
      await tenantOf.run('acme', () => withTenant(pool).query('update people set updated_at = now()'))
      t.strictSame(changedIds((await followSync(app, { token: first.token })).pages), ['1'])
    })
  }
})

t.test('row-level security that hides all rows of our own tables is rejected', async (t) => {
  const server = await startPostgres(t)
  const owner = server.createPool()
  await createStoryTables(owner)
  const pool = await createUser(t, server, owner)
  await owner.query('alter table recruiting.webhooks enable row level security; alter table recruiting.migrations enable row level security')
  const rejected = {
    code: 'storage_not_ready',
    field: 'schema',
    message: 'schema: row-level security without a policy hides all rows of migrations, webhooks in "recruiting" from the database user: disable it there, or create policies for this user'
  }
  const check = (database: pg.Pool) => postgresStorage(database, storyRelations).verify(null)
  await t.rejects(check(pool), rejected)
  await t.rejects(migrate(pool), rejected)
  await t.resolves(check(owner), 'the owner sees all rows')
  await owner.query('create policy all_rows on recruiting.webhooks using (true); create policy all_rows on recruiting.migrations using (true)')
  await t.resolves(check(pool))
})

t.test('everything works for a user without ownership and without access to pg_control_system and pg_control_checkpoint', async (t) => {
  const server = await startPostgres(t)
  const owner = server.createPool()
  await createStoryTables(owner)
  await owner.query('revoke execute on function pg_control_system(), pg_control_checkpoint() from public')
  const pool = await createUser(t, server, owner)
  await t.rejects(pool.query('select pg_control_system()'), { code: '42501' })
  t.strictSame(await tellStory(t, pool), goodStory)
})

const short = ["statement_timeout = '100ms'", "lock_timeout = '100ms'"]

t.test('for a user with a statement_timeout and a lock_timeout', async (t) => {
  t.test('migrate and watch wait longer than the timeouts', async (t) => {
    const server = await startPostgres(t)
    const owner = server.createPool()
    await createStoryTables(owner)
    const pool = await createUser(t, server, owner, { settings: short })
    const calls = {
      migrate: () => migrate(pool),
      watch: () => watch(pool, 'public.people', { kind: 'candidate', id: 'id', tenant: 'tenant_slug' })
    }
    for (const [name, call] of Object.entries(calls)) {
      const lock = `hashtextextended('fastify-recruiting-api ${name} recruiting', 0)`
      const holder = await begin(owner, `begin; select pg_advisory_xact_lock(${lock})`)
      const waiting: Promise<unknown> = call()
      await sleep(300)
      await holder.finish()
      t.ok(await waiting.then(() => true), name)
    }
  })

  t.test('pruning can take longer than the timeouts', async (t) => {
    const { server, pool: owner } = await startPostgresHost(t)
    const { deliveries } = postgresStorage(await createUser(t, server, owner, { settings: ["statement_timeout = '100ms'"] }))
    const holder = await begin(owner, 'begin; lock recruiting.events')
    const pruning = deliveries.prune({ retentionDays: 1, limit: 10 })
    await sleep(300)
    await holder.finish()
    t.equal(await pruning, 0)
  })
})
