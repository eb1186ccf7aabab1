import type pg from 'pg'
import t from 'tap'
import { postgresStorage, watch } from '../../../src/storages/postgres/index.js'
import { createRecruiting } from '../../../src/index.js'
import { compact, follow, withClient } from '../../fixtures/postgres/changes.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { followSync, requestSync } from '../../fixtures/sync/sync-client.js'
import { peopleColumns, startSyncedPeople } from '../../fixtures/sync/synced-people.js'
import { bearer, buildApp, keys } from '../../fixtures/api/app.js'

t.test('a watched table', async (t) => {
  const { pool, storage: { changes } } = await startPostgresHost(t)
  await pool.query('create table people (id bigint primary key, company text, name text, "Äußeres" jsonb)')
  await watch(pool, 'people', { kind: 'candidate', id: 'id', tenant: 'company' })

  /** Runs a statement and returns the changed ids; globex's ids have its name. */
  async function changed (statement: string, client: pg.Pool | pg.PoolClient = pool): Promise<string[]> {
    const start = await changes.begin('acme', 'candidate')
    await client.query(statement)
    const globex = await follow(changes, start, { tenantSlug: 'globex' })
    return [...(await follow(changes, start)).ids.toSorted(), ...globex.ids.toSorted().map((id) => `globex ${id}`)]
  }

  const statements: Array<[statement: string, expected: string[]]> = [
    ["insert into people values (1, 'acme', 'Ada'), (2, 'acme', 'Grace'), (3, 'globex', 'Linus'), (4, null, 'nobody')", ['1', '2', 'globex 3']],
    ["insert into people values (1, 'acme', 'Eve'), (5, 'acme', 'Alan') on conflict (id) do update set name = excluded.name", ['1', '5']],
    ["update people set name = 'Grace H.' where id = 2", ['2']],
    ['update people set id = 6 where id = 5', ['5', '6']],
    ["update people set company = 'globex' where id = 6", ['6', 'globex 6']],
    ["update people set company = 'acme' where id = 4", ['4']],
    ['update people set name = name where false', []],
    ["merge into people p using (values (1), (7)) as m (id) on p.id = m.id when matched then update set name = 'x' when not matched then insert values (m.id, 'acme', 'y')", ['1', '7']],
    ['with gone as (delete from people where id = 7 returning *) insert into people select 8, company, name from gone', ['7', '8']],
    ['delete from people where id = 8', ['8']],
    ['delete from people where id = 100', []],
    ['truncate people', ['1', '2', '4', 'globex 3', 'globex 6']],
    ['truncate people', []]
  ]
  for (const [statement, expected] of statements) {
    t.test(`records ${statement}`, async (t) => {
      t.strictSame(await changed(statement), expected)
    })
  }

  t.test('records in the writing transaction, including savepoints', async (t) => {
    const start = await changes.begin('acme', 'candidate')
    await withClient(pool, async (client) => {
      await client.query("begin; insert into people values (10, 'acme'); savepoint one; insert into people values (11, 'acme'); rollback to one")
      t.strictSame((await follow(changes, start)).ids, [])
      await client.query('commit')
      await client.query("begin; insert into people values (12, 'acme'); rollback")
    })
    t.strictSame((await follow(changes, start)).ids, ['10'])
  })

  t.test('records many rows as one set', async (t) => {
    await pool.query("insert into people select n, 'acme', 'x' from generate_series(1001, 6000) as n")
    const start = await changes.begin('acme', 'candidate')
    await pool.query("update people set name = 'y' where id > 1000")
    t.equal((await follow(changes, start)).ids.length, 5000)
    await compact(changes)
    t.equal((await pool.query('select from recruiting.changes where length(id) = 4')).rows.length, 5000)
    t.strictSame(await changed("update people set name = 'z' where id = 2000"), ['2000'], 'after so many')
  })

  t.test('skips ids and tenants that are invalid in the API', async (t) => {
    await pool.query('create table odd (id text, company text)')
    await watch(pool, 'odd', { kind: 'job', id: 'id', tenant: 'company' })
    const { rows: [{ count: before }] } = await pool.query('select count(*)::int from recruiting.recent_changes')
    await pool.query('insert into odd values (\'\', \'acme\'), (repeat(\'x\', 65), \'acme\'), (\'a/b\', \'acme\'), (\'ß\', \'acme\'), (\'1\', \'\'), (\'1\', repeat(\'x\', 201)), (null, \'acme\'), (\'1\', null)')
    t.equal((await pool.query('select count(*)::int from recruiting.recent_changes')).rows[0].count, before)
  })
})

