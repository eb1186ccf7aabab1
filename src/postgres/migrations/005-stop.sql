-- Moves stopped deliveries of a webhook to the log: those below its skip_before, or all if it was deleted. Takes up to
-- p_limit scheduled deliveries, and as many others. Skips locked deliveries. Returns the number of moved deliveries.
create function sweep_v1 (p_webhook bigint, p_limit integer) returns integer
language plpgsql
set search_path from current
as $$
declare
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_before bigint;
  v_count integer;
begin
  select w.skip_before into v_before from webhooks w where w.id = p_webhook;

  with stopped as (
    delete from queue q
    where q.ctid = any (array(
      select q.ctid from queue q
      where q.webhook_id = p_webhook and q.lane is not null and (v_before is null or q.id < v_before)
      limit p_limit
      for update skip locked
    ) || array(
      select q.ctid from queue q
      where q.webhook_id = p_webhook and q.lane is null and (v_before is null or q.id < v_before)
      limit p_limit
      for update skip locked
    ))
    returning q.*
  )
  insert into deliveries (webhook_id, id, event_seq, status, created_at, ended_at, earlier, fence)
  select s.webhook_id, s.id, s.event_seq, case when v_before is null then 'cancelled' else 'skipped' end, s.created_at, v_now,
    s.attempts, case s.lane when 0 then s.fence end
  from stopped s;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;

-- Stops deliveries that were queued while their webhook was deactivated. Returns the webhooks that have stopped deliveries
-- in the queue.
create function find_stopped_v1 () returns setof bigint
language plpgsql
set search_path from current
as $$
declare
  v_webhooks bigint[];
begin
  with recursive queued (id) as (
    select 0::bigint
    union all
    select least(ready.webhook_id, scheduled.webhook_id)
    from queued
    left join lateral (
      select q.webhook_id from queue q where q.lane is not null and q.webhook_id > queued.id
      order by q.webhook_id, q.lane, q.id limit 1
    ) as ready on true
    left join lateral (
      select q.webhook_id from queue q where q.lane is null and q.webhook_id > queued.id order by q.webhook_id, q.id limit 1
    ) as scheduled on true
    where queued.id is not null
  )
  select array_agg(e.id) into v_webhooks
  from queued e
  left join webhooks w on w.id = e.id
  where e.id > 0 and (w.id is null or w.status <> 'active'
    or exists (select from queue q where q.webhook_id = e.id and q.lane is not null and q.id < w.skip_before)
    or exists (select from queue q where q.webhook_id = e.id and q.lane is null and q.id < w.skip_before));

  update webhooks w set skip_before = nextval('delivery_ids')
  where w.id = any (array(
    select stopped.id from webhooks stopped
    where stopped.id = any (v_webhooks) and stopped.status <> 'active'
    for no key update skip locked
  ));
  return query select unnest(v_webhooks);
end
$$;

-- Replaces the events of a subject by their tombstones, cancels their queued deliveries and removes the responses to them, in
-- the caller's transaction.
-- Returns the number of events with that subject.
create function erase_subject_v1 (p_tenant text, p_subject text) returns integer
language plpgsql
set search_path from current
as $$
declare
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_events bigint[];
begin
  select array_agg(e.seq order by e.seq) into v_events
  from events e
  where e.tenant_id = (select t.id from tenants t where t.slug = p_tenant) and e.subject = p_subject;

  update events e set body = coalesce(e.tombstone, '') where e.seq = any (v_events);

  with erased as (
    delete from queue q where q.event_seq = any (v_events) returning q.*
  )
  insert into deliveries (webhook_id, id, event_seq, status, created_at, ended_at, earlier, fence)
  select e.webhook_id, e.id, e.event_seq, 'cancelled', e.created_at, v_now, e.attempts, case e.lane when 0 then e.fence end
  from erased e;

  -- A response may repeat the data. This statement also sees the attempts that the previous one waited for.
  update deliveries d set
    response_excerpt = null,
    earlier = (select jsonb_agg(e.attempt - 'response_excerpt' order by e.nth) from jsonb_array_elements(d.earlier) with ordinality as e (attempt, nth))
  where d.event_seq = any (v_events) and (d.response_excerpt is not null or d.earlier @? '$[*].response_excerpt');

  return coalesce(cardinality(v_events), 0);
end
$$;

insert into migrations (name) values ('005-stop.sql');
