-- Leases ready deliveries to a worker: promotes what is due, chooses webhooks, leases up to p_limit of their
-- deliveries, and marks the webhooks whose deleted rows made this slow.
--
-- If this process must not send, it returns one row with only held. Otherwise a database without an environment takes
-- p_environment. It writes nothing if nothing is due.
create function claim_v1 (p_limit integer, p_per_endpoint integer, p_lease_ms double precision, p_environment text)
returns table (
  delivery_id bigint, fence bigint, tenant text, tenant_slug text, webhook_id bigint, target_url text, secret text,
  previous_secret text, headers text, event_id text, event_type text, body text, trace_parent text, attempt_count integer,
  is_failing boolean, held text
)
language plpgsql
set search_path from current
-- Each search reads an index and stops, whatever the role sets and the planner believes about the size of the queue.
set enable_indexscan to on
set enable_indexonlyscan to on
set enable_tidscan to on
set enable_nestloop to on
set enable_seqscan to off
set jit to off
as $$
declare
  v_started timestamptz;
  v_visited record;
begin
  -- If a server crash loses the claim, another one follows.
  perform set_config('synchronous_commit', 'off', true);
  perform promote_due_v1();

  -- Claims run one at a time, so that each counts the leases of all others. The holder of this lock waits for no other.
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.claim', 0));
  v_started := clock_timestamp();

  held := (select hold.reason from find_hold_v1(p_environment) as hold);
  if held is not null then
    update home set held_since = v_started where held_since is null;
    return next;
    return;
  end if;
  update home set environment = p_environment where environment is null and p_environment is not null;

  delete from marks m where m.marked_at <= v_started - interval '10 minutes';
  -- Finds deliveries that were committed late with a lower id.
  update marks m set first_fresh = m.safe_fresh, expires_at = 'infinity' where m.expires_at <= v_started;

  v_visited := choose_webhooks_v1(greatest(p_limit, 64), p_per_endpoint);
  if v_visited.chosen <> '{}' then
    return query
      select leased.*, null from lease_v1(v_visited.chosen, v_visited.capacities, v_visited.tenants, p_limit, p_lease_ms) as leased;
  end if;
  if not v_visited.has_moved and clock_timestamp() - v_started > interval '20 milliseconds' then
    perform mark_v1(v_visited.start_after, v_visited.stopped_at);
  end if;
end
$$;
