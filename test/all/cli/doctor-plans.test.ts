import t from 'tap'
import type { NamedFinding } from '../../../src/tools/cli/doctor/doctor.js'
import { createCli } from '../../fixtures/cli/cli.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'

// The tables of an ATS as Prisma creates them: text ids, enums, timestamps without time zone, soft deletes.
const tables = `
  create type "JobStage" as enum ('DRAFT', 'OPEN', 'CLOSED');
  create table "Candidate" (
    "id" text primary key, "organizationId" text not null, "firstName" text not null, "lastName" text not null,
    "headline" text, "sourceId" text, "ownerId" text, "createdAt" timestamp(3) not null default current_timestamp,
    "updatedAt" timestamp(3) not null, "deletedAt" timestamp(3), "externalId" text
  );
  create table "Job" (
    "id" text primary key, "organizationId" text not null, "title" text not null, "stage" "JobStage" not null,
    "createdAt" timestamp(3) not null default current_timestamp, "updatedAt" timestamp(3) not null,
    "deletedAt" timestamp(3)
  );
  insert into "Candidate"
    select md5(n::text), case when n % 4 = 0 then 'org_' || n % 60 else 'org_large' end, 'Ada ' || n, 'Lovelace', null,
      null, 'owner_' || n % 500, now() - n * interval '1 minute', now() - n * interval '1 minute',
      case when n % 10 = 0 then now() end, 'crm-' || n
    from generate_series(1, 40000) as n;
  insert into "Job"
    select md5(n::text), case when n % 4 = 0 then 'org_' || n % 60 else 'org_large' end, 'Engineer ' || n,
      (array['DRAFT', 'OPEN', 'CLOSED'])[1 + n % 3]::"JobStage", now() - n * interval '1 minute',
      now() - n * interval '1 minute', null
    from generate_series(1, 20000) as n`

const views = `
  create view api_candidates as
    select "organizationId" as tenant_id, "id", "firstName" || ' ' || "lastName" as full_name, "headline",
      "sourceId" as source_id, "ownerId" as recruiter_id, "createdAt" at time zone 'UTC' as created_at,
      "updatedAt" at time zone 'UTC' as updated_at, "externalId"
    from "Candidate" where "deletedAt" is null;
  create view api_jobs as
    select "organizationId" as tenant_id, "id", "title" as name,
      case "stage" when 'DRAFT' then 'draft' when 'OPEN' then 'open' else 'closed' end as status,
      "createdAt" at time zone 'UTC' as created_at, "updatedAt" at time zone 'UTC' as updated_at
    from "Job" where "deletedAt" is null`

