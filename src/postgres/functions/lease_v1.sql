-- Leases up to p_limit ready deliveries of these webhooks, of each up to its capacity. Tenants take turns: one
-- delivery of each, then a second one of each. The deliveries of a tenant come from its webhooks in turn. Skips
-- locked deliveries. The caller holds the lock of claims.
create function lease_v1 (
  p_webhooks bigint[], p_capacities integer[], p_tenants text[], p_limit integer, p_lease_ms double precision
)
returns table (
  delivery_id bigint, fence bigint, tenant text, tenant_slug text, webhook_id bigint, target_url text, secret text,
  previous_secret text, headers text, event_id text, event_type text, body text, trace_parent text, attempt_count integer,
  is_failing boolean
)
language plpgsql
set search_path from current
set jit to off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := clock_timestamp();
  v_fence bigint := nextval('fences');
  v_left integer := p_limit;
  v_leased integer;
  v_webhooks bigint[];
  v_capacities integer[];
  v_turns integer[];
begin
  -- Each claim begins with the next tenant and, after a round of tenants, with the next webhook of each.
  with visited as (
    select v.*, dense_rank() over (order by v.tenant) as tenant_place, count(*) over (partition by v.tenant) as webhooks,
      row_number() over (partition by v.tenant order by v.webhook_id) as webhook_place
    from unnest(p_webhooks, p_capacities, p_tenants) as v (webhook_id, capacity, tenant)
  ), rotated as (
    select v.webhook_id, v.capacity, (v.tenant_place + v_fence) % t.tenants as tenant_turn,
      (v.webhook_place + v_fence / t.tenants) % v.webhooks as webhook_turn
    from visited v, (select max(v.tenant_place) as tenants from visited v) as t
  )
  select array_agg(r.webhook_id order by r.webhook_turn, r.tenant_turn),
    array_agg(r.capacity order by r.webhook_turn, r.tenant_turn),
    array_agg(r.tenant_turn order by r.webhook_turn, r.tenant_turn)
  into v_webhooks, v_capacities, v_turns
  from rotated r;

  -- More than one round only if the first webhooks have fewer deliveries: others are leased, or locked by another
  -- transaction.
  for v_from in 1 .. cardinality(v_webhooks) by greatest(p_limit, 1) loop
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
        e.id, e.type, e.body, e.trace_parent, coalesce(jsonb_array_length(l.attempts), 0), h.webhook_id is not null
      from leased l
      join webhooks w on w.id = l.webhook_id
      join events e on e.seq = l.event_seq
      left join webhook_health h on h.webhook_id = w.id and h.revision = w.revision
      order by l.ordinal;
    get diagnostics v_leased = row_count;
    v_left := v_left - v_leased;
    exit when v_left = 0;
  end loop;
end
$$;
