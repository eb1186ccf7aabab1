-- Leases ready deliveries to a worker: promotes due deliveries, chooses webhooks, leases up to p_limit of their
-- deliveries, and marks webhooks whose deleted rows made this slow. Returns numbers only: a client that stops reading a
-- longer result would keep the claim lock. read_claimed_v1 returns the rest.
--
-- A webhook gets up to p_ahead leases while no worker but the caller, whose leases have the fences p_own, has one,
-- otherwise up to p_per_endpoint. Each lease takes one of p_free places, and a tenant takes a place only while more are
-- free than it holds: p_held has the places of p_tenants. Without p_free, places are not shared.
--
-- If this process must not send, returns one row with held alone. Otherwise a database without an environment takes
-- p_environment. Writes nothing if nothing is due.
create or replace function claim_v1 (
  p_limit integer, p_per_endpoint integer, p_lease_ms double precision, p_environment text,
  p_ahead integer default null, p_own bigint[] default '{}', p_free integer default null, p_tenants text[] default '{}',
  p_held integer[] default '{}'
)
returns table (
  webhook_id bigint, delivery_id bigint, fence bigint, event_seq bigint, attempt_count integer, held text
)
language plpgsql
set search_path from current
-- With these settings each search reads an index and stops, independently of the role's settings and the estimated size
-- of the queue. Plans are kept: planning would take longer than the searches.
set enable_indexscan to on
set enable_indexonlyscan to on
set enable_tidscan to on
set enable_nestloop to on
set enable_seqscan to off
set plan_cache_mode to force_generic_plan
set jit to off
as $$
declare
  -- A variable, because a search by an index cannot compare with a function whose value changes.
  v_started timestamptz := clock_timestamp();
  v_visited record;
  v_leased integer := 0;
begin
  -- If a server crash loses the claim, the deliveries are claimed again.
  perform set_config('synchronous_commit', 'off', true);
  if exists (
      select from queue q where q.lane is null and q.paused_lane is null and q.due_at <= v_started limit 1
    ) or exists (
      select from paused_webhooks p where p.until > '-infinity' and p.until <= v_started limit 1
    )
  then
    perform promote_due_v1();
  end if;

  -- Claims run one at a time, so that each counts all leases. The holder of this lock waits for no other.
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.claim', 0));
  v_started := clock_timestamp();

  held := (select hold.reason from find_hold_v1(p_environment) as hold);
  if held is not null then
    update home set held_since = v_started where held_since is null;
    return next;
    return;
  end if;
  if p_environment is not null then
    update home set environment = p_environment where environment is null;
  end if;

  if exists (select from marks) then
    delete from marks m where m.marked_at <= v_started - interval '10 minutes';
    -- Finds deliveries committed late with a lower id. No mark expires more than 10 s ahead, unless the clock went back.
    update marks m set first_fresh = m.safe_fresh, expires_at = 'infinity'
    where m.expires_at <= v_started or (m.expires_at > v_started + interval '10 seconds' and m.expires_at < 'infinity');
  end if;

  v_visited := choose_webhooks_v1(
    least(greatest(p_limit, 64), 256), p_per_endpoint, coalesce(p_ahead, p_per_endpoint), p_own, p_free, p_tenants, p_held
  );
  if v_visited.chosen <> '{}' then
    return query
      select leased.*, null
      from lease_v1(
        v_visited.chosen, v_visited.capacities, v_visited.tenants, p_limit, p_lease_ms, p_free, p_tenants, p_held
      ) as leased;
    get diagnostics v_leased = row_count;
  end if;
  -- To lease many deliveries takes long without deleted rows too.
  if not v_visited.has_moved
    and clock_timestamp() - v_started > (10 + 0.1 * v_leased) * interval '1 millisecond'
  then
    perform mark_v1(v_visited.start_after, v_visited.stopped_at);
  end if;
end
$$;

-- Makes up to 1000 due deliveries ready, and ends up to 1000 expired pauses.
create or replace function promote_due_v1 () returns void
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  update queue q set lane = case when q.is_replay then 3 else 2 end
  where q.ctid = any (array(
    select due.ctid from queue due
    where due.lane is null and due.paused_lane is null and due.due_at <= v_now
    order by due.due_at
    limit 1000
    for update skip locked
  ));
  update paused_webhooks p set until = '-infinity'
  where p.ctid = any (array(
    select ended.ctid from paused_webhooks ended
    where ended.until > '-infinity' and ended.until <= v_now
    order by ended.until
    limit 1000
    for update skip locked
  ));
end
$$;

