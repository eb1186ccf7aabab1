-- Returns whether a subscription has not expired, and its principal's API key, if it is one, is valid.
create or replace function is_live_v1 (p_expires_at timestamptz, p_key_id text) returns boolean
language sql
stable
set search_path from current
set jit to off
as $$
  select p_expires_at > clock_timestamp() and (p_key_id is null or exists (
    select from api_keys k
    where k.id = p_key_id and k.revoked_at is null
      and coalesce(least(k.expires_at, k.replaced_at) > clock_timestamp(), true)
  ))
$$;

-- Returns the position in the feed before a subscription's oldest pending event; without one, the end of what fill_v1
-- has read. The callback acknowledged each matching event up to it, or the event was given up.
create or replace function watermark_v1 (p_webhook bigint) returns text
language sql
stable
set search_path from current
set jit to off
as $$
  select least(
    w.position,
    (select min(q.event_seq) - 1 from queue q where q.webhook_id = w.id and q.lane is not null),
    (select min(q.event_seq) - 1 from queue q where q.webhook_id = w.id and q.lane is null)
  ) || '.' || b.epoch
  from webhooks w cross join lateral feed_bounds_v1(w.tenant, 0) as b
  where w.id = p_webhook
$$;

-- Returns up to p_limit as the number of a subscription's pending deliveries.
create or replace function count_pending_v1 (p_webhook bigint, p_limit integer) returns integer
language sql
stable
set search_path from current
set jit to off
as $$
  select count(*)::integer from (
    (select from queue q where q.webhook_id = p_webhook and q.lane is not null limit p_limit)
    union all
    (select from queue q where q.webhook_id = p_webhook and q.lane is null limit p_limit)
    limit p_limit
  ) as pending
$$;

-- Lists the subscriptions that fill_v1 visits, in the order of their turns: those with events up to p_bound that they
-- have not read and fewer than p_window pending deliveries, and once an hour the others, so that their positions stay
-- after pruned events. Tenants take turns, then the subscriptions of each tenant. unread is null without such events.
create or replace function open_subscriptions_v1 (p_bound bigint, p_window integer)
returns table (id bigint, unread bigint)
language sql
stable
set search_path from current
set enable_seqscan to off
set jit to off
as $$
  with live as materialized (
    select w.id, w.tenant, w.position, w.filled_at, coalesce(t.key, w.tenant) as key
    from webhooks w left join tenants t on t.tenant = w.tenant
    where w.subscription_id is not null and not w.is_suspended
  ), latest as materialized (
    select k.key, (
      select e.seq from events e where e.tenant_key = any (array[k.key]) and e.seq <= p_bound
      order by e.tenant_key desc, e.seq desc limit 1
    ) as seq
    from (select distinct l.key from live l) as k
  ), visited as (
    select l.*, case when t.seq > l.position then t.seq end as unread
    from live l left join latest t on t.key = l.key
    where t.seq > l.position or l.filled_at < clock_timestamp() - interval '1 hour'
  )
  select v.id, v.unread from visited v
  where count_pending_v1(v.id, p_window) < p_window
  order by row_number() over (partition by v.tenant order by v.filled_at, v.id), v.filled_at, v.id
$$;

-- Moves events from the feed to the queues of subscriptions: up to p_limit deliveries in all, and up to p_window
-- pending ones of each subscription. Moves each position past the events that were read. Waits only for a transaction
-- that prunes. Returns the number of new deliveries, whether another call would move more now, and the
-- subscriptions whose position was before pruned events.
create or replace function fill_v1 (
  p_limit integer, p_window integer, p_environment text, out queued integer, out has_more boolean, out gaps bigint[]
)
language plpgsql
set search_path from current
set enable_seqscan to off
set jit to off
as $$
declare
  v_read constant integer := 1000;
  v_left integer := 10 * v_read;
  -- No open transaction can commit an event up to this number. Later statements see all of them.
  v_bound bigint := (select recorded.bound from recorded_to_v1('events_seq_seq'::regclass) as recorded);
  v_end bigint;
  v_pruned bigint;
  v_webhook bigint;
  v_agent webhooks;
  v_free integer;
  v_found record;
begin
  queued := 0;
  has_more := false;
  gaps := '{}';
  if v_bound is null or exists (select from find_hold_v1(p_environment)) then
    return;
  end if;
  v_pruned := (select s.pruned_event_seq from change_state s);
  -- A committed event's number is on disk: after a crash, the sequence continues after it.
  v_end := greatest(v_pruned, (select e.seq from events e where e.seq <= v_bound order by e.seq desc limit 1));

  for v_webhook in select o.id from open_subscriptions_v1(v_bound, p_window) as o loop
    if queued >= p_limit or v_left <= 0 then
      has_more := true;
      exit;
    end if;
    select w.* into v_agent from webhooks w
    where w.id = v_webhook and is_live_v1(w.expires_at, w.key_id)
    for no key update skip locked;
    continue when not found;
    v_free := least(p_window - count_pending_v1(v_webhook, p_window), p_limit - queued);
    continue when v_free <= 0;
    if v_agent.position < v_pruned then
      v_agent.position := v_pruned;
      gaps := gaps || v_webhook;
    end if;

    with read as materialized (
      select e.seq, e.type from events e
      where e.tenant_key = any (array[
          coalesce((select t.key from tenants t where t.tenant = v_agent.tenant), v_agent.tenant)
        ])
        and e.seq > v_agent.position and e.seq <= v_bound
      order by e.tenant_key, e.seq
      limit v_read
    ), matching as materialized (
      select event.seq, r.type from read r
      cross join lateral (
        select e.seq from events e
        where e.seq = r.seq and e.body <> coalesce(e.tombstone, '')
          and case when v_agent.filter_path is null then true
            else event_json_v1(coalesce(e.filter_body, e.body)) @@ v_agent.filter_path end
        limit 1
        -- Keeps it from being pruned until this commits.
        for key share of e
      ) as event
      where r.type = any (v_agent.event_types)
      order by r.seq
      limit v_free
    ), added as (
      insert into queue (event_seq, webhook_id, event_type, lane, due_at, created_at)
      select m.seq, v_webhook, m.type, 1, moment, moment
      from matching m, date_trunc('milliseconds', clock_timestamp()) as moment
      order by m.seq
      on conflict (event_seq, webhook_id) do nothing
    )
    select (select count(*) from read) as read, (select max(r.seq) from read r) as last_read,
      (select count(*) from matching) as matching, (select max(m.seq) from matching m) as last_matching
    into v_found;

    v_left := v_left - v_found.read;
    queued := queued + v_found.matching;
    has_more := has_more or v_found.read = v_read or (v_found.matching = v_free and queued >= p_limit);
    update webhooks w set
      filled_at = clock_timestamp(),
      position = case
        when v_found.matching = v_free then v_found.last_matching
        when v_found.read = v_read then v_found.last_read
        else greatest(v_agent.position, v_end)
      end
    where w.id = v_webhook;
  end loop;
end
$$;
