-- Deletes up to p_limit events of removed tenants with their deliveries. Returns how many events are left, counted up to
-- p_limit.
create function remove_events_v1 (p_limit integer) returns integer
language plpgsql
set search_path from current
as $$
declare
  v_events bigint[];
begin
  v_events := array(
    select removed.seq
    from tenants t
    cross join lateral (
      select e.seq from events e where e.tenant_key = t.key order by e.recorded_at limit 2 * p_limit
    ) as removed
    where t.tenant is null
    limit 2 * p_limit
  );
  -- Waits for replays of these events, so that the next statements see what they queued.
  perform from events e where e.seq = any (v_events[:p_limit]) order by e.seq for update;
  delete from queue q where q.event_seq = any (v_events[:p_limit]);
  delete from deliveries d where d.event_seq = any (v_events[:p_limit]);
  delete from event_subjects s where s.event_seq = any (v_events[:p_limit]);
  delete from events e where e.seq = any (v_events[:p_limit]);
  return greatest(cardinality(v_events) - p_limit, 0);
end
$$;
