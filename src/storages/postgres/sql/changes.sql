-- For the host's SQL: records that an item was created, changed or deleted, in the caller's transaction. kind is
-- candidate, job or the kind of an own list.
-- tenant_slug is the tenant's id, which is the slug only if the servers have no option tenantId.
create or replace function changed (tenant_slug text, kind text, id text, deleted boolean default false) returns void
language plpgsql
set search_path from current
set jit to off
as $$
#variable_conflict use_variable
begin
  if tenant_slug is null or char_length(tenant_slug) not between 1 and 200 or tenant_slug ~ '[[:cntrl:]]' then
    raise exception 'changed: tenant_slug: expected 1 to 200 characters without control characters, got %',
        quote_nullable(left(tenant_slug, 120))
      using errcode = 'invalid_parameter_value';
  elsif kind is null or kind !~ '^[a-z][a-z0-9_]{0,31}$' or kind in ('candidates', 'jobs') then
    raise exception
        'changed: kind: expected candidate, job or the kind of an own list: 1 to 32 of a-z, 0-9 and _, got %',
        quote_nullable(left(kind, 120))
      using errcode = 'invalid_parameter_value';
  elsif id is null or id !~ '^[!-.0-~]{1,64}$' then
    raise exception 'changed: id: expected 1 to 64 visible ASCII characters without /, got %',
        quote_nullable(left(id, 120))
      using errcode = 'invalid_parameter_value';
  elsif deleted is null then
    raise exception 'changed: deleted: expected true or false, got NULL' using errcode = 'invalid_parameter_value';
  end if;
  perform start_recording_v1('recent_changes_seq_seq');
  insert into recent_changes (tenant, kind, id, deleted, changed_at)
  values (tenant_slug, kind, id, deleted, clock_timestamp());
end
$$;

-- Draws the next number of a sequence that readers follow in order. Returns it with a time, in microseconds since 1970:
-- a later number has a later time, unless the clock was set back. The first call of a transaction takes a lock that
-- shows readers the number from which on the transaction may still commit rows: PostgreSQL releases the lock after the
-- rows have become visible.
create or replace function start_recording_v1 (p_sequence regclass) returns bigint[]
language plpgsql
-- The caller needs no privileges on the sequence.
security definer
-- Otherwise the caller's temporary views and types would run with the owner's rights.
set search_path to pg_catalog, pg_temp
set jit to off
as $$
declare
  v_setting text := 'fastify_recruiting_api.records_' || p_sequence::oid;
  v_last bigint := coalesce(pg_sequence_last_value(p_sequence), 0);
  v_number bigint;
  v_time timestamptz;
begin
  -- Without privileges, PostgreSQL 18 returns no last value.
  if v_last = 0 and not has_sequence_privilege(p_sequence, 'usage, select') then
    raise exception 'permission denied for sequence %: grant select on it to %', p_sequence, current_user
      using errcode = 'insufficient_privilege';
  -- The caller cannot draw numbers from other sequences of the owner.
  elsif p_sequence::text !~ '\.(events|recent_changes)_seq_seq$' then
    raise exception 'start_recording_v1: expected the sequence of events or changes, got %', p_sequence
      using errcode = 'invalid_parameter_value';
  end if;
  -- A rollback to a savepoint reverts the lock and the setting together.
  if current_setting(v_setting, true) is distinct from pg_current_xact_id()::text then
    v_setting := pg_advisory_xact_lock_shared(p_sequence::oid::integer, (v_last & 2147483647)::integer)::text
      || set_config(v_setting, pg_current_xact_id()::text, true);
  end if;
  loop
    v_number := nextval(p_sequence);
    v_time := clock_timestamp();
    while clock_timestamp() = v_time loop
    end loop;
    -- If this is still the last number, then later numbers get later times. If the sequence has or had a cache, this
    -- session may have reserved numbers that readers have passed: draws until there is a new one.
    exit when v_number = pg_sequence_last_value(p_sequence) and v_number > v_last;
  end loop;
  return array[v_number, (1000000 * extract(epoch from v_time))::bigint];
end
$$;