-- Visits webhooks with ready deliveries by ascending id, from where the previous call stopped, until p_wanted can send
-- or all were visited. Stops earlier after 50 ms, or after 500 ms if none can send so far; the next call continues
-- there.
--
-- Deliveries that cannot be sent leave the ready ones, so each costs one visit: those of a paused or suspended webhook
-- are set aside, stopped ones move to the log, and has_moved is true, unless only a mark led to them. Chooses no more
-- webhooks of a tenant than the places that it can take, and passes its others; the next call begins with the first one
-- omitted for that. The caller holds the claim lock.
--
-- With these joins off, it searches each table once for each webhook, whatever the planner expects.
create or replace function choose_webhooks_v1 (
  p_wanted integer, p_per_endpoint integer, p_ahead integer, p_own bigint[], p_free integer, p_tenants text[],
  p_held integer[],
  out chosen bigint[], out capacities integer[], out tenants text[], out start_after bigint, out stopped_at bigint,
  out has_moved boolean
)
language plpgsql
set search_path from current
set enable_hashjoin to off
set enable_mergejoin to off
set jit to off
as $$
declare
  v_now timestamptz := clock_timestamp();
  -- One statement visits so many: to start one for each takes longer than its searches.
  v_batch constant integer := 16;
  v_none constant bigint := 9223372036854775807;
  v_until bigint := v_none;
  v_ids bigint[];
  v_lanes smallint[];
  v_firsts bigint[];
  v_resumed boolean[];
  v_previous bigint;
  v_omitted_after bigint;
  v_full text[] := '{}';
  v_webhook record;
begin
  chosen := '{}';
  capacities := '{}';
  tenants := '{}';
  has_moved := false;
  select t.last_value into start_after from turns t;
  stopped_at := start_after;

  loop
    with recursive walk as (
      select 0 as nth, stopped_at as id, null::smallint as lane, null::bigint as first_id, false as is_resumed
      union all
      -- The next webhook with ready deliveries. Always visits marked webhooks: a search would read the deleted rows at
      -- the beginning of their queues. The order is the index's, so each search reads one entry.
      select k.nth + 1, next.id, found.lane, found.id, next.id = other.resumed
      from walk k
      cross join lateral (
        select (select m.webhook_id from marks m where m.webhook_id > k.id order by m.webhook_id limit 1) as marked, (
          select p.webhook_id from paused_webhooks p
          where p.until = '-infinity' and p.webhook_id > k.id order by p.webhook_id limit 1
        ) as resumed
      ) as other
      left join lateral (
        select q.webhook_id, q.lane, q.id from queue q
        where q.lane is not null and q.webhook_id > k.id
          and q.webhook_id < coalesce(least(other.marked, other.resumed), v_none)
        order by q.webhook_id, q.lane, q.id
        limit 1
      ) as found on true
      cross join lateral (select coalesce(found.webhook_id, least(other.marked, other.resumed)) as id) as next
      where k.nth < v_batch and next.id <= v_until
    )
    select array_agg(k.id order by k.nth), array_agg(k.lane order by k.nth), array_agg(k.first_id order by k.nth),
      array_agg(k.is_resumed order by k.nth)
    into v_ids, v_lanes, v_firsts, v_resumed
    from walk k where k.nth > 0;
    if v_ids is null and v_until = v_none then
      stopped_at := 0;
      v_until := start_after;
      continue;
    elsif v_ids is null then
      if v_omitted_after is not null then
        perform setval('turns', v_omitted_after);
      end if;
      return;
    end if;

    for v_webhook in
      select k.id, k.first_id, k.is_resumed, w.tenant, w.status = 'active' as is_active, w.skip_before, h.verdict,
        w.is_suspended or h.paused_until > v_now as is_paused,
        case when w.subscription_id is null then true else is_live_v1(w.expires_at, w.key_id) end as is_live,
        case
          -- After a pause, one delivery shows whether the endpoint has recovered.
          when h.paused_until is not null then 1 - leased.own - leased.others
          when leased.others = 0 then p_ahead - leased.own
          else p_per_endpoint - leased.own - leased.others
        end as capacity,
        k.lane is distinct from 0 or leased.expired > 0 or exists (
          select from (values (1, m.first_fresh), (2, null), (3, null)) as begin (lane, id)
          cross join lateral (
            select from queue q
            where q.webhook_id = w.id and q.lane = begin.lane::smallint and q.id >= coalesce(begin.id, 0)
            order by q.id
            limit 1
          ) as waiting
        ) as is_ready
      from unnest(v_ids, v_lanes, v_firsts, v_resumed) with ordinality as k (id, lane, first_id, is_resumed, nth)
      left join webhooks w on w.id = k.id
      left join webhook_health h on h.webhook_id = w.id and h.revision = w.revision
      left join marks m on m.webhook_id = w.id
      cross join lateral (
        select (count(*) filter (where l.leased_until > v_now and l.fence = any (p_own)))::integer as own,
          (count(*) filter (where l.leased_until > v_now and l.fence <> all (p_own)))::integer as others,
          count(*) filter (where l.leased_until <= v_now) as expired
        from (
          select q.fence, q.leased_until from queue q
          where q.webhook_id = w.id and q.lane = 0 and q.id >= coalesce(m.first_leased, 0)
          union all
          select d.fence, d.leased_until from deliveries d
          where d.webhook_id = w.id and d.fence is not null and d.leased_until > v_now
        ) as l
      ) as leased
      order by k.nth
    loop
      v_previous := stopped_at;
      stopped_at := v_webhook.id;
      continue when v_webhook.tenant = any (v_full);

      if v_webhook.is_active is not true or v_webhook.first_id < v_webhook.skip_before then
        perform sweep_v1(v_webhook.id, 100);
        has_moved := has_moved or v_webhook.first_id is not null;
      end if;
      if v_webhook.is_active is not true then
        if v_webhook.is_resumed then
          perform take_back_v1(v_webhook.id, 0);
        end if;
      elsif v_webhook.is_paused then
        perform set_aside_v1(v_webhook.id, 100);
        has_moved := has_moved or v_webhook.first_id is not null;
      elsif not v_webhook.is_live or v_webhook.verdict is not null or v_webhook.capacity <= 0
        or not v_webhook.is_ready
      then
        null;
      elsif cardinality(array_positions(tenants, v_webhook.tenant))
        >= (p_free + 1 - coalesce(p_held[array_position(p_tenants, v_webhook.tenant)], 0)) / 2
      then
        v_omitted_after := coalesce(v_omitted_after, v_previous);
        v_full := v_full || v_webhook.tenant;
      else
        if v_webhook.is_resumed then
          perform take_back_v1(v_webhook.id, v_webhook.capacity);
        end if;
        chosen := chosen || v_webhook.id;
        capacities := capacities || v_webhook.capacity;
        tenants := tenants || v_webhook.tenant;
      end if;
      exit when cardinality(chosen) >= p_wanted;
    end loop;

    exit when cardinality(chosen) >= p_wanted or clock_timestamp() - v_now
      > case when chosen = '{}' and v_full = '{}' then 500 else 50 end * interval '1 millisecond';
    if v_webhook.tenant = any (v_full) then
      stopped_at := coalesce((
        select w.id - 1 from webhooks w where w.id > stopped_at and w.tenant <> v_webhook.tenant order by w.id limit 1
      ), v_none - 1);
    end if;
  end loop;
  perform setval('turns', coalesce(v_omitted_after, stopped_at));
