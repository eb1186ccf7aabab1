import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import t from 'tap'
import recruitingApi, { type CandidateQuery } from '../../../src/index.js'
import { memoryKeyLookup } from '../../../src/storages/memory/index.js'
import { migrate, postgresStorage } from '../../../src/storages/postgres/index.js'
import { apiKeys, bearer, keys } from '../../fixtures/api/app.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { watchPool } from '../../fixtures/postgres/watched-pool.js'

const fields = ['id', 'full_name', 'headline', 'source_id']
const query: CandidateQuery = { filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 200, fields }

t.test('rows come from a view over the host\'s own tables', async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(`
    create table people (company text, nr int primary key, first text, last text, title text, salary numeric, joined timestamptz, tags text[], extra jsonb, day date);
    create view api_candidates as
      select company as tenant_slug, nr as id, first || ' ' || last as full_name, title as headline, null::bigint as source_id,
        null::bigint as recruiter_id, joined as created_at, joined as updated_at, salary, tags, extra, day, joined as since, nr > 1 as is_new,
        last as "last ""name"" $1"
      from people;
    insert into people values
      ('acme', 1, 'Ada', 'Lovelace', 'Analyst', 12.5, '2026-01-01T12:00:00.1239+02', '{a,b}', '{"z": 1, "a": [null]}', '2026-05-05'),
      ('acme', 2, 'Grace', 'Hopper', null, null, '2026-01-02', null, null, null),
      ('globex', 3, 'Hank', 'Scorpio', null, null, '2026-01-02', null, null, null)`)
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(recruitingApi, {
    storage: postgresStorage(pool, { candidates: 'api_candidates' }),
    keyLookup: memoryKeyLookup(apiKeys),
    candidateFields: Type.Object({
      salary: Type.Union([Type.Number(), Type.Null()]),
      tags: Type.Union([Type.Array(Type.String()), Type.Null()]),
      extra: Type.Unknown(),
      day: Type.Union([Type.String(), Type.Null()]),
      since: Type.String(),
      is_new: Type.Boolean(),
      'last "name" $1': Type.String()
    }),
    delivery: false
  })
  const { body } = await app.inject({ url: '/api/v1/public/acme/candidates', headers: bearer(keys.full) })
  t.strictSame(JSON.parse(body), {
    data: [
      {
        id: 1,
        full_name: 'Ada Lovelace',
        headline: 'Analyst',
        source_id: null,
        salary: 12.5,
        tags: ['a', 'b'],
        extra: { a: [null], z: 1 },
        day: '2026-05-05',
        since: '2026-01-01T10:00:00.123Z',
        is_new: false,
        'last "name" $1': 'Lovelace'
      },
      {
        id: 2,
        full_name: 'Grace Hopper',
        headline: null,
        source_id: null,
        salary: null,
        tags: null,
        extra: null,
        day: null,
        since: '2026-01-02T00:00:00.000Z',
        is_new: true,
        'last "name" $1': 'Hopper'
      }
    ],
    meta: { page: 1, per_page: 25, total: 2, total_pages: 1 }
  })
})