t.test('watching', async (t) => {
  const { pool, server, storage: { changes } } = await startPostgresHost(t)
  await pool.query(`
    create schema crm;
    create table crm.accounts (id int primary key, slug text collate "C");
    create table crm.applications (id int primary key, account_id int, "person's" int, job_id uuid, "row" int);
    insert into crm.accounts values (1, 'acme'), (2, 'globex')`)
  const tenant = '(select slug from accounts where accounts.id = row.account_id) -- the slug'
  const triggers = async () => (await pool.query(`
    select t.oid::int, t.xmin::text, tgname, tgfoid::regproc::text as function from pg_trigger t where tgrelid = 'crm.applications'::regclass order by 3`)).rows

  t.test("accepts expressions, whose names refer to the table's schema, and columns of any name", async (t) => {
    await watch(pool, 'crm.applications', { kind: 'candidate', id: "person's", tenant })
    await watch(pool, 'crm.applications', { kind: 'job', id: "coalesce(row.job_id::text, 'no%''\\job')", tenant })
    const [start, jobStart] = [await changes.begin('acme', 'candidate'), await changes.begin('acme', 'job')]
    const job = '0197f4c2-8a10-7d3e-9b51-6c2f8e1a4d70'
    await pool.query(`insert into crm.applications values (1, 1, 41, '${job}'), (2, 1, 41, null), (3, 2, 43, null), (4, 9, 44, null)`)
    t.strictSame([...new Set((await follow(changes, start)).ids)], ['41'])
    t.strictSame((await follow(changes, start, { tenantSlug: 'globex' })).ids, ['43'])
    t.strictSame((await follow(changes, jobStart, { kind: 'job' })).ids, [job, "no%'\\job"])
    const before = await changes.begin('acme', 'job')
    await pool.query('truncate crm.applications')
    t.strictSame((await follow(changes, before, { kind: 'job' })).ids, [job, "no%'\\job"])
  })

  t.test('accepts tenant ids of up to 200 characters', async (t) => {
    await pool.query("create table crm.long (id int, company text); insert into crm.long values (1, repeat('x', 200))")
    await watch(pool, 'crm.long', { kind: 'candidate', id: 'id', tenant: 'company' })
    const tenantSlug = 'x'.repeat(200)
    const start = await changes.begin(tenantSlug, 'candidate')
    await pool.query('update crm.long set id = 2')
    t.strictSame((await follow(changes, start, { tenantSlug })).ids.toSorted(), ['1', '2'])
    await pool.query('drop table crm.long')
  })

  t.test('accepts an expression that fails only for null columns, while the table is empty', async (t) => {
    await pool.query('create table crm.new (id int, company text)')
    await watch(pool, 'crm.new', { kind: 'candidate', id: '10 / coalesce(row.id, 0)', tenant: 'company' })
    const start = await changes.begin('acme', 'candidate')
    await pool.query("insert into crm.new values (5, 'acme')")
    t.strictSame((await follow(changes, start)).ids, ['2'])
    await pool.query('drop table crm.new')
  })

  t.test('a second time changes nothing and locks nothing', async (t) => {
    const before = await triggers()
    t.equal(before.length, 8)
    await withClient(pool, async (client) => {
      await client.query('begin; insert into crm.applications values (50, 1, 50)')
      await watch(pool, 'crm.applications', { kind: 'candidate', id: "person's", tenant })
      await client.query('commit')
    })
    t.strictSame(await triggers(), before)
  })

  t.test("with other options replaces the kind's triggers and leaves no function behind", async (t) => {
    const before = await triggers()
    await watch(pool, 'crm.applications', { kind: 'candidate', id: 'id', tenant })
    const after = await triggers()
    t.strictSame(after.map(({ tgname }) => tgname), before.map(({ tgname }) => tgname))
    const isSame = after.map((row, index) => row.function === before[index]?.function)
    t.strictSame(isSame, [false, false, false, false, true, true, true, true])
    const functions = "select proname from pg_proc where proname like 'watch\\_%' and pronamespace = 'recruiting'::regnamespace"
    t.equal((await pool.query(functions)).rows.length, 2)
  })

  t.test('by ten processes at once creates each trigger once', async (t) => {
    await pool.query('create table crm.people (id int, tenant text)')
    const pools = Array.from({ length: 10 }, () => server.createPool())
    await Promise.all(pools.map((each) => watch(each, 'crm.people', { kind: 'candidate', id: 'id', tenant: 'tenant' })))
    const start = await changes.begin('acme', 'candidate')
    await pool.query("insert into crm.people values (1, 'acme')")
    t.strictSame((await follow(changes, start)).ids, ['1'])
    t.equal((await pool.query("select from pg_trigger where tgrelid = 'crm.people'::regclass")).rows.length, 4)
  })

  t.test('records writes to a partitioned table and its partitions on every level', async (t) => {
    await pool.query(`
      create table crm.steps (person int, tenant text, step int) partition by list (tenant);
      create table crm.steps_acme partition of crm.steps for values in ('acme') partition by range (step);
      create table crm.steps_acme_1 partition of crm.steps_acme for values from (0) to (10);
      create table crm.steps_acme_2 partition of crm.steps_acme for values from (10) to (20)`)
    const options = { kind: 'candidate', id: 'person', tenant: 'tenant' } as const
    await watch(pool, 'crm.steps', options)
    const changed = async (statement: string) => {
      const start = await changes.begin('acme', 'candidate')
      await pool.query(statement)
      return (await follow(changes, start)).ids.toSorted()
    }
    t.strictSame(await changed("insert into crm.steps values (1, 'acme', 1), (2, 'acme', 11)"), ['1', '2'])
    t.strictSame(await changed("insert into crm.steps_acme_1 values (3, 'acme', 3)"), ['3'])
    t.strictSame(await changed('update crm.steps set step = 12 where person = 1'), ['1'], 'a row that moves to another partition')
    t.strictSame(await changed('update crm.steps_acme set person = 4 where person = 3'), ['3', '4'])
    t.strictSame(await changed('truncate crm.steps_acme_1'), ['4'])
    t.strictSame(await changed('truncate crm.steps'), ['1', '2'])
    await pool.query('create table crm.steps_acme_3 partition of crm.steps_acme for values from (20) to (30)')
    await watch(pool, 'crm.steps', options)
    t.strictSame(await changed("insert into crm.steps_acme_3 values (5, 'acme', 25)"), ['5'], 'an added partition')
  })

  t.test('a user without privileges on our tables can still write to the table', async (t) => {
    await pool.query('create role writer login; grant usage on schema crm to writer; grant all on crm.applications to writer')
    const writer = server.createPool({ user: 'writer' })
    const start = await changes.begin('acme', 'candidate')
    await writer.query('insert into crm.applications values (70, 1)')
    await writer.query('truncate crm.applications')
    t.strictSame((await follow(changes, start)).ids, ['70', '50', '70'])
    await t.rejects(writer.query('select from recruiting.recent_changes'), { code: '42501' })
    await t.rejects(watch(writer, 'crm.applications', { kind: 'candidate', id: 'id', tenant }), { code: '42501' })
    await pool.query('grant usage, create on schema recruiting to writer')
    await t.rejects(watch(writer, 'crm.applications', { kind: 'candidate', id: 'id', tenant }), {
      code: 'invalid_option', field: 'tenant', message: 'tenant: permission denied for table accounts'
    })
    await t.rejects(watch(writer, 'crm.applications', { kind: 'candidate', id: 'id', tenant: "'acme'" }), { code: '42501', message: /table recent_changes/ })
  })

  t.test('is not diverted by the writer\'s search path or objects', async (t) => {
    await pool.query(`
      create role mallory login; create schema mallory authorization mallory; grant usage on schema crm to mallory; grant insert on crm.applications to mallory`)
    const mallory = server.createPool({ user: 'mallory', options: '-c search_path=mallory,pg_catalog' })
    await mallory.query(`
      create function mallory.char_length(text) returns int language sql as 'select 1/0';
      create temp table accounts as select 1 as id, 'stolen'::text as slug`)
    const start = await changes.begin('acme', 'candidate')
    await mallory.query('insert into crm.applications values (80, 1)')
    t.strictSame((await follow(changes, start)).ids, ['80'])
  })

  t.test("a better match in the table's schema does not run with the owner's rights", async (t) => {
    await pool.query(`
      create role planter login; create schema shared; grant usage, create on schema shared to planter;
      create table shared.people (id text, tenant text); grant all on shared.people to planter`)
    await watch(pool, 'shared.people', { kind: 'candidate', id: 'array[row.id]', tenant: 'tenant' })
    const planter = server.createPool({ user: 'planter' })
    await planter.query(`
      create table shared.seen (role text); grant all on shared.seen to public;
      create function shared.spy (anyelement) returns anyelement language plpgsql
        as $$ begin insert into shared.seen values (current_user); return $1; end $$;
      create function shared.format (text, name, name) returns text language sql
        as $$ select shared.spy(pg_catalog.format($1, $2, $3)) $$;
      create function shared.unnest (text[]) returns setof text language sql
        as $$ select pg_catalog.unnest(shared.spy($1)) $$`)
    const start = await changes.begin('acme', 'candidate')
    await planter.query("insert into shared.people values (90, 'acme')")
    await planter.query("update shared.people set tenant = 'other'")
    await planter.query("update shared.people set tenant = 'acme'")
    await planter.query('truncate shared.people')
    t.strictSame((await follow(changes, start)).ids, ['90', '90', '90', '90'])
    t.strictSame((await planter.query('select role from shared.seen')).rows, [])
  })

  t.test('rejects relations that cannot be watched, and names them', async (t) => {
    await pool.query(`
      create view crm.view as select * from crm.people;
      create table crm.empty (id int, tenant text);
      create table crm.filled (id int, tenant text, name text);
      insert into crm.filled values (1, 'acme', 'Ada Lovelace');
      create foreign data wrapper nothing;
      create server nowhere foreign data wrapper nothing;
      create table crm.parted (id int, tenant text) partition by list (tenant);
      create foreign table crm.remote partition of crm.parted for values in ('acme') server nowhere`)
    const good = { kind: 'candidate', id: 'id', tenant: 'tenant' } as const
    const rejected: Array<[relation: string, options: object, field: string, message: RegExp]> = [
      ['crm.nobody', good, 'relation', /^relation: there is no table crm\.nobody that the database user may see$/],
      ['crm.view', good, 'relation', /^relation: crm\.view is not a table: watch the tables that it reads$/],
      ['crm.parted', good, 'relation', /^relation: crm\.remote, a partition of crm\.parted, is a foreign table: call changed for its rows instead$/],
      ['', good, 'relation', /^relation: expected the name of a table/],
      [5 as unknown as string, good, 'relation', /^relation: expected the name of a table/],
      ['a..b', good, 'relation', /^relation: /],
      ['crm.people', { ...good, id: 'person_id' }, 'id', /^id: crm\.people has no column person_id$/],
      ['crm.people', { ...good, tenant: 'Tenant' }, 'tenant', /^tenant: crm\.people has no column Tenant$/],
      ['crm.people', { ...good, id: 'row.nr' }, 'id', /^id: column row\.nr does not exist$/],
      ['crm.people', { ...good, tenant: 'row.tenant ||' }, 'tenant', /^tenant: syntax error/],
      ['crm.people', { ...good, id: 'row.id > 5' }, 'id', /^id: expected text, an integer or a uuid, got boolean$/],
      ['crm.people', { ...good, id: 'array[true]' }, 'id', /^id: expected text, an integer or a uuid, got boolean\[\]$/],
      ['crm.people', { ...good, tenant: 'to_jsonb(row.tenant)' }, 'tenant', /^tenant: expected text, an integer or a uuid, got jsonb$/],
      ['crm.filled', { ...good, tenant: '(select slug from accounts)' }, 'tenant', /^tenant: more than one row returned by a subquery used as an expression$/],
      ['crm.empty', { ...good, tenant: '(select slug from accounts)' }, 'tenant', /^tenant: more than one row returned by a subquery used as an expression$/],
      ['crm.filled', { ...good, id: 'row.name' }, 'id', /^id: none of the values in crm\.filled can be the id of an item of the kind candidate$/],
      ['crm.filled', { ...good, tenant: 'repeat(row.tenant, 100)' }, 'tenant', /^tenant: none of the values in crm\.filled can be the id of a tenant$/],
      ['crm.people', { ...good, kind: 'candidates' }, 'kind', /^kind: expected candidate, job or the kind of an own list: 1 to 32 of a-z, 0-9 and _, beginning with a letter, got "candidates"$/],
      ['crm.people', { ...good, kind: undefined }, 'kind', /^kind: expected/],
      ['crm.people', { ...good, kind: "person'" }, 'kind', /^kind: expected/],
      ['crm.people', { ...good, id: ' ' }, 'id', /^id: expected the name of a column, or an SQL expression over row, got " "$/],
      ['crm.people', { kind: 'job', id: 'id' }, 'tenant', /^tenant: expected/],
      ['crm.people', { ...good, schema: '' }, 'schema', /^schema: expected/],
      ['crm.people', { ...good, table: 'x' }, 'table', /^table: expected a known name/]
    ]
    for (const [relation, options, field, message] of rejected) {
      await t.rejects(watch(pool, relation, options as typeof good), { code: 'invalid_option', field, message }, `${relation} ${JSON.stringify(options)}`)
    }
    await t.rejects(watch(pool, 'crm.people', { ...good, schema: 'nowhere' }), {
      code: 'storage_not_ready', field: 'schema', message: 'the schema nowhere has no table recent_changes: call migrate(pool, { schema: "nowhere" }) first'
    })
  })

  t.test('rejects for a locked table', async (t) => {
    await pool.query('create table crm.locked (id int, tenant text)')
    await withClient(pool, async (client) => {
      await client.query('begin; lock table crm.locked')
      await t.rejects(watch(pool, 'crm.locked', { kind: 'job', id: 'id', tenant: 'tenant' }), { code: '55P03' })
    })
  })
})