-- Returns the number of a sequence up to which all rows that will ever be committed are visible to later statements,
-- and the last number taken. Read the rows in a separate statement: the caller's snapshot is too old. Both are null on
-- a standby, which does not show the primary's open transactions.
--
-- A transaction with a number up to last took its lock (start_recording_v1) before last was read here. Either it still
-- has the lock, or its rows are visible.
create or replace function recorded_to_v1 (p_sequence regclass, out bound bigint, out last bigint)
language plpgsql
security definer
set search_path to pg_catalog, pg_temp
set jit to off
as $$
declare
  v_setting text := 'fastify_recruiting_api.read_' || p_sequence::oid;
  v_starts bigint[];
  v_next bigint;
begin
  if pg_is_in_recovery() then
    return;
  end if;
  if p_sequence is null then
    raise exception 'recorded_to_v1: a sequence of events or changes is missing' using errcode = 'undefined_table';
  end if;
  last := pg_sequence_last_value(p_sequence);
  -- Also null without privileges, from PostgreSQL 18 on.
  if last is null and not has_sequence_privilege(p_sequence, 'usage, select') then
    raise exception 'permission denied for sequence %: grant select on it to %', p_sequence, current_user
      using errcode = 'insufficient_privilege';
  end if;
  last := coalesce(last, 0);
  -- This session has seen that every transaction up to this number has ended. Reading all locks of the server can take
  -- milliseconds. The setting ends with the session, so it does not survive a crash, after which numbers may repeat.
  if current_setting(v_setting, true) = last::text then
    bound := last;
    return;
  end if;
  v_starts := array(
    select l.objid::bigint
    from pg_locks l
    where l.locktype = 'advisory' and l.classid = p_sequence::oid and l.objsubid = 2
      and l.database = (select d.oid from pg_database d where d.datname = current_database())
  );
  -- A lock contains the lower 31 bits of a number that is no higher than this one.
  v_next := coalesce(pg_sequence_last_value(p_sequence), 0);
  bound := least(last, (select min(v_next - ((v_next - start) & 2147483647)) from unnest(v_starts) as start));
  if bound = last then
    perform set_config(v_setting, last::text, false);
  end if;
end
$$;

-- Returns the values that positions in a tenant's changes are compared with, as of the caller's snapshot. p_bound is
-- the bound of recorded_to_v1. epoch: differs between databases, restores of a database, successive tenants with one
-- id, and states of the triggers; is_recorded: whether each watched table has its triggers and they recorded every
-- change; pruned: the last pruned change of all tenants; read_to: a position after which no change is missed. It was
-- committed, so it is on disk: after a crash, the sequence continues after it.
create or replace function change_bounds_v1 (
  p_tenant text, p_kind text, p_bound bigint,
  out epoch text, out is_recorded boolean, out pruned bigint, out read_to bigint
)
language plpgsql
stable
set search_path from current
set jit to off
as $$
#variable_conflict use_column
begin
  select
    left(encode(sha256(convert_to(
      concat_ws(' ', server_identity_v1(), d.oid, 'changes'::regclass::oid, state.id, ended.xid, watched.mark), 'UTF8'
    )), 'hex'), 16),
    watched.is_recorded,
    state.pruned_change_seq,
    greatest(
      state.pruned_change_seq,
      least(state.reached_change_seq, p_bound),
      ended.last_seq,
      (
        select c.seq from recent_changes c
        where c.seq > state.reached_change_seq and c.seq <= p_bound order by c.seq desc limit 1
      )
    )
  into epoch, is_recorded, pruned, read_to
  from change_state state
  cross join lateral (
    select coalesce(bool_and(w.lost = '{}' and w.missed_since is null), true) as is_recorded,
      string_agg(
        concat_ws(' ', w.id, case when w.found <> w.parts then w.found::text end), ' ' order by w.relation
      ) as mark
    from watched_tables_v1(p_kind) w
  ) as watched
  left join ended_changes ended on ended.tenant_digest = sha256(convert_to(p_tenant, 'UTF8'))
  join pg_database d on d.datname = current_database();
end
$$;

-- Moves up to p_limit recent changes to the table changes, which keeps the last one of each item. Returns their number.
-- Skips changes that readers cannot see yet, and locked rows. Stores how far readers can see, so that positions advance
-- even for tenants without changes.
create or replace function compact_changes_v1 (p_limit integer) returns integer
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_bound bigint := (select recorded.bound from recorded_to_v1('recent_changes_seq_seq') as recorded);
  v_moved integer;
