-- Leases ready deliveries to a worker. Tenants take turns: a claim takes one delivery of each, then a second one of each,
-- until p_limit is reached. The deliveries of a tenant come from its webhooks in turn. It skips locked deliveries.
--
-- A claim visits webhooks by ascending id, from where the previous claim stopped, until 64 (or p_limit, if greater) can send.
-- It stops earlier after 256 webhooks, or after 50 ms and 16 webhooks. If it has found nothing by then, it returns one row
-- with visited_until alone, and the caller claims again.
--
-- If this process must not send, it returns one row with only held. Otherwise a database without an environment takes
-- p_environment.
create function claim_v1 (p_limit integer, p_per_endpoint integer, p_lease_ms double precision, p_environment text)
returns table (
  delivery_id bigint, fence bigint, tenant text, tenant_slug text, webhook_id bigint, target_url text, secret text,
  previous_secret text, headers text, event_id text, event_type text, body text, trace_parent text, attempt_count integer, is_failing boolean,
  visited_until bigint, held text
)
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_wanted integer := greatest(p_limit, 64);
  v_fence bigint;
  v_start bigint;
  v_last bigint;
  v_next bigint;
  v_marked bigint;
  v_visited integer := 0;
  v_has_wrapped boolean := false;
  v_is_cut boolean;
  v_left integer := p_limit;
  v_claimed integer;
  v_capacity integer;
  v_tenant text;
  v_webhooks bigint[] := '{}';
  v_capacities integer[] := '{}';
  v_tenants text[] := '{}';
  v_turns integer[];