t.test('kinds whose names begin alike have their own triggers and positions', async (t) => {
  const { pool, storage: { changes } } = await startPostgresHost(t)
  await pool.query('create table applications (id bigint primary key, company text, candidate_id bigint)')
  const kinds = { candidate: 'candidate_id', candidate_application: 'id' }
  for (const [kind, id] of Object.entries(kinds)) await watch(pool, 'applications', { kind, id, tenant: 'company' })
  const starts = await Promise.all(Object.keys(kinds).map((kind) => changes.begin('acme', kind)))
  const list = () => Promise.all(Object.keys(kinds).map(async (kind, index) =>
    (await changes.list('acme', kind, { after: String(starts[index]), limit: 10 }))?.ids))
  await pool.query("insert into applications values (1, 'acme', 7)")
  t.strictSame(await list(), [['7'], ['1']])
  await pool.query('drop trigger changes_candidate_application_insert_recruiting on applications')
  t.strictSame(await list(), [['7'], undefined])
  t.strictSame(await Promise.all(Object.keys(kinds).map((kind) => changes.isRecorded?.(kind))), [true, false])
  await watch(pool, 'applications', { kind: 'candidate_application', id: 'id', tenant: 'company' })
  t.strictSame(await list(), [['7'], undefined])
})

t.test('without watch there is no sync, not even in the OpenAPI document', async (t) => {
  const { serve, watchPeople } = await startSyncedPeople(t)
  const pathsOf = async (app: Awaited<ReturnType<typeof serve>>) =>
    Object.keys((await app.inject('/api/v1/public/openapi.json')).json().paths).filter((path) => path.endsWith('sync')).map((path) => path.split('/').at(-2))
  const unwatched = await serve()
  for (const resource of ['candidates', 'jobs'] as const) t.equal((await requestSync(unwatched, { resource })).statusCode, 404)
  t.strictSame(await pathsOf(unwatched), [])

  await watchPeople()
  const watched = await serve()
  t.equal((await requestSync(watched)).statusCode, 200)
  t.equal((await requestSync(watched, { resource: 'jobs' })).statusCode, 404, 'of the other kind')
  t.strictSame(await pathsOf(watched), ['candidates'])
})

