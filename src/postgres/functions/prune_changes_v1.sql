-- Deletes up to p_limit rows that are older than the retention, the oldest first. Returns their number. Rows that a transaction has
-- locked are skipped. Stores its own transaction id in reached, so that positions advance even for tenants without changes.
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
    set reached = pg_current_xact_id(), pruned_before = greatest(
      -- A later id comes from another server, before a restore.
      case when last.xid is null or state.pruned_before <= pg_current_xact_id() then state.pruned_before end,
      (last.xid::text::bigint + 1)::text::xid8
    )
    from (select max(d.xid) as xid from deleted d where d.xid < pg_current_xact_id()) as last
  )
  select count(*)::integer from deleted
$$;