end
$$;

-- Sets aside up to p_limit ready deliveries of a paused or suspended webhook. If it is suspended, expired leases are
-- lost, because they would make each claim visit it. The caller holds the claim lock.
create or replace function set_aside_v1 (p_webhook bigint, p_limit integer) returns void
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_until timestamptz;
  v_is_suspended boolean;
begin
  -- A transaction that ends the pause or suspension changes one of these rows, and then the row in paused_webhooks.
  -- Either it waits for this one, or this one does nothing. A suspended webhook is visited again after an hour or two,
  -- in case it was deleted.
  select date_trunc('hour', v_now) + interval '2 hours' into v_until
  from webhooks w where w.id = p_webhook and w.status = 'active' and w.is_suspended
  for share skip locked;
  v_is_suspended := found;
  if not v_is_suspended then
    select h.paused_until into v_until
    from webhooks w
    join webhook_health h on h.webhook_id = w.id and h.revision = w.revision
    where w.id = p_webhook and w.status = 'active' and not w.is_suspended and h.paused_until > v_now
    for share skip locked;
    if not found then
      return;
    end if;
  end if;

  -- If the row is locked, the other transaction ends an earlier pause, and the next claim comes here again.
  update paused_webhooks p set until = v_until
  where p.ctid = any (array(
    select old.ctid from paused_webhooks old
    where old.webhook_id = p_webhook and old.until <> v_until for update skip locked
  ));
  if not exists (select from paused_webhooks p where p.webhook_id = p_webhook) then
    insert into paused_webhooks (webhook_id, until) values (p_webhook, v_until);
  end if;
  update queue q set
    lane = null,
    paused_lane = case when q.lane > 0 then q.lane when q.is_replay then 3 when q.attempts is null then 1 else 2 end,
    fence = null, leased_until = null
  where q.ctid = any (array(
    -- As in lease_v1.
    select ready.place
    from (
      values (0, (select m.first_leased from marks m where m.webhook_id = p_webhook)),
        (1, (select m.first_fresh from marks m where m.webhook_id = p_webhook)), (2, null), (3, null)
    ) as begin (lane, id)
    cross join lateral (
      select q.ctid as place from queue q
      where q.webhook_id = p_webhook and q.lane = begin.lane::smallint and q.id >= coalesce(begin.id, 0)
        and (q.lane > 0 or v_is_suspended and q.leased_until <= v_now)
      order by q.id
      limit p_limit
      for update skip locked
    ) as ready
    limit p_limit
  ));
