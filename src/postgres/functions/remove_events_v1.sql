-- Deletes up to p_limit events of removed tenants with their deliveries. Returns how many events are left, counted up
-- to p_limit. A batch begins where the one before stopped, because the index keeps the entries of deleted events
-- until vacuum runs.
create function remove_events_v1 (p_limit integer) returns integer
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_removed record;
  v_wanted integer;
  v_found integer;
  v_events bigint[];
  v_dates timestamptz[];
  v_deleted integer := 0;
  v_left integer := 0;
begin
  for v_removed in
    select t.key, coalesce(t.removed_to, '-infinity') as removed_to from tenants t where t.tenant is null order by t.key
  loop
    v_wanted := 2 * p_limit - v_deleted - v_left;
    select count(*), array_agg(found.seq order by found.recorded_at), array_agg(found.recorded_at order by found.recorded_at)
    into v_found, v_events, v_dates
    from (
      select e.seq, e.recorded_at from events e
      where e.tenant_key = v_removed.key and e.recorded_at >= v_removed.removed_to
      order by e.recorded_at
      limit v_wanted
    ) as found;
    v_events := v_events[:p_limit - v_deleted];

    -- Waits for replays of these events, so that the next statements see what they queued.
    perform from events e where e.seq = any (v_events) order by e.seq for update;
    delete from queue q where q.event_seq = any (v_events);
    delete from deliveries d where d.event_seq = any (v_events);
    delete from event_subjects s where s.event_seq = any (v_events);
    delete from events e where e.seq = any (v_events);
    v_deleted := v_deleted + coalesce(cardinality(v_events), 0);
    v_left := v_left + v_found - coalesce(cardinality(v_events), 0);

    -- At the end it begins again: an emit may have committed late.
    update tenants t set removed_to = case when v_found = v_wanted or v_left > 0 then v_dates[cardinality(v_events)] end
    where t.key = v_removed.key and (cardinality(v_events) > 0 or v_found = 0 and t.removed_to is not null);
    exit when v_left >= p_limit;
  end loop;
  return least(v_left, p_limit);
end
$$;
