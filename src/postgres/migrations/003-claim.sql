-- Leases ready deliveries to a worker. Tenants take turns: a claim takes one delivery of each, then a second one of each,
-- until p_limit is reached. The deliveries of a tenant come from its webhooks in turn. It skips locked deliveries.
--
-- A claim visits webhooks from where the previous claim stopped, until 64 (or p_limit, if greater) can send. It stops
-- earlier after 256 webhooks, or after 50 ms and 16 webhooks. If it has found nothing by then, it returns one row with
-- visited_until alone, and the caller claims again.
create function claim_v1 (p_limit integer, p_per_endpoint integer, p_lease_ms double precision)
returns table (
  delivery_id bigint, fence bigint, tenant_slug text, webhook_id bigint, target_url text, secret text,
  previous_secret text, event_id text, event_type text, body text, attempt_count integer, is_failing boolean,
  visited_until bigint
)
language plpgsql
set search_path from current
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_fence bigint;
  v_start bigint;
  v_webhooks bigint[];
  v_capacities integer[];
  v_tenants bigint[];
  v_last bigint;
  v_is_cut boolean;
  v_is_empty boolean := true;
begin
  -- If a server crash loses the claim, another one follows.
  perform set_config('synchronous_commit', 'off', true);

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
  delete from marks m where m.expires_at <= v_now;
  v_fence := nextval('fences');
  select t.last_value into v_start from turns t;

  with recursive visit (visited, lap, webhook_id, capacity, found) as (
    select 0, 0, v_start, 0, 0
    union all
    select visit.visited + 1, visit.lap + (next.webhook_id is null)::integer, coalesce(next.webhook_id, 0),
      room.capacity, visit.found + (room.capacity is not null)::integer
    from visit
    cross join lateral (
      select min(m.webhook_id) as webhook_id from marks m where m.webhook_id > visit.webhook_id
    ) as marked
    left join lateral (
      select q.webhook_id from queue q
      where q.lane is not null and q.webhook_id > visit.webhook_id
        and q.webhook_id < coalesce(marked.webhook_id, 9223372036854775807)
      order by q.webhook_id, q.lane, q.id
      limit 1
    ) as ready on true
    cross join lateral (select coalesce(ready.webhook_id, marked.webhook_id) as webhook_id) as next
    left join lateral (
      select free.capacity
      from webhooks w
      left join webhook_health h on h.webhook_id = w.id and h.revision = w.revision
      left join marks m on m.webhook_id = w.id
      cross join lateral (
        select p_per_endpoint - count(*)::integer as capacity from queue q
        where q.webhook_id = w.id and q.lane = 0 and q.id >= coalesce(m.first_leased, 0) and q.leased_until > v_now
      ) as free
      where w.id = next.webhook_id and w.status = 'active' and h.verdict is null
        and (h.paused_until is null or h.paused_until <= v_now) and free.capacity > 0
      limit 1
    ) as room on true
    where visit.visited < 256 and visit.found < greatest(p_limit, 64)
      and (visit.visited < 16 or clock_timestamp() - v_now < interval '50 milliseconds')
      and case visit.lap when 0 then true else next.webhook_id <= v_start end
  ), able as (
    select w.id as webhook_id, v.capacity, dense_rank() over (order by w.tenant_slug) as tenant,
      row_number() over (partition by w.tenant_slug order by w.id) as webhook,
      count(*) over (partition by w.tenant_slug) as webhooks
    from visit v
    join webhooks w on w.id = v.webhook_id
    where v.capacity > 0
  ), sorted as (
    -- Each claim begins with the next tenant and, after a round of tenants, with the next webhook of each.
    select a.webhook_id, a.capacity, (a.tenant + v_fence) % t.tenants as tenant,
      row_number() over (order by (a.webhook + v_fence / t.tenants) % a.webhooks, (a.tenant + v_fence) % t.tenants) as turn
    from able a
    cross join (select max(a.tenant) as tenants from able a) as t
  )
  select array_agg(s.webhook_id order by s.turn), array_agg(s.capacity order by s.turn), array_agg(s.tenant order by s.turn),
    (select v.webhook_id from visit v order by v.visited desc limit 1),
    (select max(v.visited) = 256 or max(v.found) >= greatest(p_limit, 64) from visit v)
      or clock_timestamp() - v_now >= interval '50 milliseconds'
  into v_webhooks, v_capacities, v_tenants, v_last, v_is_cut
  from sorted s;
  if v_is_cut then
    perform setval('turns', v_last);
  end if;

  -- More than one round only if another transaction has locked the deliveries of the first webhooks.
  for v_from in 1 .. coalesce(cardinality(v_webhooks), 0) by greatest(p_limit, 1) loop
    return query
      with offered as (
        select e.tenant, e.turn, ready.place, row_number() over (partition by e.turn order by ready.lane, ready.id) as nth
        from unnest(
          v_webhooks[v_from:v_from + p_limit - 1], v_capacities[v_from:v_from + p_limit - 1], v_tenants[v_from:v_from + p_limit - 1]
        ) with ordinality as e (webhook_id, capacity, tenant, turn)
        join webhooks w on w.id = e.webhook_id
        left join marks m on m.webhook_id = e.webhook_id
        cross join lateral (
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
        select o.*, row_number() over (partition by o.tenant order by o.nth, o.turn) as rank from offered o
      ), picked as (
        select row_number() over (order by r.rank, r.tenant) as ordinal, r.place
        from ranked r
        order by r.rank, r.tenant
        limit p_limit
      ), leased as (
        update queue q set lane = 0, fence = v_fence, leased_until = v_now + p_lease_ms * interval '1 millisecond'
        from picked
        where q.ctid = picked.place
        returning picked.ordinal, q.id, q.webhook_id, q.event_seq, q.attempts
      ), lowered as (
        update marks m set first_leased = least(m.first_leased, first.id)
        from (select l.webhook_id, min(l.id) as id from leased l group by l.webhook_id) as first
        where m.webhook_id = first.webhook_id
      )
      select l.id, v_fence, w.tenant_slug, w.id, w.target_url, w.secret,
        case when w.previous_secret_expires_at > v_now then w.previous_secret end,
        e.id, e.type, e.body, coalesce(jsonb_array_length(l.attempts), 0), h.webhook_id is not null, v_last
      from leased l
      join webhooks w on w.id = l.webhook_id
      join events e on e.seq = l.event_seq
      left join webhook_health h on h.webhook_id = w.id and h.revision = w.revision
      order by l.ordinal;
    v_is_empty := not found;
    exit when not v_is_empty;
  end loop;
  if v_is_empty and v_is_cut then
    visited_until := v_last;
    return next;
  end if;
  if clock_timestamp() - v_now > interval '20 milliseconds' then
    perform mark_v1(v_start, v_last);
  end if;
end
$$;

-- Marks webhooks whose queue begins with many deleted rows, among those visited by a claim that began after p_after and
-- stopped at p_until. The caller holds the lock of claims.
create function mark_v1 (p_after bigint, p_until bigint) returns void
language plpgsql
set search_path from current
as $$
declare
  v_started timestamptz := clock_timestamp();
  v_next_id bigint := nextval('delivery_ids');
  v_webhook bigint;
  v_searched timestamptz;
  v_shortest interval;
  v_first_leased bigint;
  v_first_fresh bigint;
begin
  for v_webhook in
    select w.id from webhooks w
    where case when p_after < p_until then w.id > p_after and w.id <= p_until else w.id > p_after or w.id <= p_until end
      and not exists (select from marks m where m.webhook_id = w.id)
    order by w.id <= p_after, w.id
  loop
    -- The shorter of two searches counts: on a busy machine one may wait for the processor.
    v_shortest := '1 hour';
    for v_search in 1..2 loop
      v_searched := clock_timestamp();
      select q.id into v_first_leased from queue q where q.webhook_id = v_webhook and q.lane = 0 order by q.id limit 1;
      select q.id into v_first_fresh from queue q where q.webhook_id = v_webhook and q.lane = 1 order by q.id limit 1;
      v_shortest := least(v_shortest, clock_timestamp() - v_searched);
    end loop;
    if v_shortest > interval '1 millisecond' then
      insert into marks (webhook_id, first_leased, first_fresh, expires_at)
      values (v_webhook, coalesce(v_first_leased, v_next_id), coalesce(v_first_fresh, v_next_id), v_started + interval '10 seconds');
    end if;
    exit when clock_timestamp() - v_started > interval '100 milliseconds';
  end loop;
end
$$;

-- Releases leases. Their deliveries are ready at once.
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
    for update of held skip locked
  ) as given
  where q.ctid = given.place
$$;

insert into migrations (name) values ('003-claim.sql');