end
$$;

-- Takes back up to p_limit deliveries that were set aside. The caller holds the claim lock.
create or replace function take_back_v1 (p_webhook bigint, p_limit integer) returns void
language plpgsql
set search_path from current
set jit to off
as $$
begin
  update queue q set
    lane = case
      -- A mark may begin after this delivery in lane 1.
      when q.paused_lane = 1 and exists (select from marks m where m.webhook_id = q.webhook_id) then 2
      else q.paused_lane
    end,
    paused_lane = null
  where q.ctid = any (array(
    select paused.ctid from queue paused
    where paused.webhook_id = p_webhook and paused.paused_lane is not null
    order by paused.paused_lane, paused.id
    limit p_limit
    for update skip locked
  ));
  delete from paused_webhooks p
  where p.ctid = any (array(
      select ended.ctid from paused_webhooks ended where ended.webhook_id = p_webhook for update skip locked
    ))
    and not exists (select from queue q where q.webhook_id = p_webhook and q.paused_lane is not null);
end
$$;

-- Leases up to p_limit ready deliveries of these webhooks, up to each one's capacity. Tenants take turns: one delivery
-- of each, then a second one of each. A tenant's deliveries come from its webhooks in turn. Shares places as in claim_v1.
-- Skips locked deliveries. The caller holds the claim lock.
create or replace function lease_v1 (
  p_webhooks bigint[], p_capacities integer[], p_names text[], p_limit integer, p_lease_ms double precision,
  p_free integer, p_tenants text[], p_held integer[]
)
returns table (webhook_id bigint, delivery_id bigint, fence bigint, event_seq bigint, attempt_count integer)
language plpgsql
set search_path from current
set jit to off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_fence bigint := nextval('fences');
  v_leased integer := 0;
  v_webhooks bigint[];
  v_capacities integer[];
  v_turns integer[];
  v_held integer[];
  v_offered tid[];
  v_owners integer[];
  v_owner integer;
  v_picked tid[];
begin
  -- Each claim starts with the next tenant and, after a round of tenants, with each one's next webhook.
  with visited as (
    select v.*, dense_rank() over (order by v.tenant) as tenant_place,
      count(*) over (partition by v.tenant) as webhooks,
      row_number() over (partition by v.tenant order by v.webhook_id) as webhook_place
    from unnest(p_webhooks, p_capacities, p_names) as v (webhook_id, capacity, tenant)
  ), rotated as (
    select v.webhook_id, v.capacity, v.tenant, (v.tenant_place + v_fence) % t.tenants + 1 as tenant_turn,
      (v.webhook_place + v_fence / t.tenants) % v.webhooks as webhook_turn
    from visited v, (select max(v.tenant_place) as tenants from visited v) as t
  )
  select array_agg(r.webhook_id order by r.webhook_turn, r.tenant_turn),
    array_agg(r.capacity order by r.webhook_turn, r.tenant_turn),
    array_agg(r.tenant_turn order by r.webhook_turn, r.tenant_turn),
    array(
      select coalesce(p_held[array_position(p_tenants, t.tenant)], 0)
      from (select distinct r.tenant, r.tenant_turn from rotated r) as t
      order by t.tenant_turn
    )
  into v_webhooks, v_capacities, v_turns, v_held
  from rotated r;

  -- A second round is needed only if the first webhooks have too few deliveries: others are leased or locked.
  for v_from in 1 .. cardinality(v_webhooks) by greatest(p_limit, 1) loop
    with offered as (
      select e.tenant_turn, e.turn, ready.place,
        row_number() over (partition by e.turn order by ready.lane, ready.id) as nth
      from unnest(
        v_webhooks[v_from:v_from + p_limit - 1], v_capacities[v_from:v_from + p_limit - 1],
        v_turns[v_from:v_from + p_limit - 1]
      ) with ordinality as e (webhook_id, capacity, tenant_turn, turn)
      join webhooks w on w.id = e.webhook_id
      left join marks m on m.webhook_id = e.webhook_id
      cross join lateral (
        -- One search per lane: each starts at the lane's first row and reads only the rows it takes.
        select q.* from (values (0, m.first_leased), (1, m.first_fresh), (2, null), (3, null)) as begin (lane, id)
        cross join lateral (
          select q.ctid as place, q.lane, q.id from queue q
          where q.webhook_id = e.webhook_id and q.lane = begin.lane::smallint
            and q.id >= greatest(w.skip_before, begin.id)
            and (q.lane > 0 or q.leased_until <= v_now)
          order by q.id
          limit e.capacity
          for update skip locked
        ) as q
        limit e.capacity
      ) as ready
    ), ranked as (
      select o.*, row_number() over (partition by o.tenant_turn order by o.nth, o.turn) as rank from offered o
    )
    select array_agg(r.place order by r.rank, r.tenant_turn), array_agg(r.tenant_turn order by r.rank, r.tenant_turn)
    into v_offered, v_owners
    from ranked r;

    if p_free is null then
      v_picked := v_offered[:p_limit - v_leased];
      v_leased := v_leased + coalesce(cardinality(v_picked), 0);
    else
      v_picked := '{}';
      for v_nth in 1 .. coalesce(cardinality(v_offered), 0) loop
        exit when v_leased = p_limit;
        v_owner := v_owners[v_nth];
        if p_free - v_leased > v_held[v_owner] then
          v_held[v_owner] := v_held[v_owner] + 1;
          v_leased := v_leased + 1;
          v_picked := v_picked || v_offered[v_nth];
        end if;
      end loop;
    end if;

    return query
      with leased as (
        update queue q set lane = 0, fence = v_fence, leased_until = v_now + p_lease_ms * interval '1 millisecond'
        from unnest(v_picked) with ordinality as picked (place, ordinal)
        where q.ctid = picked.place
        returning picked.ordinal, q.id, q.webhook_id, q.event_seq, q.attempts
      ), lowered as (
        update marks m set first_leased = first.id
        from (select l.webhook_id, min(l.id) as id from leased l group by l.webhook_id) as first
        where m.webhook_id = first.webhook_id and first.id < m.first_leased
      )
      select l.webhook_id, l.id, v_fence, l.event_seq, coalesce(jsonb_array_length(l.attempts), 0)
      from leased l
      order by l.ordinal;
    exit when v_leased = p_limit;
  end loop;
