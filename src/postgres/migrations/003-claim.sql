-- Leases ready deliveries to a worker. Endpoints take turns: a claim begins after the endpoint where the previous one
-- stopped, and takes one delivery of each, then a second one of each, until p_limit is reached. Deliveries that somebody
-- has locked are left alone. A claim that has looked at 256 endpoints stops there; if it has found nothing, it returns one
-- row that has only visited_until, and the caller claims again.
create function claim_v1 (p_limit integer, p_per_endpoint integer, p_lease_ms double precision)
returns table (
  delivery_id bigint, fence bigint, tenant_slug text, webhook_id bigint, target_url text, secret text,
  previous_secret text, event_id text, event_type text, body text, attempt_count integer, is_failing boolean,
  visited_until bigint
)
language plpgsql
set search_path from current
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_fence bigint;
  v_start bigint;
  v_webhooks bigint[];
  v_from_ids bigint[];
  v_capacities integer[];
  v_first bigint;
  v_last bigint;
  v_is_cut boolean;
begin
  -- A claim that a server crash loses is made again.
  perform set_config('synchronous_commit', 'off', true);

  update queue q set lane = case when q.is_replay then 3 else 2 end
  where q.ctid = any (array(
    select due.ctid from queue due
    where due.lane = 4 and due.due_at <= v_now
    order by due.due_at
    limit 1000
    for update skip locked
  ));

  -- One claim at a time, so that each counts the leases of all others. Its owner waits for nothing else.
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.claim', 0));
  v_now := clock_timestamp();
  v_fence := nextval('fences');
  select t.last_value into v_start from turns t;

  with recursive visit (visited, lap, webhook_id, from_id, capacity, found) as (
    select 0, 0, v_start, 0::bigint, 0, 0
    union all
    select visit.visited + 1, visit.lap + (next.webhook_id is null)::integer, coalesce(next.webhook_id, 0),
      endpoint.from_id, endpoint.capacity, visit.found + (endpoint.capacity is not null)::integer
    from visit
    left join lateral (
      select q.webhook_id from queue q
      where q.lane < 4 and q.webhook_id > visit.webhook_id
      order by q.webhook_id, q.lane, q.id
      limit 1
    ) as next on true
    left join lateral (
      select w.skip_before as from_id, free.capacity
      from webhooks w
      left join webhook_health h on h.webhook_id = w.id and h.revision = w.revision
      cross join lateral (
        select p_per_endpoint - count(*)::integer as capacity from queue q
        where q.webhook_id = w.id and q.lane = 0 and q.lane < 4 and q.leased_until > v_now
      ) as free
      where w.id = next.webhook_id and w.status = 'active' and h.verdict is null
        and (h.paused_until is null or h.paused_until <= v_now) and free.capacity > 0
    ) as endpoint on true
    where visit.visited < 256 and visit.found < p_limit
      and case visit.lap when 0 then true else next.webhook_id <= v_start end
  )
  select array_agg(v.webhook_id order by v.visited) filter (where v.capacity > 0),
    array_agg(v.from_id order by v.visited) filter (where v.capacity > 0),
    array_agg(v.capacity order by v.visited) filter (where v.capacity > 0),
    (array_agg(v.webhook_id order by v.visited) filter (where v.visited > 0))[1],
    (array_agg(v.webhook_id order by v.visited desc))[1],
    max(v.visited) = 256 or max(v.found) = p_limit
  into v_webhooks, v_from_ids, v_capacities, v_first, v_last, v_is_cut
  from visit v;
  -- After a whole round the next claim begins one endpoint later.
  perform setval('turns', case when v_is_cut then v_last else coalesce(v_first, 0) end);

  return query
    with offered as (
      select e.turn, ready.place, row_number() over (partition by e.turn order by ready.lane, ready.id) as nth
      from unnest(v_webhooks, v_from_ids, v_capacities) with ordinality as e (webhook_id, from_id, capacity, turn)
      cross join lateral (
        select q.* from generate_series(0, 3) as n (lane)
        cross join lateral (
          select q.ctid as place, q.lane, q.id from queue q
          where q.webhook_id = e.webhook_id and q.lane = n.lane::smallint and q.lane < 4 and q.id >= e.from_id
            and (q.lane > 0 or q.leased_until <= v_now)
          order by q.id
          limit e.capacity
          for update skip locked
        ) as q
        limit e.capacity
      ) as ready
    ), picked as (
      select row_number() over (order by o.nth, o.turn) as ordinal, o.place
      from offered o
      order by o.nth, o.turn
      limit p_limit
    ), leased as (
      update queue q set lane = 0, fence = v_fence, leased_until = v_now + p_lease_ms * interval '1 millisecond'
      from picked
      where q.ctid = picked.place
      returning picked.ordinal, q.id, q.webhook_id, q.event_seq, q.attempts
    )
    select l.id, v_fence, w.tenant_slug, w.id, w.target_url, w.secret,
      case when w.previous_secret_expires_at > v_now then w.previous_secret end,
      e.id, e.type, e.body, coalesce(jsonb_array_length(l.attempts), 0), h.webhook_id is not null, v_last
    from leased l
    join webhooks w on w.id = l.webhook_id
    join events e on e.seq = l.event_seq
    left join webhook_health h on h.webhook_id = w.id and h.revision = w.revision
    order by l.ordinal;
  if not found and v_is_cut then
    visited_until := v_last;
    return next;
  end if;
end
$$;

-- Gives leases back: their deliveries are ready at once.
create function release_v1 (p_webhooks bigint[], p_ids bigint[], p_fences bigint[]) returns void
language sql
set search_path from current
as $$
  update queue q set
    lane = case when q.is_replay then 3 when q.attempts is null then 1 else 2 end, fence = null, leased_until = null
  from (
    select held.ctid as place
    from unnest(p_webhooks, p_ids, p_fences) as lease (webhook_id, id, fence)
    join queue held on held.webhook_id = lease.webhook_id and held.lane = 0 and held.id = lease.id and held.fence = lease.fence
    where held.lane < 4
    for update of held skip locked
  ) as given
  where q.ctid = given.place
$$;

insert into migrations (name) values ('003-claim.sql');
