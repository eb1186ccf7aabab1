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
    insert into changes as c (tenant, kind, id, xid, deleted, changed_at)
    select distinct on (m.tenant, m.kind, m.id) m.tenant, m.kind, m.id, m.xid, m.deleted, m.changed_at
    from moved m
    order by m.tenant, m.kind, m.id, m.xid desc, m.changed_at desc
    on conflict (tenant, kind, id) do update
    set xid = excluded.xid, deleted = excluded.deleted, changed_at = excluded.changed_at
    where c.xid <= excluded.xid
      -- A later id comes from another server, before a restore.
      or c.xid >= pg_snapshot_xmin(pg_current_snapshot())
  )
  select count(*)::integer from moved
$$;