end
$$;

-- Returns what a worker needs to send these events to these webhooks: one row for each pair, in their order, until the
-- bodies exceed 4 MB. Locks nothing. target_url or body is null if the webhook or the event was deleted.
create or replace function read_claimed_v1 (p_webhooks bigint[], p_events bigint[])
returns table (
  tenant text, tenant_slug text, target_url text, secret text, previous_secret text, headers text, event_id text,
  event_type text, body text, trace_parent text, is_failing boolean, subscription_id text, watermark text,
  filters text
)
language plpgsql
stable
set search_path from current
set enable_indexscan to on
set enable_nestloop to on
set enable_seqscan to off
set plan_cache_mode to force_generic_plan
set jit to off
as $$
begin
  return query
    select r.tenant, r.tenant_slug, r.target_url, r.secret,
      case when r.previous_secret_expires_at > clock_timestamp() then r.previous_secret end, r.headers,
      r.event_id, r.event_type, r.body, r.trace_parent, r.is_failing, r.subscription_id,
      case when r.subscription_id is not null then watermark_v1(r.webhook_id) end,
      case when r.subscription_id is not null then r.filters::text end
    from (
      select w.id as webhook_id, w.subscription_id, w.filters, w.tenant, w.tenant_slug, w.target_url, w.secret,
        w.previous_secret, w.previous_secret_expires_at, w.headers, e.id as event_id, e.type as event_type, e.body,
        e.trace_parent, h.webhook_id is not null as is_failing, c.ordinal,
        sum(octet_length(e.body)) over (order by c.ordinal) - octet_length(e.body) as bytes_before
      from unnest(p_webhooks, p_events) with ordinality as c (webhook_id, event_seq, ordinal)
      left join webhooks w on w.id = c.webhook_id
      left join events e on e.seq = c.event_seq
      left join webhook_health h on h.webhook_id = w.id and h.revision = w.revision
    ) as r
    where coalesce(r.bytes_before, 0) < 4194304
    order by r.ordinal;
end
$$;

-- Marks webhooks whose queue begins with deleted rows, or moves their marks: those that are slow to search, among the
-- webhooks visited by a claim that started after p_after and stopped at p_until. Begins no search after 200 ms. The
-- caller holds the claim lock.
create or replace function mark_v1 (p_after bigint, p_until bigint) returns void
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_started timestamptz := clock_timestamp();
  v_next_id bigint := nextval('delivery_ids');
  v_next_xid xid8 := pg_snapshot_xmax(pg_current_snapshot());
  v_all_ended xid8 := pg_snapshot_xmin(pg_current_snapshot());