t.test('numbers and times are published with all digits, or rejected', async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(`create view numbers as
    select 'acme' as tenant_slug, nr as id, 'Ada' as full_name, null as headline, null::bigint as source_id,
      null::bigint as recruiter_id, now() as created_at, now() as updated_at, *
    from (values
      (1, 9007199254740993, 1.50, array[9007199254740993], 0.1::float8, 1e300::float8, '{"n": [1.5, "9007199254740993"]}'::jsonb, now()),
      (2, 9007199254740991, 0.1234567890123456789, '{1}', null, 5e-324, '{"n": 12345678901234567890}', 'infinity'),
      (3, -9007199254740993, 'NaN', '{}', 'NaN', null, '[0.1234567890123456789]', '0044-03-15 BC')
    ) as v (nr, big, exact, bigs, half, huge, json, time)`)
  const { candidates } = postgresStorage(pool, { candidates: 'numbers' })
  const read = (id: number, field: string, textFields: string[] = []) =>
    candidates.find('acme', id, { fields: ['id', field], textFields }).then(
      (row) => Reflect.get(row ?? {}, field),
      (error: Error) => error.message
    )
  const asText = async (field: string) => Promise.all([1, 2, 3].map((id) => read(id, field, [field])))
  t.strictSame(await asText('big'), ['9007199254740993', '9007199254740991', '-9007199254740993'])
  t.strictSame(await asText('exact'), ['1.50', '0.1234567890123456789', 'NaN'])
  t.strictSame(await asText('bigs'), [['9007199254740993'], ['1'], []])
  const rejected = (field: string) =>
    `candidates: the column ${field} contains a number that JavaScript cannot represent: publish it as text`
  const asStored = async (field: string) => Promise.all([1, 2, 3].map((id) => read(id, field)))
  t.strictSame(await asStored('big'), [rejected('big'), Number.MAX_SAFE_INTEGER, rejected('big')])
  t.strictSame(await asStored('exact'), [1.5, rejected('exact'), 'NaN'])
  t.strictSame(await asStored('bigs'), [rejected('bigs'), [1], []])
  t.strictSame(await asStored('half'), [0.1, null, 'NaN'])
  t.strictSame(await asStored('huge'), [1e300, 5e-324, null])
  t.strictSame(await asStored('json'), [{ n: [1.5, '9007199254740993'] }, { n: null }, [null]])
  const outside = 'candidates: the column time contains a time outside the years 1 to 9999'
  t.match(await asStored('time'), [/Z$/, outside, outside])
})

t.test('a number in JSON that JavaScript cannot represent is null, and the log names its row once', async (t) => {
  const { pool, schema } = await startPostgresHost(t)
  await pool.query(`
    alter table ${schema}.candidates add extra jsonb, add extras json[];
    insert into ${schema}.candidates (tenant_slug, id, full_name, created_at, updated_at, extra, extras) values
      ('acme', 1, 'Ada', now(), now(), '{"\\"9e999\\\\": "9e999", "n": [0.5, 1e-400, 12345678901234567890]}', '{"1e400"}'),
      ('acme', 2, 'Grace', now(), now(), ('{"n": 12' || repeat('0', 120000) || '1' || ', "ten": 1e1, "half": [0.5' || repeat('0', 300) || ', 0.5' || repeat('0', 400) || ']}')::jsonb, null)`)
  const lines: Array<Record<string, unknown>> = []
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line: string) => lines.push(JSON.parse(line)) } } })
  t.teardown(() => app.close())
  await app.register(recruitingApi, {
    storage: postgresStorage(pool),
    keyLookup: memoryKeyLookup(apiKeys),
    candidateFields: Type.Object({ extra: Type.Unknown(), extras: Type.Unknown() }),
    delivery: false
  })
  await app.ready()
  lines.length = 0
  const read = async (path: string) => {
    const { statusCode, body } = await app.inject({ url: `/api/v1/public/acme${path}`, headers: bearer(keys.full) })
    return { statusCode, data: JSON.parse(body).data }
  }
  const list = await read('/candidates')
  t.match(list, {
    statusCode: 200,
    data: [
      { extra: { '"9e999\\': '9e999', n: [0.5, null, null] }, extras: [null] },
      // No number of more than 400 characters is read.
      { extra: { n: null, ten: 10, half: [0.5, null] }, extras: null }
    ]
  })
  t.strictSame((await read('/candidates/2')).data, list.data[1])
  t.strictSame(lines.map(({ tenant, row, field }) => [tenant, row, field]), [
    ['acme', 'candidate 1', 'extra'], ['acme', 'candidate 1', 'extras'], ['acme', 'candidate 2', 'extra']
  ])
})

