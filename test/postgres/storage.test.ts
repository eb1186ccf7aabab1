import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import t from 'tap'
import type { FieldType } from '../../src/core/ports/index.js'
import { migrate, type PgClient, postgresStorage } from '../../src/storages/postgres/index.js'
import { createWebhook } from '../../src/tools/testing/support/samples.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

const ids = { candidate: 'integer', job: 'integer', source: 'integer', recruiter: 'integer' } as const
const published = { candidates: ['id', 'full_name', 'headline', 'source_id'], jobs: ['id', 'name', 'status'], ids }

t.test('a storage is verified at startup', async (t) => {
  const server = await startPostgres(t)
  const pool = server.createPool()
  await pool.query(`
    create table jobs (
      tenant_slug text, id int, name varchar(80), status text, created_at timestamptz, updated_at timestamptz
    );
    create view people as
      select ''::text as tenant_slug, 1 as id, ''::text as full_name, ''::text as headline, 1 as source_id,
        1 as recruiter_id, now() as created_at, now() as updated_at`)
  const good = { candidates: 'people', jobs: 'public.jobs' }

  async function findError (options: Parameters<typeof postgresStorage>[1]): Promise<unknown> {
    const verified = postgresStorage(pool, options).verify(published)
    return verified.then(() => null, ({ code, field, message }) => ({ code, field, message }))
  }

  t.strictSame(await findError(good), {
    code: 'storage_not_ready',
    field: 'schema',
    message: 'the schema recruiting has none of the tables: call migrate(pool, { schema: "recruiting" }) before starting'
  })
  await migrate(pool)
  t.equal(await findError(good), null)
  t.strictSame(await findError({}), {
    code: 'storage_not_ready',
    field: 'candidates',
    message: 'candidates: there is no table or view "recruiting".candidates that the database user may see'
  })

  t.test('an invalid SQL name is reported', async (t) => {
    // PostgreSQL 15 throws during the search, later versions find nothing.
    t.match(await findError({ ...good, candidates: 'a b c' }), { code: 'storage_not_ready' })
  })

  t.test('a closed pool and an unreachable server are reported', async (t) => {
    const closed = new pg.Pool({ connectionString: server.url })
    await closed.end()
    await t.rejects(postgresStorage(closed).verify(published), {
      code: 'storage_not_ready', field: 'pool', message: /^PostgreSQL cannot be queried, check the pool: Error: Cannot use a pool after calling end/
    })
    const nobody = new pg.Pool({ host: '127.0.0.1', port: 1, connectionTimeoutMillis: 1000 })
    await t.rejects(postgresStorage(nobody).verify(published), { code: 'storage_not_ready', field: 'pool', message: /ECONNREFUSED/ })
    await nobody.end()
  })

  t.test('slow queries are reported until they are fixed', async (t) => {
    await pool.query('create table slow (like jobs)')
    const storage = postgresStorage(pool, { ...good, jobs: 'slow' })
    const advice = [
      'public.slow has no index on (tenant_slug, id): pages read the whole table',
      'public.slow has no index on (tenant_slug, updated_at, id): filter[updated_after] and sort=updated_at read the whole tenant',
      'public.slow has no column name_key, generated as lower(name), in an index (tenant_slug, id) include (name_key): filter[q] reads the whole tenant'
    ]
    t.strictSame(await storage.verify(published), advice)
    await pool.query('create index on slow (tenant_slug, updated_at, id)')
    t.strictSame(await storage.verify(published), [advice[0], advice[2]])
    await pool.query('alter table slow add name_key text generated always as (lower(name)) stored; create index on slow (tenant_slug, id) include (name_key)')
    t.strictSame(await storage.verify(published), [])
  })

  t.test('columns of own filters are checked, with their indexes', async (t) => {
    await pool.query(`create table filtered (like slow including all, email varchar(200), "Rank" int, stage numeric, mail text collate "und-x-icu");
      create collation careless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      alter table filtered add careless text collate careless; create index on filtered (tenant_slug, "Rank", id)`)
    const storage = postgresStorage(pool, { ...good, jobs: 'filtered' })
    const verify = (field: string, type: FieldType) =>
      storage.verify({ ...published, filters: { candidates: [], jobs: [{ field, type, uses: ['equals'] }] } })
    t.strictSame(await verify('Rank', 'integer'), [])
    t.strictSame(await verify('email', 'text'), [
      'public.filtered has no index on (tenant_slug, email, id): filters and sort by email read the whole tenant'
    ])
    for (const [field, type, problem] of [
      ['stage', 'integer', 'stage of public.filtered is numeric, expected bigint or integer or smallint, because the option jobFilters names it'],
      ['mail', 'time', 'mail of public.filtered is text, expected timestamp with time zone, because the option jobFilters names it'],
      ['careless', 'text', 'careless of public.filtered has a collation that treats different texts as equal']
    ] as const) {
      await t.rejects(verify(field, type), { code: 'storage_not_ready', message: `jobs: the column ${problem}` })
    }
  })

  t.test('without lists, only our own tables are checked', async (t) => {
    t.strictSame(await postgresStorage(pool).verify(null), [])
  })

  t.test('a pool without a connection timeout is reported', async (t) => {
    const patient = server.createPool({ connectionTimeoutMillis: 0 })
    t.strictSame(await postgresStorage(patient).verify(null), ['the pool has no connection timeout: set connectionTimeoutMillis, for example 5000'])
  })
})

