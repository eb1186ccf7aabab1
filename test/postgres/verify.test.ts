import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import pg from 'pg'
import t from 'tap'
import recruitingApi, { createRecruiting } from '../../src/index.js'
import { memoryKeyLookup } from '../../src/memory/index.js'
import { migrate, postgresStorage } from '../../src/postgres/index.js'
import { startPostgres } from '../fixtures/postgres/postgres-server.js'

const ids = { candidate: 'integer', job: 'integer', source: 'integer', recruiter: 'integer' } as const
const published = { candidates: ['id', 'full_name', 'headline', 'source_id'], jobs: ['id', 'name', 'status'], ids }

t.test('a storage is verified when a host starts', async (t) => {
  const server = await startPostgres(t)
  const pool = server.createPool()
  await pool.query(`
    create table jobs (tenant_slug text, id int, name varchar(80), status text, created_at timestamptz, updated_at timestamptz);
    create view no_recruiter as select ''::text as tenant_slug, 1 as id, ''::text as full_name, ''::text as headline, 1 as source_id, now() as created_at, now() as updated_at;
    create view text_id as select *, 1 as recruiter_id from (select ''::text as tenant_slug, ''::text as id, ''::text as full_name, ''::text as headline, 1 as source_id, now() as created_at, now() as updated_at) as x;
    create view no_zone as select ''::text as tenant_slug, 1 as id, ''::text as name, ''::text as status, now()::timestamp as created_at, now() as updated_at;
    create view "Good One" as select *, 1 as recruiter_id from no_recruiter;
    create collation blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    create table blind_jobs (tenant_slug text collate blind, id int, name text, status text, created_at timestamptz, updated_at timestamptz);
    create domain slug as text check (value <> '');
    create table sluggish (tenant_slug slug, id int, name text, status text, created_at timestamptz, updated_at timestamptz)`)
  const good = { candidates: '"Good One"', jobs: 'public.jobs' }

  async function refusal (options: Parameters<typeof postgresStorage>[1], fields = published): Promise<unknown> {
    return postgresStorage(pool, options).verify(fields).then(() => null, ({ code, field, message }) => ({ code, field, message }))
  }

  t.strictSame(await refusal(good), {
    code: 'storage_not_ready',
    field: 'schema',
    message: 'the schema recruiting has none of the tables: call migrate(pool, { schema: "recruiting" }) before the start'
  })
  await migrate(pool)
  t.equal(await refusal(good), null)
  t.equal(await refusal({ ...good, jobs: 'sluggish' }), null)

  const problems: Array<[Parameters<typeof postgresStorage>[1], string, string]> = [
    [{}, 'candidates', 'there is no table or view "recruiting".candidates that the database user may see'],
    [{ ...good, candidates: 'nowhere.x' }, 'candidates', 'there is no table or view nowhere.x that the database user may see'],
    [{ ...good, candidates: 'no_recruiter' }, 'candidates', 'public.no_recruiter has no column recruiter_id'],
    [{ ...good, candidates: 'text_id' }, 'candidates', 'the column id of public.text_id is text, expected bigint or integer or smallint, because the option ids.candidate is \'integer\''],
    [{ ...good, jobs: 'no_zone' }, 'jobs', 'the column created_at of public.no_zone is timestamp without time zone, expected timestamp with time zone'],
    [{ ...good, jobs: 'blind_jobs' }, 'jobs', 'the column tenant_slug of public.blind_jobs has a collation by which different texts are equal']
  ]
  for (const [options, field, problem] of problems) {
    t.strictSame(await refusal(options), { code: 'storage_not_ready', field, message: `${field}: ${problem}` })
  }
  t.strictSame(await refusal(good, { ...published, candidates: ['id', 'phone'] }), {
    code: 'storage_not_ready', field: 'candidates', message: 'candidates: public."Good One" has no column phone'
  })

  t.test('a name that is invalid in SQL is reported', async (t) => {
    // PostgreSQL 15 refuses to look for it, later ones find nothing.
    t.match(await refusal({ ...good, candidates: 'a b c' }), { code: 'storage_not_ready' })
  })

  t.test('a host whose storage is not ready does not start', async (t) => {
    const app = Fastify()
    t.teardown(() => app.close())
    app.register(recruitingApi, { storage: postgresStorage(pool), keyLookup: memoryKeyLookup([]), delivery: false })
    await t.rejects(async () => app.ready(), { code: 'storage_not_ready', field: 'candidates' })
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
      'public.slow has no index on (tenant_slug, updated_at, id): filter[updated_after] and that sort read the whole tenant',
      'public.slow has no column name_key, generated as lower(name), in an index (tenant_slug, id) include (name_key): filter[q] reads the whole tenant'
    ]
    t.strictSame(await storage.verify(published), advice)
    await pool.query('create index on slow (tenant_slug, updated_at, id)')
    t.strictSame(await storage.verify(published), [advice[0], advice[2]])
    await pool.query('alter table slow add name_key text generated always as (lower(name)) stored; create index on slow (tenant_slug, id) include (name_key)')
    t.strictSame(await storage.verify(published), [])
  })

  t.test('where no lists are served only our own tables are looked at', async (t) => {
    t.strictSame(await postgresStorage(pool).verify(null), [])
  })

  t.test('a pool without a connection timeout is reported', async (t) => {
    const patient = server.createPool({ connectionTimeoutMillis: 0 })
    t.strictSame(await postgresStorage(patient).verify(null), ['the pool has no connection timeout: set connectionTimeoutMillis, for example 5000'])
  })

  t.test('an engine without lists goes on, and tells of it in its log', async (t) => {
    const errors: object[] = []
    const logger = { info () {}, warn () {}, error: (fields: object) => { errors.push(fields) } }
    const recruiting = createRecruiting({ storage: postgresStorage(pool, { schema: 'absent' }), logger, delivery: false })
    t.teardown(() => recruiting.close())
    await t.rejects(recruiting.emit({ tenantSlug: 'acme', type: 'job.created', data: {} }), { message: /absent/ })
    while (errors.length === 0) await sleep(5)
    t.match(errors, [{ err: { code: 'storage_not_ready' } }])
  })
})

t.test('options that cannot be are refused', async (t) => {
  const pool = new pg.Pool()
  const refused: Array<[unknown, object, string]> = [
    [null, {}, 'pool'],
    [{ query () {} }, {}, 'pool'],
    [pool, { queryTimeoutMs: 99 }, 'queryTimeoutMs'],
    [pool, { queryTimeoutMs: Number.NaN }, 'queryTimeoutMs'],
    [pool, { queryTimeoutMs: '5' }, 'queryTimeoutMs'],
    [pool, { totalsTtlMs: -1 }, 'totalsTtlMs'],
    [pool, { totalsTtlMs: 60_001 }, 'totalsTtlMs'],
    [pool, { candidates: '' }, 'candidates'],
    [pool, { jobs: 'a\0b' }, 'jobs'],
    [pool, { jobs: 7 }, 'jobs']
  ]
  for (const [given, options, field] of refused) {
    t.throws(() => postgresStorage(given as pg.Pool, options), { code: 'invalid_option', field }, `${field} ${JSON.stringify(options)}`)
  }
  await pool.end()
})
