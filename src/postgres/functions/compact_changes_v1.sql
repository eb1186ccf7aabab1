-- Moves up to p_limit recent changes to the table that keeps the last one of each candidate or job. Returns their
-- number. Changes that readers do not see yet stay, and rows that a transaction has locked are skipped. Stores how
-- far readers see, so that positions advance even for tenants without changes.
create function compact_changes_v1 (p_limit integer) returns integer
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