begin
  with moved as (
    delete from recent_changes r
    where r.seq = any (array(
      select o.seq from recent_changes o where o.seq <= v_bound limit p_limit for update skip locked
    ))
    returning r.*
  ), kept as (
    insert into changes as c (tenant, kind, id, seq, deleted, changed_at)
    select distinct on (m.tenant, m.kind, m.id) m.tenant, m.kind, m.id, m.seq, m.deleted, m.changed_at
    from moved m
    order by m.tenant, m.kind, m.id, m.seq desc
    on conflict (tenant, kind, id) do update
    set seq = excluded.seq, deleted = excluded.deleted, changed_at = excluded.changed_at
    where c.seq < excluded.seq
  ), reached as (
    update change_state s set reached_change_seq = greatest(s.reached_change_seq, v_bound)
  )
  select count(*) into v_moved from moved;
  return v_moved;
end
$$;

-- Deletes up to p_limit rows older than the retention period, oldest first. Returns their number. Skips locked rows.
create or replace function prune_changes_v1 (p_retention_days double precision, p_limit integer) returns integer
language sql
set search_path from current
set jit to off
as $$
  with deleted as (
    delete from changes c
    where c.ctid = any (array(
      select o.ctid from changes o
      where o.changed_at < statement_timestamp() - p_retention_days * interval '1 day'
      order by o.changed_at
      limit p_limit
      for update skip locked
    ))
    returning c.seq
  ), raised as (
    update change_state state set pruned_change_seq = last.seq
    from (select max(d.seq) as seq from deleted d) as last
    where state.pruned_change_seq < last.seq
  )
  select count(*)::integer from deleted
$$;

-- Invalidates a tenant's tokens and its changes so far. Changes up to the bound of recorded_to_v1 are only marked: new
-- positions are not before it, and delete_ended_changes_v1 deletes them in batches. Deletes visible changes after the
-- bound here.
create or replace function end_changes_v1 (p_tenant text) returns void
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_bound bigint := (select recorded.bound from recorded_to_v1('recent_changes_seq_seq') as recorded);
  v_kind text := '';
begin
  insert into ended_changes (tenant_digest, xid, tenant, last_seq)
  values (sha256(convert_to(p_tenant, 'UTF8')), pg_current_xact_id(), p_tenant, v_bound)
  on conflict (tenant_digest) do update
  set xid = excluded.xid, tenant = excluded.tenant, last_seq = excluded.last_seq, deleted_kind = '', deleted_to = 0;
  loop
    v_kind := next_kind_v1(p_tenant, v_kind);
    exit when v_kind is null;
    delete from recent_changes r where r.tenant = p_tenant and r.kind = v_kind and r.seq > v_bound;
  end loop;
end
$$;

-- Returns the first kind after p_kind of which a tenant has changes; null if there is none.
create or replace function next_kind_v1 (p_tenant text, p_kind text) returns text
language sql
stable
set search_path from current
set jit to off
as $$
  -- As in has_events_v1, the tenant is part of the order.
  select min(first.kind)
  from (
    (
      select r.kind from recent_changes r
      where r.tenant = any (array(select p_tenant)) and r.kind > p_kind order by r.tenant, r.kind limit 1
    )
    union all
    (
      select c.kind from changes c
      where c.tenant = any (array(select p_tenant)) and c.kind > p_kind order by c.tenant, c.kind limit 1
    )
  ) as first
$$;

-- Deletes up to p_limit changes of a renamed or removed tenant, kind by kind. Returns whether there may be more. A batch
-- starts where the previous one stopped, because the index keeps the entries of deleted rows until vacuum runs.
create or replace function delete_ended_changes_v1 (p_limit integer) returns boolean
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_ended ended_changes;
  v_found integer;
  v_to bigint;
  v_next text;