t.test("with changes: 'manual' there is sync, because the host calls changed", async (t) => {
  const { pool, serve, assertExact } = await startSyncedPeople(t)
  const app = await serve({ changes: 'manual' })
  t.equal((await requestSync(app, { resource: 'jobs' })).statusCode, 200)
  await assertExact(t)
  await pool.query("delete from crm.people where id = 2; select recruiting.changed('acme', 'candidate', '2')")
  await assertExact(t)
})

t.test("a watched table that lost its triggers disables sync even with changes: 'manual'", async (t) => {
  const { pool, serve, follow, watchPeople } = await startSyncedPeople(t)
  await watchPeople()
  await serve({ changes: 'manual' })
  t.equal(await follow(), 200)
  await pool.query('alter table crm.people disable trigger all')
  t.equal(await follow(), 404)
})

t.test('rows updated in the transaction that renames their tenant: copies of both names are exact', async (t) => {
  const { pool, begin, follow, compare, assertExact } = await startSyncedPeople(t)
  await begin()
  await follow('globex')
  const recruiting = createRecruiting({ storage: postgresStorage(pool), delivery: false })
  t.teardown(() => recruiting.close())
  await withClient(pool, async (client) => {
    await client.query("begin; update crm.people set company = 'globex'")
    await recruiting.renameTenant('acme', 'globex', { transaction: client })
    await client.query('commit')
  })
  for (const tenantSlug of ['acme', 'globex']) await assertExact(t, undefined, tenantSlug)
  t.equal(Object.keys((await compare('globex')).copy).length, 3)
})

