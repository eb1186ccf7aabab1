-- Stops deliveries that were queued while their webhook was deactivated. Returns the webhooks that have stopped deliveries
-- in the queue.
create function find_stopped_v1 () returns setof bigint
language plpgsql
set search_path from current
as $$
declare
  v_webhook bigint := 0;
  v_ready bigint;
  v_scheduled bigint;
  v_stopped bigint[] := '{}';
begin
  loop
    -- The next webhook in the queue. The order is that of an index, so each search reads one entry.
    select q.webhook_id into v_ready from queue q where q.lane is not null and q.webhook_id > v_webhook
    order by q.webhook_id, q.lane, q.id limit 1;
    select q.webhook_id into v_scheduled from queue q where q.lane is null and q.webhook_id > v_webhook
    order by q.webhook_id, q.id limit 1;
    v_webhook := least(v_ready, v_scheduled);
    exit when v_webhook is null;

    if not exists (
      select from webhooks w
      where w.id = v_webhook and w.status = 'active'
        and not exists (select from queue q where q.webhook_id = w.id and q.lane is not null and q.id < w.skip_before)
        and not exists (select from queue q where q.webhook_id = w.id and q.lane is null and q.id < w.skip_before)
    ) then
      v_stopped := v_stopped || v_webhook;
    end if;
  end loop;

  update webhooks w set skip_before = nextval('delivery_ids')
  where w.id = any (array(
    select stopped.id from webhooks stopped
    where stopped.id = any (v_stopped) and stopped.status <> 'active'
    for no key update skip locked
  ));
  return query select unnest(v_stopped);
end
$$;