begin
  select * into v_ended from ended_changes e
  where e.tenant is not null order by e.tenant_digest limit 1 for update skip locked;
  if not found then
    return false;
  end if;

  select count(*), max(first.seq) into v_found, v_to
  from (
    select c.seq
    from (
      (
        select r.seq from recent_changes r
        where r.tenant = any (array(select v_ended.tenant)) and r.kind = v_ended.deleted_kind
          and r.seq > v_ended.deleted_to and r.seq <= v_ended.last_seq
        order by r.tenant, r.seq limit p_limit
      )
      union all
      (
        select c.seq from changes c
        where c.tenant = any (array(select v_ended.tenant)) and c.kind = v_ended.deleted_kind
          and c.seq > v_ended.deleted_to and c.seq <= v_ended.last_seq
        order by c.tenant, c.seq limit p_limit
      )
    ) as c
    order by c.seq
    limit p_limit
  ) as first;

  -- Rows that are moved to changes at the same time may stay until the retention period ends.
  delete from recent_changes r
  where r.tenant = v_ended.tenant and r.kind = v_ended.deleted_kind and r.seq > v_ended.deleted_to and r.seq <= v_to;
  delete from changes c
  where c.tenant = v_ended.tenant and c.kind = v_ended.deleted_kind and c.seq > v_ended.deleted_to and c.seq <= v_to;

  if v_found = p_limit then
    update ended_changes e set deleted_to = v_to where e.tenant_digest = v_ended.tenant_digest;
  else
    v_next := next_kind_v1(v_ended.tenant, v_ended.deleted_kind);
    update ended_changes e
    set deleted_kind = coalesce(v_next, ''), deleted_to = 0, tenant = case when v_next is not null then e.tenant end
    where e.tenant_digest = v_ended.tenant_digest;
  end if;
  return true;
end
$$;

-- For the host's SQL: expires all tokens of sync and of the event feed, so that clients start again. Call it after
-- writes that bypassed the triggers, and after restores that PostgreSQL cannot detect.
create or replace function end_sync_tokens () returns void
language sql
set search_path from current
set jit to off
as $$
  update change_state set id = gen_random_uuid()
$$;

-- Returns a kind's watched tables and their triggers. parts: the table, its partitions and their triggers, as watch
-- left them; found: as they are now, and a trigger that was disabled and enabled again is a new one; lost: tables with
-- a missing or disabled trigger; added: partitions created after the last watch; missed_since, problem: when a trigger
-- first failed to record a change, and its error, or null if none failed. A trigger whose owner lacks rights cannot
-- record even that it failed, so its problem begins now, until note_missed_changes_v1 stores it.
create or replace function watched_tables_v1 (p_kind text)
returns table (
  relation text, id_expression text, tenant_expression text, id uuid, is_there boolean, parts text[], found text[],
  lost text[], added text[], missed_since timestamptz, problem text
)
language plpgsql
stable
set search_path from current
-- The names in parts must not depend on the role.
set quote_all_identifiers to off
set jit to off
as $$
#variable_conflict use_column
declare
  -- A range, so that an index on names finds them: _ comes before `. It contains those of kinds that begin with p_kind.
  v_functions oid[] := array(
    select f.oid from pg_proc f
    where f.proname > ('watch_' || p_kind || '_')::name and f.proname < ('watch_' || p_kind || '`')::name
      and f.proname ~ ('^watch_' || p_kind || '_[0-9a-f]{16}$')
      and f.pronamespace = (select o.relnamespace from pg_class o where o.oid = 'watched_tables'::regclass)
  );
  v_unable oid[];
  v_problems text[];