t.test('a load beside an open transaction ends with a token that misses no event; the next load is exact', async (t) => {
  const { pool, begin, serve } = await startSyncedPeople(t)
  await begin()
  const app = await serve()
  const emit = async (client: pg.PoolClient, id: number) => {
    const event = { tenantSlug: 'acme', type: 'candidate.updated' as const, data: { id } }
    return (await app.recruiting.emit(event, { transaction: client })).id
  }
  const load = async (token?: string) => {
    const { pages } = await followSync(app, { token, perPage: 1 })
    const last = pages.at(-1)?.meta
    const answer = await app.inject({ url: `/api/v1/public/acme/events?token=${last?.events_token}`, headers: bearer(keys.full) })
    return { ids: answer.json().data.map(({ id }: { id: string }) => id), names: pages.flatMap(({ data }) => data.map(({ candidate }) => Reflect.get(Object(candidate), 'full_name'))) }
  }
  const first = JSON.parse((await requestSync(app, { perPage: 1 })).body)
  await withClient(pool, async (open) => {
    await open.query("begin; update crm.people set name = 'Open' where id = 3")
    const id = await withClient(pool, async (client) => {
      // Its change is hidden behind that of the open transaction, which has not emitted. So its event is not hidden.
      await client.query("begin; update crm.people set name = 'Changed' where id = 1")
      const emitted = await emit(client, 1)
      await client.query('commit')
      return emitted
    })
    t.strictSame(await load(first.meta.next_token), { ids: [id], names: ['Grace', 'Alan'] })
    await open.query('commit')
  })
  t.strictSame(await load(), { ids: [], names: ['Changed', 'Grace', 'Open'] })
})