begin
  -- If a server crash loses the claim, another one follows.
  perform set_config('synchronous_commit', 'off', true);

  -- Scheduled deliveries become ready.
  update queue q set lane = case when q.is_replay then 3 else 2 end
  where q.ctid = any (array(
    select due.ctid from queue due
    where due.lane is null and due.due_at <= v_now
    order by due.due_at
    limit 1000
    for update skip locked
  ));

  -- Claims run one at a time, so that each counts the leases of all others. The holder of this lock waits for no other.
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.claim', 0));
  v_now := clock_timestamp();

  held := (select hold.reason from find_hold_v1(p_environment) as hold);
  if held is not null then
    update home set held_since = v_now where held_since is null;
    return next;
    return;
  end if;
  update home set environment = p_environment where environment is null and p_environment is not null;

  delete from marks m where m.marked_at <= v_now - interval '10 minutes';
  -- Finds deliveries that were committed late with a lower id.
  update marks m set first_fresh = m.safe_fresh, expires_at = 'infinity' where m.expires_at <= v_now;

  -- Visit webhooks.
  select t.last_value into v_start from turns t;
  v_last := v_start;
  while v_visited < 256 and cardinality(v_webhooks) < v_wanted
    and (v_visited < 16 or clock_timestamp() - v_now < interval '50 milliseconds')
  loop
    -- The next webhook that has ready deliveries. Marked webhooks are visited in any case: a search would read the deleted rows
    -- at the beginning of their queues. The order is that of the index, so each search reads one entry.
    select min(m.webhook_id) into v_marked from marks m where m.webhook_id > v_last;
    select q.webhook_id into v_next from queue q
    where q.lane is not null and q.webhook_id > v_last and q.webhook_id < coalesce(v_marked, 9223372036854775807)
    order by q.webhook_id, q.lane, q.id
    limit 1;
    v_next := coalesce(v_next, v_marked);

    exit when v_has_wrapped and (v_next is null or v_next > v_start);
    if v_next is null then
      v_has_wrapped := true;
      v_last := 0;
      continue;
    end if;
    v_last := v_next;
    v_visited := v_visited + 1;

    -- Finds no row for webhooks that are inactive, paused or about to be disabled. Others may have reached p_per_endpoint.
    select w.tenant, p_per_endpoint - leased.count into v_tenant, v_capacity
    from webhooks w
    left join webhook_health h on h.webhook_id = w.id and h.revision = w.revision
    left join marks m on m.webhook_id = w.id
    cross join lateral (
      select count(*)::integer from queue q
      where q.webhook_id = w.id and q.lane = 0 and q.id >= coalesce(m.first_leased, 0) and q.leased_until > v_now
    ) as leased
    where w.id = v_next and w.status = 'active' and h.verdict is null and (h.paused_until is null or h.paused_until <= v_now);
    if v_capacity > 0 then
      v_webhooks := v_webhooks || v_next;
      v_capacities := v_capacities || v_capacity;
      v_tenants := v_tenants || v_tenant;
    end if;
  end loop;
  v_is_cut := v_visited = 256 or cardinality(v_webhooks) >= v_wanted or clock_timestamp() - v_now >= interval '50 milliseconds';
  if v_is_cut then
    perform setval('turns', v_last);
  end if;

  -- Each claim begins with the next tenant and, after a round of tenants, with the next webhook of each.
  v_fence := nextval('fences');
  with visited as (
    select v.*, dense_rank() over (order by v.tenant) as tenant_place, count(*) over (partition by v.tenant) as webhooks,
      row_number() over (partition by v.tenant order by v.webhook_id) as webhook_place
    from unnest(v_webhooks, v_capacities, v_tenants) as v (webhook_id, capacity, tenant)
  ), rotated as (
    select v.webhook_id, v.capacity, (v.tenant_place + v_fence) % t.tenants as tenant_turn,
      (v.webhook_place + v_fence / t.tenants) % v.webhooks as webhook_turn
    from visited v, (select max(v.tenant_place) as tenants from visited v) as t
  )
  select array_agg(r.webhook_id order by r.webhook_turn, r.tenant_turn), array_agg(r.capacity order by r.webhook_turn, r.tenant_turn),
    array_agg(r.tenant_turn order by r.webhook_turn, r.tenant_turn)
  into v_webhooks, v_capacities, v_turns
  from rotated r;

  -- More than one round only if the first webhooks have fewer deliveries: others are leased, or locked by another transaction.
  for v_from in 1 .. coalesce(cardinality(v_webhooks), 0) by greatest(p_limit, 1) loop
    return query
      with offered as (
        select e.tenant_turn, e.turn, ready.place, row_number() over (partition by e.turn order by ready.lane, ready.id) as nth
        from unnest(
          v_webhooks[v_from:v_from + p_limit - 1], v_capacities[v_from:v_from + p_limit - 1], v_turns[v_from:v_from + p_limit - 1]
        ) with ordinality as e (webhook_id, capacity, tenant_turn, turn)
        join webhooks w on w.id = e.webhook_id
        left join marks m on m.webhook_id = e.webhook_id
        cross join lateral (
          -- One search for each lane: each starts at its own first row and reads no more than it takes.
          select q.* from (values (0, m.first_leased), (1, m.first_fresh), (2, null), (3, null)) as begin (lane, id)
          cross join lateral (
            select q.ctid as place, q.lane, q.id from queue q
            where q.webhook_id = e.webhook_id and q.lane = begin.lane::smallint and q.id >= greatest(w.skip_before, begin.id)
              and (q.lane > 0 or q.leased_until <= v_now)
            order by q.id
            limit e.capacity
            for update skip locked
          ) as q
          limit e.capacity
        ) as ready
      ), ranked as (
        select o.*, row_number() over (partition by o.tenant_turn order by o.nth, o.turn) as rank from offered o
      ), picked as (
        select row_number() over (order by r.rank, r.tenant_turn) as ordinal, r.place
        from ranked r
        order by r.rank, r.tenant_turn
        limit v_left
      ), leased as (
        update queue q set lane = 0, fence = v_fence, leased_until = v_now + p_lease_ms * interval '1 millisecond'
        from picked
        where q.ctid = picked.place
        returning picked.ordinal, q.id, q.webhook_id, q.event_seq, q.attempts
      ), lowered as (
        update marks m set first_leased = first.id
        from (select l.webhook_id, min(l.id) as id from leased l group by l.webhook_id) as first
        where m.webhook_id = first.webhook_id and first.id < m.first_leased
      )
      select l.id, v_fence, w.tenant, w.tenant_slug, w.id, w.target_url, w.secret,
        case when w.previous_secret_expires_at > v_now then w.previous_secret end, w.headers,
        e.id, e.type, e.body, e.trace_parent, coalesce(jsonb_array_length(l.attempts), 0), h.webhook_id is not null, v_last, null
      from leased l
      join webhooks w on w.id = l.webhook_id
      join events e on e.seq = l.event_seq
      left join webhook_health h on h.webhook_id = w.id and h.revision = w.revision
      order by l.ordinal;
    get diagnostics v_claimed = row_count;
    v_left := v_left - v_claimed;
    exit when v_left = 0;
  end loop;
  if v_left = p_limit and v_is_cut then
    visited_until := v_last;
    return next;
  end if;
  if clock_timestamp() - v_now > interval '20 milliseconds' then
    perform mark_v1(v_start, v_last);
  end if;
end
$$;