t.test('invalid options are rejected', async (t) => {
  const pool = new pg.Pool()
  const rejected: Array<[unknown, object, string]> = [
    [null, {}, 'pool'],
    [{ query () {} }, {}, 'pool'],
    [new pg.Client(), {}, 'pool'],
    [{ query () {}, connect () {}, release () {} }, {}, 'pool'],
    [pool, { queryTimeoutMs: 99 }, 'queryTimeoutMs'],
    [pool, { queryTimeoutMs: Number.NaN }, 'queryTimeoutMs'],
    [pool, { queryTimeoutMs: '5' }, 'queryTimeoutMs'],
    [pool, { totalsTtlMs: -1 }, 'totalsTtlMs'],
    [pool, { totalsTtlMs: 60_001 }, 'totalsTtlMs'],
    [pool, { candidates: '' }, 'candidates'],
    [pool, { jobs: 'a\0b' }, 'jobs'],
    [pool, { jobs: 7 }, 'jobs']
  ]
  for (const [given, options, field] of rejected) {
    t.throws(() => postgresStorage(given as pg.Pool, options), { code: 'invalid_option', field }, `${field} ${JSON.stringify(options)}`)
  }
  await pool.end()
})

const firstPage = { filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 5, fields: ['id', 'full_name'] } as const

t.test('a driver only needs a pool that lends connections', async (t) => {
  const { pool, storage, saveCandidates } = await startPostgresHost(t)
  let connections = 0
  const released: unknown[] = []
  let broken: Error | null = null
  let rejected: Error | null = null
  const { candidates, webhooks } = postgresStorage({
    query: () => Promise.reject(new Error('the pool is not queried')),
    async connect () {
      if (rejected !== null) throw rejected
      const client = await pool.connect()
      connections++
      return {
        async query (text: string, values?: unknown[]) {
          if (broken !== null) throw broken
          return client.query(text, values)
        },
        release (destroy?: boolean) {
          released.push(destroy)
          client.release(destroy)
        }
      }
    }
  })

  await saveCandidates('acme', [{ id: 7, full_name: 'Ada' }])
  t.same(await candidates.list('acme', firstPage), [{ id: 7, full_name: 'Ada' }])
  t.equal(await candidates.count('acme', {}), 1)
  await webhooks.create('acme', createWebhook(await webhooks.nextId('acme')), { maxPerTenant: 5 })
  t.equal(await storage.webhooks.count('acme', {}), 1, 'a transaction is committed')
  t.ok(released.every((destroy) => destroy !== true))

  broken = new Error('the driver is broken')
  await t.rejects(candidates.count('acme', {}), broken)
  t.equal(released.at(-1), true, 'the connection is closed')

  broken = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
  await t.rejects(candidates.count('acme', {}), { code: 'storage_timeout', cause: broken })

  rejected = new Error('timeout exceeded when trying to connect')
  await t.rejects(candidates.count('acme', {}), { code: 'storage_timeout', cause: rejected })

  rejected = new Error('there is no connection')
  await t.rejects(candidates.count('acme', {}), rejected)
  t.equal(released.length, connections, 'each connection is released once')
})

t.test('a connection that arrives too late is released once', async (t) => {
  const released: unknown[] = []
  let connect = (_client: PgClient): void => {}
  const { candidates } = postgresStorage({
    query: () => Promise.reject(new Error('the pool is not queried')),
    connect: () => new Promise((resolve) => { connect = resolve })
  }, { queryTimeoutMs: 100 })
  await t.rejects(candidates.count('acme', {}), { code: 'storage_timeout' })
  connect({
    query: () => Promise.reject(new Error('the client is not queried')), release: (destroy) => { released.push(destroy) }
  })
  await new Promise(setImmediate)
  t.same(released, [undefined])
})

t.test("statements run in their request's async context, even on a shared connection", async (t) => {
  const { server, storage } = await startPostgresHost(t)
  const own = server.createPool({ max: 1 })
  const tenant = new AsyncLocalStorage<string>()
  const seen: Array<[string | undefined, string]> = []
  const { webhooks } = postgresStorage({
    query: (text, values) => own.query(text, values),
    async connect () {
      const client = await own.connect()
      return {
        query (text: string, values?: unknown[]) {
          seen.push([tenant.getStore(), String(values?.[0] ?? '')])
          return client.query(text, values)
        },
        release: (destroy?: boolean) => client.release(destroy)
      }
    }
  })
  const tenants = ['acme', 'globex', 'initech']
  await Promise.all(tenants.map((slug) => tenant.run(slug, async () => {
    await webhooks.create(slug, createWebhook(await webhooks.nextId(slug)), { maxPerTenant: 5 })
    await webhooks.count(slug, {})
    t.equal(tenant.getStore(), slug)
  })))
  const statements = seen.filter(([, value]) => tenants.includes(value))
  t.equal(statements.length, 6)
  for (const [slug, value] of statements) t.equal(slug, value)
  t.ok(seen.every(([slug]) => slug !== undefined))
  t.equal(await storage.webhooks.count('acme', {}), 1)
})

t.test('if the driver throws synchronously, the error is reported, the connection closed and no timer left', async (t) => {
  const released: unknown[] = []
  const fail = (): never => { throw new Error('the driver is broken') }
  const release = (destroy?: boolean): void => { released.push(destroy) }
  const timers = countTimers()
  for (const connect of [fail, async () => ({ query: fail, release })]) {
    await t.rejects(postgresStorage({ query: fail, connect }).candidates.count('acme', {}), { message: 'the driver is broken' })
    t.equal(countTimers(), timers)
  }
  t.same(released, [true])
})

function countTimers (): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
}