t.test('a row may belong to several candidates', async (t) => {
  const { pool, storage: { changes } } = await startPostgresHost(t)
  await pool.query(`
    create table owners (id int primary key, company text, name text, candidates int[], codes text);
    create table assigned (id bigint, owner_id int);
    insert into owners values (1, 'acme', 'Ada', '{5,6}', '7,8'), (2, 'acme', 'Grace', null, null);
    insert into assigned values (1, 1), (2, 1), (3, 2)`)
  const expressions: Array<[what: string, id: string, ofAda: string[], ofAll: string[]]> = [
    ['a query', '(select a.id from assigned a where a.owner_id = row.id)', ['1', '2'], ['1', '2', '3']],
    ['a query that begins with a comment', '-- theirs\n(select id from assigned where owner_id = row.id union select 9) -- and 9', ['1', '2', '9'], ['1', '2', '3', '9']],
    ['a query without parentheses', 'select a.id from assigned a where a.owner_id = row.id', ['1', '2'], ['1', '2', '3']],
    ['an array', 'row.candidates', ['5', '6'], ['5', '6']],
    ['an array of a query', 'array(select id from assigned where owner_id = row.id)', ['1', '2'], ['1', '2', '3']],
    ['a function that returns a set', "regexp_split_to_table(row.codes, ',')", ['7', '8'], ['7', '8']]
  ]
  for (const [what, id, ofAda, ofAll] of expressions) {
    t.test(`given by ${what}`, async (t) => {
      await watch(pool, 'owners', { kind: 'candidate', id, tenant: 'company' })
      const changed = async (statement: string) => {
        const start = await changes.begin('acme', 'candidate')
        await pool.query(statement)
        return [...new Set((await follow(changes, start)).ids)].toSorted()
      }
      t.strictSame(await changed("update owners set name = name || '.' where id = 1"), ofAda)
      t.strictSame(await changed("begin; truncate owners; insert into owners values (1, 'acme', 'Ada', '{5,6}', '7,8'), (2, 'acme', 'Grace', null, null); commit"), ofAll)
    })
  }

  t.test('a row that belongs to no item is written normally', async (t) => {
    await watch(pool, 'owners', { kind: 'candidate', id: '(select a.id from assigned a where a.owner_id = row.id)', tenant: 'company' })
    await t.resolves(pool.query("insert into owners values (3, 'acme', 'Alan')"))
  })
})

