-- Sets aside up to p_limit ready deliveries of a paused webhook. The caller holds the lock of claims.
create function set_aside_v1 (p_webhook bigint, p_limit integer) returns void
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_until timestamptz;
begin
  -- What ends the pause early changes one of these rows, and then the row in paused_webhooks: it waits for this, or
  -- this does nothing.
  select h.paused_until into v_until
  from webhooks w
  join webhook_health h on h.webhook_id = w.id and h.revision = w.revision
  where w.id = p_webhook and w.status = 'active' and h.paused_until > clock_timestamp()
  for share skip locked;
  if not found then
    return;
  end if;

  insert into paused_webhooks as p (webhook_id, until) values (p_webhook, v_until)
  on conflict (webhook_id) do update set until = excluded.until where p.until <> excluded.until;
  update queue q set lane = null, paused_lane = q.lane
  where q.ctid = any (array(
    -- As in lease_v1.
    select ready.place
    from (
      values (1, (select m.first_fresh from marks m where m.webhook_id = p_webhook)), (2, null), (3, null)
    ) as begin (lane, id)
    cross join lateral (
      select q.ctid as place from queue q
      where q.webhook_id = p_webhook and q.lane = begin.lane::smallint and q.id >= coalesce(begin.id, 0)
      order by q.id
      limit p_limit
      for update skip locked
    ) as ready
    limit p_limit
  ));
end
$$;