begin
  insert into marks as m (
    webhook_id, first_leased, first_fresh, expires_at, safe_fresh, settled_id, settled_xid, settled_at
  )
  select s.webhook_id, coalesce(s.leased, v_next_id),
    case step.name when 'insert' then 0 when 'settle' then step.settled else coalesce(s.fresh, v_next_id) end,
    case step.name when 'pass' then least(s.expires_at, v_started + interval '10 seconds') else 'infinity' end,
    case step.name when 'insert' then 0 when 'settle' then step.settled else s.safe_fresh end,
    case step.name when 'pass' then s.settled_id else v_next_id end,
    case step.name when 'pass' then s.settled_xid else v_next_xid end,
    case step.name when 'pass' then s.settled_at else v_started end
  from (
    -- The columns are evaluated in this order.
    select w.id as webhook_id, m.webhook_id is not null as is_marked, m.first_fresh, m.expires_at, m.safe_fresh,
      m.settled_id, m.settled_xid, m.settled_at, clock_timestamp() as began_at,
      (
        select q.id from queue q
        where q.webhook_id = w.id and q.lane = 0 and q.id >= coalesce(m.first_leased, 0) order by q.id limit 1
      ) as leased,
      (
        select q.id from queue q
        where q.webhook_id = w.id and q.lane = 1 and q.id >= coalesce(m.first_fresh, 0) order by q.id limit 1
      ) as fresh,
      clock_timestamp() as ended_at
    from (
      (
        select o.id from webhooks o
        where o.id > p_after and (p_until <= p_after or o.id <= p_until) order by o.id
      )
      union all
      (select o.id from webhooks o where p_until <= p_after and o.id <= p_until order by o.id)
    ) as w
    left join marks m on m.webhook_id = w.id
    where clock_timestamp() < v_started + interval '200 milliseconds'
  ) as s
  cross join lateral (
    select least(s.fresh, s.settled_id) as settled, case
      when not s.is_marked then 'insert'
      -- Each update leaves a deleted row.
      when s.settled_at between v_started - interval '2 seconds' and v_started then null
      when s.first_fresh = s.safe_fresh and s.settled_xid <= v_all_ended then 'settle'
      -- A transaction stays open. Deliveries that it commits with a lower id wait until the mark expires.
      when s.settled_at < v_started - interval '10 seconds' then 'pass'
    end as name
  ) as step
  where step.name is not null and s.ended_at - s.began_at > interval '0.05 milliseconds'
  on conflict (webhook_id) do update set
    first_leased = excluded.first_leased, first_fresh = excluded.first_fresh, expires_at = excluded.expires_at,
    safe_fresh = excluded.safe_fresh, settled_id = excluded.settled_id, settled_xid = excluded.settled_xid,
    settled_at = excluded.settled_at;
end
$$;

-- Returns the webhooks that may have ready deliveries, and the lowest ids that these can have in lanes 0 and 1. Reads no
-- deleted rows before a mark.
create or replace function ready_webhooks_v1 () returns table (
  webhook_id bigint, first_leased bigint, first_fresh bigint
)
language plpgsql
stable
set search_path from current
set enable_indexscan to on
set enable_indexonlyscan to on
set enable_seqscan to off
set plan_cache_mode to force_generic_plan
set jit to off
as $$
#variable_conflict use_column
declare
  v_last bigint := 0;
  v_mark marks;
  v_next bigint;
begin
  loop
    if v_last = 0 or v_mark.webhook_id = v_last then
      select m.* into v_mark from marks m where m.webhook_id > v_last order by m.webhook_id limit 1;
    end if;
    v_next := (
      select q.webhook_id from queue q
      where q.lane is not null and q.webhook_id > v_last
        and q.webhook_id < coalesce(v_mark.webhook_id, 9223372036854775807)
      order by q.webhook_id, q.lane, q.id
      limit 1
    );
    webhook_id := coalesce(v_next, v_mark.webhook_id);
    exit when webhook_id is null;
    first_leased := case when v_next is null then v_mark.first_leased else 0 end;
    first_fresh := case when v_next is null then v_mark.safe_fresh else 0 end;
    v_last := webhook_id;
    return next;
  end loop;
end
$$;

-- Releases leases. Their deliveries are ready immediately, unless they were stopped.
create or replace function release_v1 (p_webhooks bigint[], p_ids bigint[], p_fences bigint[]) returns void
language sql
set search_path from current
set enable_indexscan to on
set enable_indexonlyscan to on
set enable_tidscan to on
set enable_nestloop to on
set enable_seqscan to off
set jit to off
as $$
  update queue q set
    lane = case
      when q.is_replay then 3
      -- A mark may begin after this delivery in lane 1.
      when q.attempts is null and not exists (select from marks m where m.webhook_id = q.webhook_id) then 1
      else 2
    end,
    fence = null, leased_until = null
  from (
    select held.ctid as place
    from unnest(p_webhooks, p_ids, p_fences) as lease (webhook_id, id, fence)
    join queue held
      on held.webhook_id = lease.webhook_id and held.lane = 0 and held.id = lease.id and held.fence = lease.fence
    for update of held skip locked
  ) as given
  where q.ctid = given.place;

  update deliveries d set fence = null
  where d.ctid = any (array(
    select stopped.ctid
    from unnest(p_webhooks, p_ids, p_fences) as lease (webhook_id, id, fence)
    join deliveries stopped
      on stopped.webhook_id = lease.webhook_id and stopped.id = lease.id and stopped.fence = lease.fence
    for update of stopped skip locked
  ))