const writes = "insert into crm.people values (4, 'acme', 'Unrecorded'); delete from crm.people where id = 1; update crm.people set name = 'Changed' where id = 2"

/** Statements after which changes are unknown. Some of them drop triggers. */
const losses: Array<[what: string, sql: string]> = [
  ['a trigger was dropped', `drop trigger changes_candidate_insert_recruiting on crm.people; ${writes}`],
  ['the triggers were disabled', `alter table crm.people disable trigger all; ${writes}`],
  ['a trigger fires for replicas only', `alter table crm.people enable replica trigger changes_candidate_delete_recruiting; ${writes}`],
  ['a migration rebuilt the table', `
    begin; create table crm.people_new (like crm.people including all); insert into crm.people_new select * from crm.people where id <> 1;
    drop view crm.api_candidates; drop table crm.people; alter table crm.people_new rename to people;
    create view crm.api_candidates as select company as tenant_slug, id, name as full_name, null::text as headline, null::bigint as source_id,
      null::bigint as recruiter_id, now() as created_at, now() as updated_at from crm.people; commit`]
]

/** Statements that disable or replace the triggers, and leave correct ones. */
const gaps: Array<[what: string, sql: string]> = [
  ['rows were loaded with triggers disabled, as by pg_restore --data-only --disable-triggers', `
    begin; alter table crm.people disable trigger all; truncate crm.people; insert into crm.people values (7, 'acme', 'Loaded'); alter table crm.people enable trigger all; commit`],
  ['the schema of the host was restored, as by pg_restore --clean', `
    do $$
    declare v_triggers text[] := array(select pg_get_triggerdef(oid) from pg_trigger where tgrelid = 'crm.people'::regclass);
    begin
      create temp table people_dump as select * from crm.people where id <> 3;
      drop view crm.api_candidates;
      drop table crm.people;
      create table crm.people (id bigint not null, company text not null, name text not null);
      insert into crm.people select * from people_dump;
      create view crm.api_candidates as select company as tenant_slug, id, name as full_name, null::text as headline, null::bigint as source_id,
        null::bigint as recruiter_id, now() as created_at, now() as updated_at from crm.people;
      for n in 1 .. 4 loop execute v_triggers[n]; end loop;
    end $$`]
]