t.test('lists', async (t) => {
  const { pool, schema, storage, saveCandidates, clear } = await startPostgresHost(t, { schema: 'odd "one"' })
  t.beforeEach(clear)

  const names = async (changes: Partial<CandidateQuery> = {}, from = storage): Promise<string[]> =>
    (await from.candidates.list('acme', { ...query, ...changes })).map(({ full_name: name }) => name)

  t.test('a deep page equals one read from the beginning', async (t) => {
    const rows = Array.from({ length: 1200 }, (_, index) => ({ id: index + 1, full_name: `Name ${index % 7}`, recruiter_id: index % 2 }))
    await saveCandidates('acme', rows)
    await saveCandidates('globex', rows)
    const sort = [{ field: 'full_name', direction: 'desc' }, { field: 'id', direction: 'desc' }] as const
    const all: number[] = []
    for (let offset = 0; offset <= 1200; offset += 100) {
      const page = await storage.candidates.list('acme', { ...query, sort, offset, limit: 100 })
      all.push(...page.map(({ id }) => id))
    }
    const expected = rows.toSorted((a, b) => {
      if (a.full_name === b.full_name) return b.id - a.id
      return b.full_name < a.full_name ? -1 : 1
    })
    t.strictSame(all, expected.map(({ id }) => id))
    const filter = { recruiterId: 0, q: 'name', updatedAfter: '2020-01-01T00:00:00.000Z' }
    const every = [...fields, 'recruiter_id', 'created_at', 'updated_at', 'tenant_slug']
    const filtered = await storage.candidates.list('acme', { ...query, filter, offset: 501, limit: 5, fields: every })
    t.match(filtered, [1003, 1005, 1007, 1009, 1011].map((id) => ({ id, recruiter_id: 0, tenant_slug: 'acme', updated_at: /Z$/ })))
    t.strictSame(await storage.candidates.list('acme', { ...query, filter, offset: 600, limit: 5 }), [])
  })

  t.test('searches use the column name_key if there is one', async (t) => {
    await pool.query(`
      create table ${schema}.keyed (like ${schema}.candidates including all);
      alter table ${schema}.keyed add name_key text`)
    await pool.query(`insert into ${schema}.keyed values ('acme', 1, 'Ada', null, null, null, now(), now(), 'b_c%\\οδυσσευς')`)
    const keyed = postgresStorage(pool, { schema: 'odd "one"', candidates: `${schema}.keyed` })
    t.strictSame(await names({ filter: { q: 'ada' } }, keyed), [])
    for (const q of ['B_C%\\', '_', '%', '\\', 'ΟΔΥΣ', 'ΕΥΣ', 'ευσ']) t.strictSame(await names({ filter: { q } }, keyed), ['Ada'], q)
    t.strictSame(await names({ filter: { q: 'bxc' } }, keyed), [])
    t.equal(await keyed.candidates.count('acme', { q: 'c%' }), 1)
  })

  t.test('a relation created later is found without a restart', async (t) => {
    const late = postgresStorage(pool, { schema: 'odd "one"', candidates: 'late' })
    await t.rejects(late.candidates.list('acme', query), { code: 'storage_not_ready' })
    await pool.query(`create view late as select * from ${schema}.candidates`)
    await saveCandidates('acme', [{ id: 1, full_name: 'Ada' }])
    t.strictSame(await names({}, late), ['Ada'])
  })
})

t.test("ids beyond a column's integer range match no row", async (t) => {
  const { pool } = await startPostgresHost(t)
  await pool.query(`
    create table api_candidates (
      tenant_slug text, id smallint, full_name text, headline text, source_id integer, recruiter_id integer,
      created_at timestamptz, updated_at timestamptz
    );
    insert into api_candidates values ('acme', 7, 'Ada Lovelace', null, 3, 12, now(), now())`)
  const { candidates } = postgresStorage(pool, { candidates: 'api_candidates' })
  t.strictSame(await candidates.find('acme', 7, { fields }), { id: 7, full_name: 'Ada Lovelace', headline: null, source_id: 3 })
  for (const id of [8, 70_000, 5_000_000_000, Number.MAX_SAFE_INTEGER]) {
    t.equal(await candidates.find('acme', id, { fields }), null, String(id))
    t.strictSame(await candidates.list('acme', { ...query, filter: { recruiterId: id } }), [], String(id))
    t.equal(await candidates.count('acme', { recruiterId: id }), 0, String(id))
  }
})

const ids = { candidate: 'integer', job: 'integer', source: 'integer', recruiter: 'integer' } as const
const published = { candidates: ['id', 'full_name', 'headline', 'source_id'], jobs: ['id', 'name', 'status'], ids }

