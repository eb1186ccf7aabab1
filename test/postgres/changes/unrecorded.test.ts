import t from 'tap'
import { startSyncedPeople } from '../../fixtures/sync/synced-people.js'

const writes = "insert into crm.people values (4, 'acme', 'Unrecorded'); delete from crm.people where id = 1; update crm.people set name = 'Changed' where id = 2"

/** Statements after which nobody knows what changed. Some of them lose the triggers. */
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

/** Statements that leave the triggers as they should be, but others than before. */
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

for (const [what, sql] of [...losses, ...gaps]) {
  t.test(`after ${what}, and watch at the next start, copies are exact`, async (t) => {
    const { pool, serve, follow, watchPeople, copyOf, itemsOf } = await startSyncedPeople(t)
    await watchPeople()
    await serve()
    t.equal(await follow(), 200)
    await pool.query(sql)
    await watchPeople()
    await serve()
    t.equal(await follow(), 200)
    t.strictSame(copyOf(), await itemsOf())
    await pool.query(writes)
    t.equal(await follow(), 200)
    t.strictSame(copyOf(), await itemsOf(), 'later changes are recorded again')
  })
}

for (const [what, sql] of losses) {
  t.test(`while ${what}, a running server and a new one serve no sync`, async (t) => {
    const { pool, serve, follow, watchPeople, copyOf, itemsOf, restarts } = await startSyncedPeople(t)
    await watchPeople()
    await serve()
    await follow()
    await pool.query(sql)
    t.equal(await follow(), 404)
    t.equal(restarts(), 1, 'the token expired')
    await watchPeople()
    t.equal(await follow(), 200, 'the running server serves again')
    t.strictSame(copyOf(), await itemsOf())
    await pool.query(sql)
    await serve()
    t.equal(await follow(), 404)
  })
}

for (const [what, sql] of gaps) {
  t.test(`after ${what}, tokens expire without any call`, async (t) => {
    const { pool, serve, follow, watchPeople, copyOf, itemsOf, restarts } = await startSyncedPeople(t)
    await watchPeople()
    await serve()
    await follow()
    for (const count of [1, 2]) {
      await pool.query(`${sql}; drop table if exists pg_temp.people_dump`)
      await follow()
      t.strictSame([copyOf(), restarts()], [await itemsOf(), count])
    }
  })
}
