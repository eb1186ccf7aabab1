-- Visits the webhooks with ready deliveries, by ascending id, from where the previous call stopped, until p_wanted
-- can send or all were visited. Stops earlier after 50 ms, or after 500 ms if none can send so far; the next call
-- continues there.
--
-- Deliveries of webhooks that cannot send leave the ready ones: those of paused webhooks are set aside, stopped ones
-- move to the log, and has_moved tells so. So each of them costs one visit. The caller holds the lock of claims.
create function choose_webhooks_v1 (
  p_wanted integer, p_per_endpoint integer,
  out chosen bigint[], out capacities integer[], out tenants text[], out start_after bigint, out stopped_at bigint,
  out has_moved boolean
)
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_visited integer := 0;
  v_has_wrapped boolean := false;
  v_marked bigint;
  v_resumed bigint;
  v_next bigint;
  v_first bigint;
  v_webhook record;
begin
  chosen := '{}';
  capacities := '{}';
  tenants := '{}';
  has_moved := false;
  select t.last_value into start_after from turns t;
  stopped_at := start_after;

  loop
    -- The next webhook that has ready deliveries. Marked webhooks are visited in any case: a search would read the
    -- deleted rows at the beginning of their queues. The order is that of the index, so each search reads one entry.
    select m.webhook_id into v_marked from marks m where m.webhook_id > stopped_at order by m.webhook_id limit 1;
    select p.webhook_id into v_resumed from paused_webhooks p
    where p.until = '-infinity' and p.webhook_id > stopped_at order by p.webhook_id limit 1;
    select q.webhook_id, q.id into v_next, v_first from queue q
    where q.lane is not null and q.webhook_id > stopped_at
      and q.webhook_id < coalesce(least(v_marked, v_resumed), 9223372036854775807)
    order by q.webhook_id, q.lane, q.id
    limit 1;
    v_next := coalesce(v_next, least(v_marked, v_resumed));

    if v_has_wrapped and (v_next is null or v_next > start_after) then
      return;
    elsif v_next is null then
      v_has_wrapped := true;
      stopped_at := 0;
      continue;
    end if;
    stopped_at := v_next;
    v_visited := v_visited + 1;

    select w.tenant, w.status = 'active' as is_active, w.skip_before, h.verdict, h.paused_until > v_now as is_paused,
      p_per_endpoint - leased.count as capacity
    into v_webhook
    from webhooks w
    left join webhook_health h on h.webhook_id = w.id and h.revision = w.revision
    left join marks m on m.webhook_id = w.id
    cross join lateral (
      select count(*)::integer from queue q
      where q.webhook_id = w.id and q.lane = 0 and q.id >= coalesce(m.first_leased, 0) and q.leased_until > v_now
    ) as leased
    where w.id = v_next;

    if v_webhook.is_active is not true or v_first < v_webhook.skip_before then
      perform sweep_v1(v_next, 100);
      has_moved := true;
    end if;
    if v_webhook.is_active is not true then
      if v_next = v_resumed then
        perform take_back_v1(v_next, 0);
      end if;
    elsif v_webhook.is_paused then
      perform set_aside_v1(v_next, 100);
      has_moved := true;
    elsif v_webhook.verdict is null and v_webhook.capacity > 0 then
      if v_next = v_resumed then
        perform take_back_v1(v_next, v_webhook.capacity);
      end if;
      chosen := chosen || v_next;
      capacities := capacities || v_webhook.capacity;
      tenants := tenants || v_webhook.tenant;
    end if;

    exit when cardinality(chosen) >= p_wanted;
    exit when v_visited >= 16
      and clock_timestamp() - v_now > case when chosen = '{}' then interval '500 milliseconds' else interval '50 milliseconds' end;
  end loop;
  perform setval('turns', stopped_at);
end
$$;