/** A page's statements, in order. */
async function readStatements (page: string): Promise<string[]> {
  const text = await readFile(new URL(`../../../docs/${page}`, import.meta.url), 'utf8')
  return [...text.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, sql = '']) => sql)
}

t.test("the docs' statements run, and create what a storage needs", async (t) => {
  const pool = (await startPostgres(t)).createPool()
  await migrate(pool)
  const statements = [...await readStatements('database.md'), ...await readStatements('postgresql.md')]
  t.ok(statements.length > 1)
  for (const sql of statements) await t.resolves(pool.query(sql))

  await pool.query("create view api_jobs as select company as tenant_slug, nr as id, name, 'open'::text as status, created_at, changed_at as updated_at from people")
  await pool.query("insert into people (company, nr, name) values ('acme', 1, 'ÉLODIE')")
  const storage = postgresStorage(pool, { candidates: 'api_candidates', jobs: 'api_jobs' })
  t.strictSame(await storage.verify(published), [])
  t.equal(await storage.candidates.count('acme', { q: 'élodie' }), 1)

  const { rows: [applicant] } = await pool.query("insert into applicants (company, name, owner_id) values ('acme', 'Ada', gen_random_uuid()) returning id, owner_id")
  const texts = { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' } as const
  const uuids = postgresStorage<string, string, string, string>(pool, { candidates: 'api_applicants', jobs: 'api_openings' })
  t.strictSame(await uuids.verify({ ...published, ids: texts }), [])
  t.match(await uuids.candidates.find('acme', applicant.id, { fields: published.candidates }), { id: applicant.id, full_name: 'Ada' })
  t.equal(await uuids.candidates.count('acme', { recruiterId: applicant.owner_id, q: 'ada' }), 1)

  const { rows: [company] } = await pool.query("insert into companies (slug) values ('acme') returning id")
  await pool.query("insert into persons (company_id, name) values ($1, 'Ada')", [company.id])
  const byId = postgresStorage(pool, { candidates: 'api_persons', jobs: 'api_posts' })
  t.strictSame(await byId.verify({ ...published, hasTenantIds: true }), [])
  t.equal(await byId.candidates.count(company.id, { q: 'ADA' }), 1)
})

t.test('totals', async (t) => {
  const { pool, saveCandidates } = await startPostgresHost(t)
  let counts = 0
  const counting = watchPool(pool, (text) => { if (text.includes('count(*)')) counts++ })
  const open = (totalsTtlMs: number) => postgresStorage(counting, { totalsTtlMs }).candidates
  await saveCandidates('acme', [{ id: 1, full_name: 'Ada' }])
  t.beforeEach(() => { counts = 0 })

  t.test('are cached by tenant and filter, for the allowed time', async (t) => {
    const candidates = open(200)
    t.strictSame(await Promise.all(Array.from({ length: 5 }, () => candidates.count('acme', {}))), [1, 1, 1, 1, 1])
    t.equal(counts, 1)
    t.equal(await candidates.count('globex', {}), 0)
    t.equal(await candidates.count('acme', { q: 'x' }), 0)
    t.equal(counts, 3)

    await saveCandidates('acme', [{ id: 2, full_name: 'Bob' }])
    await sleep(250)
    t.equal(await candidates.count('acme', {}), 2)
    t.equal(counts, 4)
  })

  t.test('that failed are not cached', async (t) => {
    const candidates = open(60_000)
    await pool.query('alter table recruiting.candidates rename to hidden')
    await t.rejects(candidates.count('acme', {}))
    await pool.query('alter table recruiting.hidden rename to candidates')
    t.equal(await candidates.count('acme', {}), 2)
  })

  t.test('are cached for a limited number of filters', async (t) => {
    const candidates = open(60_000)
    await candidates.count('acme', { q: 'first' })
    for (let q = 0; q < 1000; q += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, index) => candidates.count('acme', { q: String(q + index) })))
    }
    counts = 0
    await candidates.count('acme', { q: '999' })
    t.equal(counts, 0)
    await candidates.count('acme', { q: 'first' })
    t.equal(counts, 1)
  })
})
