-- Returns what positions among the changes of a tenant are compared with, as of the caller's snapshot:
-- epoch: tells databases apart, and restores of one database;
-- first_known: changes of earlier transactions may have been pruned;
-- horizon: all earlier transactions have ended;
-- read_to: all changes before it can be read. It is at most the horizon, and no transaction that begins after a crash of the
-- server gets an earlier id: a checkpoint or a committed change has written one as high to the disk.
create function change_bounds_v1 (p_tenant text, p_kind text, out epoch text, out first_known xid8, out horizon xid8, out read_to xid8)
language sql
stable
set search_path from current
as $$
  select
    left(encode(sha256(convert_to(
      concat_ws(' ', control.system_identifier, checkpoint.timeline_id, d.oid, 'changes'::regclass::oid, state.id), 'UTF8'
    )), 'hex'), 16),
    known.first_known,
    known.horizon,
    least(known.horizon, greatest(
      known.first_known,
      ((split_part(checkpoint.next_xid, ':', 1)::bigint << 32) + split_part(checkpoint.next_xid, ':', 2)::bigint)::text::xid8,
      (
        select (max(c.xid)::text::bigint + 1)::text::xid8
        from (select * from changes union all select * from recent_changes) as c
        where c.tenant_slug = p_tenant and c.kind = p_kind and c.xid < known.horizon
      )
    ))
  from change_state state
  cross join pg_control_system() as control
  cross join pg_control_checkpoint() as checkpoint
  cross join pg_snapshot_xmin(pg_current_snapshot()) as horizon
  -- After a restore on another server, pruned_before may be an id that this one has not reached.
  cross join lateral (
    select horizon, case when state.pruned_before <= horizon then state.pruned_before else '0' end as first_known
  ) as known
  join pg_database d on d.datname = current_database()
$$;

-- Records a change in the caller's transaction. Does nothing and returns an empty text if that had no id, and gives it one: a
-- second call finds none either only outside a transaction.
create function record_change_v1 (p_tenant text, p_kind text, p_id text, p_deleted text) returns text
language plpgsql
set search_path from current
as $$
begin
  if pg_current_xact_id_if_assigned() is null then
    return left(pg_current_xact_id()::text, 0);
  end if;
  insert into recent_changes (tenant_slug, kind, id, xid, deleted, changed_at)
  values (p_tenant, p_kind, p_id, pg_current_xact_id(), p_deleted::boolean, clock_timestamp());
  return 'recorded';
end
$$;

-- For SQL of the host: records that a candidate or job was created, changed or deleted, in the caller's transaction.
create function changed (tenant_slug text, kind text, id text, deleted boolean default false) returns void
language plpgsql
set search_path from current
as $$
#variable_conflict use_variable
begin
  if tenant_slug is null or char_length(tenant_slug) not between 1 and 100 or tenant_slug ~ '[[:cntrl:]]' then
    raise exception 'changed: tenant_slug: expected 1 to 100 characters without control characters, got %', quote_nullable(left(tenant_slug, 120))
      using errcode = 'invalid_parameter_value';
  elsif kind is null or kind not in ('candidate', 'job') then
    raise exception 'changed: kind: expected candidate or job, got %', quote_nullable(left(kind, 120))
      using errcode = 'invalid_parameter_value';
  elsif id is null or id !~ '^[!-.0-~]{1,64}$' then
    raise exception 'changed: id: expected 1 to 64 visible ASCII characters without /, got %', quote_nullable(left(id, 120))
      using errcode = 'invalid_parameter_value';
  elsif deleted is null then
    raise exception 'changed: deleted: expected true or false, got NULL' using errcode = 'invalid_parameter_value';
  end if;
  insert into recent_changes (tenant_slug, kind, id, xid, deleted, changed_at)
  values (tenant_slug, kind, id, pg_current_xact_id(), deleted, clock_timestamp());
end
$$;

-- Moves up to p_limit recent changes to the table that keeps the last one of each candidate or job. Returns their number. Changes that
-- readers do not see yet stay, and rows that a transaction has locked are skipped.
create function compact_changes_v1 (p_limit integer) returns integer
language sql
set search_path from current
as $$
  with moved as (
    delete from recent_changes r
    where r.ctid = any (array(
      select o.ctid from recent_changes o where o.xid < pg_snapshot_xmin(pg_current_snapshot()) limit p_limit for update skip locked
    ))
    returning r.*
  ), kept as (
    insert into changes as c (tenant_slug, kind, id, xid, deleted, changed_at)
    select distinct on (m.tenant_slug, m.kind, m.id) m.tenant_slug, m.kind, m.id, m.xid, m.deleted, m.changed_at
    from moved m
    order by m.tenant_slug, m.kind, m.id, m.xid desc, m.changed_at desc
    on conflict (tenant_slug, kind, id) do update
    set xid = excluded.xid, deleted = excluded.deleted, changed_at = excluded.changed_at
    where c.xid <= excluded.xid
      -- A later id comes from another server, before a restore.
      or c.xid >= pg_snapshot_xmin(pg_current_snapshot())
  )
  select count(*)::integer from moved
$$;

-- Deletes up to p_limit rows that are older than the retention, the oldest first. Returns their number. Rows that a transaction has
-- locked are skipped.
create function prune_changes_v1 (p_retention_days double precision, p_limit integer) returns integer
language sql
set search_path from current
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
    returning c.xid
  ), raised as (
    update change_state state
    set pruned_before = greatest(
      -- A later id comes from another server, before a restore.
      case when state.pruned_before <= pg_current_xact_id() then state.pruned_before end, (last.xid::text::bigint + 1)::text::xid8
    )
    from (select max(d.xid) as xid from deleted d where d.xid < pg_current_xact_id() having count(*) > 0) as last
  )
  select count(*)::integer from deleted
$$;

insert into migrations (name) values ('009-changes.sql');
