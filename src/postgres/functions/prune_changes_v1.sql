-- Deletes up to p_limit rows that are older than the retention, the oldest first. Returns their number. Rows that a
-- transaction has locked are skipped.
create function prune_changes_v1 (p_retention_days double precision, p_limit integer) returns integer
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