const stage = '(case "stage" when \'DRAFT\' then \'draft\' when \'OPEN\' then \'open\' else \'closed\' end)'
/** Each index, and the page that is slow without it. */
const indexes: Array<[statement: string, slow: RegExp]> = [
  ['on "Candidate" ("organizationId", "id" collate "C")', /api_candidates: (every page|filter\[)/],
  ['on "Candidate" ("organizationId", ("updatedAt" at time zone \'UTC\'), "id" collate "C")', /api_candidates: sort=updated_at/],
  ['on "Candidate" ("organizationId", ("createdAt" at time zone \'UTC\'), "id" collate "C")', /api_candidates: sort=created_at/],
  ['on "Candidate" ("organizationId", ("firstName" || \' \' || "lastName") collate "C", "id" collate "C")', /api_candidates: sort=full_name/],
  ['on "Candidate" ("organizationId", "ownerId", "id" collate "C")', /api_candidates: filter\[recruiter_id\]/],
  ['on "Candidate" ("organizationId", "externalId", "id" collate "C")', /api_candidates: filter\[externalId\]/],
  ['on "Job" ("organizationId", "id" collate "C")', /api_jobs: every page/],
  ['on "Job" ("organizationId", ("updatedAt" at time zone \'UTC\'), "id" collate "C")', /api_jobs: sort=updated_at/],
  ['on "Job" ("organizationId", ("createdAt" at time zone \'UTC\'), "id" collate "C")', /api_jobs: sort=created_at/],
  ['on "Job" ("organizationId", "title" collate "C", "id" collate "C")', /api_jobs: sort=name/],
  [`on "Job" ("organizationId", ${stage} collate "C", "id" collate "C")`, /api_jobs: sort=status/],
  [`on "Job" ("organizationId", ${stage}, "id" collate "C")`, /api_jobs: filter\[status\]/]
]

t.test("doctor judges the plans of a vendor's tables", async (t) => {
  const { pool, server: { url } } = await startPostgresHost(t)
  const cli = createCli(url)
  const lists = '--candidates public.api_candidates --jobs public.api_jobs --tenant-ids --candidate-filters externalId'
  async function findRelations (options = lists): Promise<NamedFinding[]> {
    const { out } = await cli(`doctor --json --wait-seconds 0 ${options}`)
    return (JSON.parse(out).findings as NamedFinding[]).filter(({ check }) => check === 'relations')
  }
  const faults = async (options = lists) => (await findRelations(options)).filter(({ state }) => state === 'fault' || state === 'unknown')

  await pool.query(tables)
  await pool.query(views)
  await pool.query('vacuum analyze')
  t.match(await faults(), [{ text: /api_candidates: every page/ }, { text: /api_jobs: every page/ }])

  for (const where of ['', ' where "deletedAt" is null']) {
    await t.test(`with the documented indexes${where}, and without each of them`, async (t) => {
      const names: string[] = []
      for (const [index, [statement]] of indexes.entries()) {
        names.push(`ix_${index}`)
        await pool.query(`create index ix_${index} ${statement}${where}`)
      }
      await pool.query('vacuum analyze')
      if (where !== '') {
        // PostgreSQL ignores the statistics of a partial index on an expression.
        t.match(await faults(), [{ text: /api_candidates: filter\[updated_after\]/ }, { text: /api_jobs: filter\[updated_after\]/ }])
        for (const table of ['"Candidate"', '"Job"']) {
          await pool.query(`create statistics ${table.toLowerCase()} on ("updatedAt" at time zone 'UTC'), ("createdAt" at time zone 'UTC') from ${table}; analyze ${table}`)
        }
      }
      t.match(await findRelations(), [
        { state: 'advice', text: /name_key/ },
        { state: 'ok', text: /^public\.api_candidates has its columns, and no page reads more than \d{1,3} rows or blocks$/ },
        { state: 'advice' }, { state: 'ok' }
      ])
      for (const [index, [statement, slow]] of indexes.entries()) {
        await pool.query(`drop index ix_${index}`)
        const found = await faults()
        t.match(found[0]?.text, slow, statement)
        t.ok(found.length <= 2)
        for (const { remedy } of found) await pool.query(String(remedy))
        t.strictSame(await faults(), [], `the remedy repairs ${statement}`)
      }
      const { rows } = await pool.query('select indexname from pg_indexes where tablename in (\'Candidate\', \'Job\') and indexname !~ \'pkey\'')
      for (const { indexname: name } of rows) await pool.query(`drop index "${name}"`)
    })
  }

  await t.test('views over several tables and over a function', async (t) => {
    await pool.query(`
      create table archived as select * from "Candidate" limit 0;
      create view merged as
        select "organizationId" as tenant_id, "id", "firstName" as full_name, "headline", "sourceId" as source_id, "ownerId" as recruiter_id,
          "createdAt" at time zone 'UTC' as created_at, "updatedAt" at time zone 'UTC' as updated_at from "Candidate"
        union all
        select "organizationId", "id", "firstName", "headline", "sourceId", "ownerId", "createdAt" at time zone 'UTC', "updatedAt" at time zone 'UTC' from archived;
      create function list_all () returns setof merged language plpgsql stable as $$ begin return query select * from merged; end $$;
      create view from_function as select * from list_all();
      create function list_few () returns setof merged language plpgsql stable as $$ begin return query select * from merged limit 5; end $$;
      create view from_few as select * from list_few()`)
    t.match(await faults('--candidates public.merged --jobs public.api_jobs --tenant-ids'), [
      { state: 'fault', text: /^public\.merged: every page of / }, { text: /api_jobs/ }
    ])
    t.match(await faults('--candidates public.from_function --jobs public.api_jobs --tenant-ids'), [
      { state: 'fault', text: /^public\.from_function: every page of / }, { text: /api_jobs/ }
    ])
    t.match(await faults('--candidates public.from_few --jobs public.api_jobs --tenant-ids'), [
      { state: 'unknown', text: 'public.from_few: every page was not judged, because it uses Function Scan and there are too few rows' },
      { state: 'unknown' }, { text: /api_jobs/ }
    ])
  })
})

t.test('doctor names a page that takes too long', async (t) => {
  const { pool, server: { url } } = await startPostgresHost(t)
  await pool.query(`
    create table people (company text, id bigint primary key, at timestamptz not null default now());
    insert into people select 'acme', n from generate_series(1, 12000) as n;
    create function slow_name (bigint) returns text language plpgsql immutable as
      'begin perform pg_sleep(0.1); return $1; end';
    create view api_candidates as select company as tenant_slug, id, slow_name(id) collate "C" as full_name, null::text as headline,
      null::bigint as source_id, null::bigint as recruiter_id, at as created_at, at as updated_at from people`)
  await pool.query('vacuum analyze people')
  const { out } = await createCli(url)('doctor --json --wait-seconds 0 --candidates public.api_candidates')
  const found = (JSON.parse(out).findings as NamedFinding[]).filter(({ check }) => check === 'relations')
  t.ok(found.some(({ state, text }) => state === 'fault' && /api_candidates: every page of .* takes more than 1 s$/.test(text)), out)
})

t.test('doctor suggests an index for searches in a large tenant', async (t) => {
  const { pool, server: { url } } = await startPostgresHost(t)
  await pool.query(`
    create table people (
      id bigint primary key, company uuid not null, name text not null, at timestamptz not null default now(),
      name_key text collate "C" generated always as (lower(name collate "und-x-icu")) stored
    );
    insert into people (id, company, name)
      select n, case when n <= 110000 then '10000000-0000-0000-0000-000000000000' else '20000000-0000-0000-0000-000000000000' end::uuid, 'Ada Lovelace ' || n
      from generate_series(1, 110500) as n;
    create unique index on people (company, id) include (name_key); create index on people (company, at, id);
    create index on people (company, name collate "C", id);
    create view api_candidates as select company as tenant_id, id, name as full_name, name_key, null::text as headline, null::bigint as source_id,
      null::bigint as recruiter_id, at as created_at, at as updated_at from people`)
  await pool.query('vacuum analyze people')
  async function findAdvice (): Promise<NamedFinding[]> {
    const { out } = await createCli(url)('doctor --json --wait-seconds 0 --candidates public.api_candidates --tenant-ids')
    return (JSON.parse(out).findings as NamedFinding[]).filter(({ text, state }) => text.includes('api_candidates') && state !== 'ok')
  }
  const [found, ...others] = await findAdvice()
  t.match(found, {
    state: 'advice',
    text: /^public\.api_candidates: filter\[q\] of the tenant 10000000-\S+ (reads 11\d{4} rows or blocks to return 0|takes more than 1 s)$/,
    remedy: 'if customers search often: create extension if not exists pg_trgm; create extension if not exists btree_gin; ' +
      'create index on public.people using gin (company, name_key gin_trgm_ops)'
  })
  t.strictSame(others, [])
  await pool.query(String(found?.remedy).replace('if customers search often: ', ''))
  await pool.query('vacuum analyze people')
  t.strictSame(await findAdvice(), [])
})