$$;

-- Records attempts. p_results is a JSON array with one object per attempt. Never waits for the host's transactions.
-- Returns the ordinals of results that could not be written because their delivery is locked, and whether a webhook got
-- a verdict.
create or replace function record_attempts_v1 (
  p_results jsonb, p_failing_for_seconds double precision, p_failed_limit double precision,
  p_warn_after_seconds double precision, p_event_types text[], out later integer[], out has_verdict boolean
)
language plpgsql
set search_path from current
set enable_indexscan to on
set enable_indexonlyscan to on
set enable_tidscan to on
set enable_nestloop to on
set enable_seqscan to off
set jit to off
as $$
declare
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_webhooks bigint[];
  v_done integer[];
  v_noted integer[];
  v_commit_setting text := current_setting('synchronous_commit');
begin
  -- If a server crash loses the results, the deliveries are attempted again.
  perform set_config('synchronous_commit', 'off', true);

  with result as (
    select * from jsonb_to_recordset(p_results) as r (
      ordinal integer, webhook_id bigint, delivery_id bigint, fence bigint, outcome text, duration_ms integer,
      response_status integer, error text, detail text, response_excerpt text, retry_in_ms double precision
    )
  ), leased as materialized (
    -- One search per lease, independently of the estimated size of the queue.
    select r.*, q.place, q.event_seq, q.event_type, q.created_at, q.attempts
    from result r
    cross join lateral (
      select q.ctid as place, q.event_seq, q.event_type, q.created_at, q.attempts from queue q
      where q.webhook_id = r.webhook_id and q.lane = 0 and q.id = r.delivery_id and q.fence = r.fence
      limit 1
      for update skip locked
    ) as q
  ), kept as materialized (
    -- Keeps excerpts only for events that are not erased. An open erase, which may not see this delivery, has locked
    -- its events. A later one waits and sees it.
    select event.seq from leased l
    cross join lateral (
      select e.seq from events e
      where e.seq = l.event_seq and e.body <> coalesce(e.tombstone, '')
      limit 1
      for share skip locked
    ) as event
    where l.response_excerpt is not null
  ), ended as (
    delete from queue q using leased l where q.ctid = l.place and l.outcome not in ('retry', 'postponed')
  ), logged as (
    insert into deliveries (
      webhook_id, id, event_seq, event_type, status, created_at, ended_at, earlier, duration_ms, response_status,
      error, detail, response_excerpt
    )
    select l.webhook_id, l.delivery_id, l.event_seq, l.event_type, l.outcome, l.created_at, v_now, l.attempts,
      l.duration_ms,
      l.response_status, l.error, l.detail,
      case when l.event_seq in (select k.seq from kept k) then l.response_excerpt end
    from leased l where l.outcome not in ('retry', 'postponed')
  ), scheduled as (
    update queue q set
      lane = null,
      due_at = date_trunc('milliseconds', v_now + (l.retry_in_ms + 0.999) * interval '1 millisecond'),
      fence = null,
      leased_until = null,
      attempts = case when l.outcome = 'postponed' then l.attempts else coalesce(l.attempts, '[]') || (jsonb_build_object(
        'started_at', to_char(
          (v_now - l.duration_ms * interval '1 millisecond') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
        ),
        'duration_ms', l.duration_ms,
        'response_status', l.response_status,
        'error', l.error,
        'detail', l.detail
      ) || case when l.response_excerpt is not null and l.event_seq in (select k.seq from kept k)
        then jsonb_build_object('response_excerpt', l.response_excerpt) else '{}' end) end
    from leased l
    where q.ctid = l.place and l.outcome in ('retry', 'postponed')
  )
  select array_agg(l.webhook_id) filter (where l.outcome <> 'postponed'), array_agg(l.ordinal)
    into v_webhooks, v_done from leased l;

  if coalesce(cardinality(v_done), 0) < jsonb_array_length(p_results) then
    with missed as (
      select * from jsonb_to_recordset(p_results) as r (
        ordinal integer, webhook_id bigint, delivery_id bigint, fence bigint, outcome text, duration_ms integer,
        response_status integer, error text, detail text, response_excerpt text
      )
      where r.ordinal <> all (coalesce(v_done, '{}'))
    ), stopped as (
      -- The delivery was stopped during the attempt.
      select m.ordinal from missed m
      join deliveries d on d.webhook_id = m.webhook_id and d.id = m.delivery_id and d.fence = m.fence
      for update of d skip locked
    ), released as (
      update deliveries d set fence = null
      from missed m
      join stopped s on s.ordinal = m.ordinal
      where d.webhook_id = m.webhook_id and d.id = m.delivery_id and m.outcome = 'postponed'
    ), noted as (
      update deliveries d set
        status = case m.outcome when 'delivered' then 'delivered' else d.status end, ended_at = v_now,
        duration_ms = m.duration_ms, response_status = m.response_status, error = m.error, detail = m.detail,
        fence = null,
        -- The subject may have been erased.
        response_excerpt = case when d.status <> 'cancelled'
          and exists (select from events e where e.seq = d.event_seq and e.body <> coalesce(e.tombstone, ''))
          then m.response_excerpt end
      from missed m
      join stopped s on s.ordinal = m.ordinal
      where d.webhook_id = m.webhook_id and d.id = m.delivery_id and m.outcome <> 'postponed'
      returning m.ordinal
    ), locked as (
      select m.ordinal from missed m
      join queue q on q.webhook_id = m.webhook_id and q.lane = 0 and q.id = m.delivery_id and q.fence = m.fence
      union all
      select m.ordinal from missed m
      join deliveries d on d.webhook_id = m.webhook_id and d.id = m.delivery_id and d.fence = m.fence
      where m.ordinal not in (select s.ordinal from stopped s)
    )
    select (select array_agg(n.ordinal) from noted n), (select array_agg(l.ordinal) from locked l) into v_noted, later;
  end if;

  -- Successes of healthy webhooks do not change health.
  has_verdict := false;
  if v_noted is not null or p_results @? '$[*] ? (@.outcome != "delivered" && @.outcome != "postponed" || @.is_gone == true)'
    or exists (select from webhook_health h where h.webhook_id = any (v_webhooks))
  then
    has_verdict := record_health_v1(
      p_results, v_done, v_noted, v_now, p_failing_for_seconds, p_failed_limit, p_warn_after_seconds,
      p_event_types
    );
  end if;
  if has_verdict then
    perform set_config('synchronous_commit', v_commit_setting, true);
  end if;