for (const [what, sql] of losses) {
  t.test(`while ${what}, running and new servers do not serve sync`, async (t) => {
    const { pool, begin, serve, follow, watchPeople, assertExact } = await startSyncedPeople(t)
    await begin()
    await pool.query(sql)
    t.equal(await follow(), 404)
    await watchPeople()
    await assertExact(t, 1)
    await pool.query("update crm.people set name = 'Changed again'")
    await assertExact(t, 1)
    await pool.query(sql)
    await serve()
    t.equal(await follow(), 404)
  })
}

for (const [what, sql] of gaps) {
  t.test(`after ${what}, tokens expire without a call`, async (t) => {
    const { pool, begin, assertExact } = await startSyncedPeople(t)
    await begin()
    for (const count of [1, 2]) {
      await pool.query(`${sql}; drop table if exists pg_temp.people_dump`)
      await assertExact(t, count)
    }
  })
}

t.test('startup warns about watched tables whose changes are not recorded', async (t) => {
  const { pool, watchPeople } = await startSyncedPeople(t, `
    create table crm.people (${peopleColumns}) partition by range (id); create table crm.people_1 partition of crm.people for values from (0) to (9)`)
  async function warningsOf (): Promise<string[]> {
    const lines: string[] = []
    const storage = postgresStorage(pool, { candidates: 'crm.api_candidates', jobs: 'crm.api_jobs' })
    await buildApp(t, { storage, server: { logger: { level: 'warn', stream: { write: (line: string) => { lines.push(JSON.parse(line).msg) } } } } })
    return lines.filter((line) => line.includes('watched'))
  }
  t.strictSame(await warningsOf(), [], 'nothing is watched')
  await watchPeople()
  t.strictSame(await warningsOf(), [])
  await pool.query('create table crm.people_2 partition of crm.people for values from (10) to (19); alter table crm.people_1 disable trigger all')
  t.strictSame(await warningsOf(), [
    'crm.people_1, watched for the kind candidate, has lost a trigger or has a disabled one: sync of this kind returns 404 until watch is called for crm.people again',
    'crm.people_2 became a partition of crm.people, which is watched for the kind candidate, and is not watched itself: call watch for crm.people again'
  ])
  await watchPeople()
  t.strictSame(await warningsOf(), [])
})

t.test('a watched table that was renamed or dropped is forgotten', async (t) => {
  const { pool, begin, watchPeople, follow, assertExact } = await startSyncedPeople(t)
  await begin()
  await pool.query('alter table crm.people rename to persons')
  t.equal(await follow(), 404, 'no watched name exists')
  await watchPeople('crm.persons')
  await assertExact(t)
  await pool.query('delete from crm.persons where id = 1')
  await assertExact(t)
  t.strictSame((await pool.query('select table_name from recruiting.watched_tables')).rows, [{ table_name: 'persons' }])
})