begin
  select array_agg(u.function), array_agg(u.problem) into v_unable, v_problems
  from unnest(v_functions) as f (oid)
  cross join lateral (select f.oid as function, find_lacking_v1(f.oid) as problem) as u
  where u.problem is not null;
  return query
  with recursive tree as (
    select w.schema_name, w.table_name, c.oid
    from watched_tables w
    join pg_namespace n on n.nspname = w.schema_name
    join pg_class c on c.relnamespace = n.oid and c.relname = w.table_name
    where w.kind = p_kind
    union
    select t.schema_name, t.table_name, i.inhrelid from tree t join pg_inherits i on i.inhparent = t.oid
  ), part as materialized (
    select t.schema_name, t.table_name, named.name, case when v_unable is not null then (
      select min(u.problem) from unnest(v_unable, v_problems) as u (function, problem)
      where u.function in (select g.tgfoid from pg_trigger g where g.tgrelid = t.oid)
    ) end as problem, array(
      select format('%s %s %s', named.name, g.oid, g.xmin)
      from pg_trigger g
      where g.tgrelid = t.oid and g.tgenabled in ('O', 'A') and g.tgfoid = any (v_functions)
    ) as triggers
    from tree t
    join pg_class c on c.oid = t.oid
    join pg_namespace n on n.oid = c.relnamespace
    cross join lateral format('%I.%I', n.nspname, c.relname) as named (name)
  ), compared as (
    -- Groups by name instead of a join, which the planner may turn into a search of all parts for each part.
    select entry.schema_name, entry.table_name, entry.name,
      bool_or(entry.is_known) as is_known, max(entry.triggers) as triggers
    from (
      select p.schema_name, p.table_name, p.name, false as is_known, cardinality(p.triggers) as triggers from part p
      union all
      select w.schema_name, w.table_name, known.name, true, null
      from watched_tables w cross join lateral unnest(w.parts) as known (name)
      where w.kind = p_kind
    ) as entry
    group by entry.schema_name, entry.table_name, entry.name
  ), differing as (
    select c.schema_name, c.table_name,
      array_agg(c.name order by c.name) filter (where c.is_known and c.triggers < 4) as lost,
      array_agg(c.name order by c.name) filter (where not c.is_known) as added
    from compared c
    group by c.schema_name, c.table_name
  ), present as (
    select p.schema_name, p.table_name, max(p.problem) as problem,
      array_agg(entry.text order by entry.text collate "C") as found
    from part p cross join lateral unnest(p.name || p.triggers) as entry (text)
    group by p.schema_name, p.table_name
  )
  select format('%I.%I', w.schema_name, w.table_name), w.id_expression, w.tenant_expression, w.id,
    now.found is not null, w.parts,
    coalesce(now.found, '{}'), coalesce(d.lost, '{}'), coalesce(d.added, '{}'),
    coalesce(missed.missed_at, case when now.problem is not null then clock_timestamp() end),
    coalesce(missed.problem, now.problem)
  from watched_tables w
  left join lateral (
    select m.missed_at, m.problem from missed_changes m
    where (m.kind, m.schema_name, m.table_name) = (w.kind, w.schema_name, w.table_name) and m.event_type is null
    order by m.id
    limit 1
  ) as missed on true
  left join present now on (now.schema_name, now.table_name) = (w.schema_name, w.table_name)
  left join differing d on (d.schema_name, d.table_name) = (w.schema_name, w.table_name)
  where w.kind = p_kind
  order by w.schema_name, w.table_name;
end
$$;

-- Returns the rights that the owner of a trigger function of watch lacks to record changes, and that it failed to; null if
-- it lacks none.
create or replace function find_lacking_v1 (p_function oid) returns text
language sql
stable
set search_path from current
set jit to off
as $$
  select format('the owner of its function, %s, lacks %s', f.proowner::regrole, string_agg(lacking.name, ', '))
  from pg_proc f
  cross join lateral (
    select 'usage on the schema' where not has_schema_privilege(f.proowner, f.pronamespace, 'usage')
    union all
    select 'security definer' where not f.prosecdef
    union all
    select 'execute on start_recording_v1'
    where not has_function_privilege(f.proowner, 'start_recording_v1(regclass)', 'execute')
    union all
    select format('%s on %s', needed.privilege, needed.name)
    from (values
      ('insert', 'recent_changes'), ('insert', 'missed_changes'), ('select', 'missed_changes')
    ) as needed (privilege, name)
    where not has_table_privilege(f.proowner, needed.name, needed.privilege)
    union all
    select format('a way past row-level security on %s', c.relname)
    from pg_class c
    join pg_roles r on r.oid = f.proowner and not r.rolsuper and not r.rolbypassrls
    where c.oid in ('recent_changes'::regclass, 'missed_changes'::regclass) and c.relrowsecurity
      and (c.relforcerowsecurity or not pg_has_role(r.oid, c.relowner, 'usage'))
  ) as lacking (name)
  where f.oid = p_function
  group by f.proowner
$$;

-- Stores which tables of a kind have triggers whose owner lacks rights, so that sync returns 410 until watch repairs
-- them, even if the rights return.
create or replace function note_missed_changes_v1 (p_kind text) returns void
language sql
set search_path from current
set jit to off
as $$
  insert into missed_changes (kind, schema_name, table_name, problem)
  select w.kind, w.schema_name, w.table_name, now.problem
  from watched_tables_v1(p_kind) now
  join watched_tables w on w.id = now.id
  where now.problem is not null and not exists (
    select from missed_changes m where (m.kind, m.schema_name, m.table_name) = (w.kind, w.schema_name, w.table_name)
      and m.event_type is null
  )
$$;