end
$$;

-- Moves a webhook's stopped deliveries to the log: those below its skip_before, or all if it is inactive or deleted.
-- Takes up to p_limit from each lane and of the scheduled ones. Skips locked deliveries. Returns their number.
create or replace function sweep_v1 (p_webhook bigint, p_limit integer) returns integer
language plpgsql
set search_path from current
set enable_indexscan to on
set enable_indexonlyscan to on
set enable_tidscan to on
set enable_nestloop to on
set enable_seqscan to off
set jit to off
as $$
declare
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_count integer;
begin
  -- The statement sees no delivery of a later activation, because it does not see that activation either.
  with webhook as materialized (
    select coalesce(max(case when w.status = 'active' then w.skip_before end), 9223372036854775807) as skip_before,
      case when count(*) = 0 then 'cancelled' else 'skipped' end as status
    from webhooks w where w.id = p_webhook
  ), stopped as (
    delete from queue q
    where q.ctid = any (array(
      select ready.place from unnest('{0, 1, 2, 3}'::smallint[]) as of (lane)
      cross join lateral (
        select q.ctid as place from queue q
        where q.webhook_id = p_webhook and q.lane = of.lane and q.id < (select w.skip_before from webhook w)
        order by q.id
        limit p_limit
        for update skip locked
      ) as ready
    ) || array(
      select q.ctid from queue q
      where q.webhook_id = p_webhook and q.lane is null and q.id < (select w.skip_before from webhook w)
      order by q.id
      limit p_limit
      for update skip locked
    ))
    returning q.*
  )
  insert into deliveries (
    webhook_id, id, event_seq, event_type, status, created_at, ended_at, earlier, fence, leased_until
  )
  select s.webhook_id, s.id, s.event_seq, s.event_type, w.status, s.created_at, v_now, s.attempts,
    s.fence, s.leased_until
  from stopped s cross join webhook w;
  get diagnostics v_count = row_count;

  if v_count = 0 then
    delete from webhook_health h
    where h.webhook_id = p_webhook and not exists (select from webhooks w where w.id = p_webhook);
    delete from stopped_webhooks s
    where s.ctid = any (array(
        select s.ctid from stopped_webhooks s where s.webhook_id = p_webhook for update skip locked
      ))
      -- Locked deliveries stay.
      and not exists (
        select from (
          select coalesce(max(case when w.status = 'active' then w.skip_before end), 9223372036854775807) as skip_before
          from webhooks w where w.id = p_webhook
        ) as webhook
        join queue q on q.webhook_id = p_webhook and q.id < webhook.skip_before
      );
  end if;
  return v_count;
end
$$;
