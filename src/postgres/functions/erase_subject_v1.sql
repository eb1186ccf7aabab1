-- Replaces the events of a subject by their tombstones, cancels their queued deliveries and removes the responses to
-- them, in the caller's transaction. Returns the number of events with that subject.
create function erase_subject_v1 (p_tenant text, p_subject text) returns integer
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_key text := coalesce((select t.key from tenants t where t.tenant = p_tenant), p_tenant);
  v_events bigint[];
begin
  select array_agg(named.seq order by named.seq) into v_events
  from (
    select e.seq from events e where e.tenant_key = v_key and e.subject = p_subject
    union
    select s.event_seq from event_subjects s where s.tenant_key = v_key and s.subject = p_subject
  ) as named;

  update events e set body = coalesce(e.tombstone, ''), filter_body = null where e.seq = any (v_events);

  with erased as (
    delete from queue q where q.event_seq = any (v_events) returning q.*
  )
  insert into deliveries (webhook_id, id, event_seq, event_type, status, created_at, ended_at, earlier, fence)
  select e.webhook_id, e.id, e.event_seq, e.event_type, 'cancelled', e.created_at, v_now, e.attempts,
    case e.lane when 0 then e.fence end
  from erased e;

  -- A response may repeat the data. This statement also sees the attempts that the previous one waited for.
  update deliveries d set
    response_excerpt = null,
    earlier = (select jsonb_agg(e.attempt - 'response_excerpt' order by e.nth) from jsonb_array_elements(d.earlier) with ordinality as e (attempt, nth))
  -- An attempt of a stopped delivery, which has a fence, may write its excerpt at the same time: waits for it.
  where d.event_seq = any (v_events) and (d.fence is not null or d.response_excerpt is not null or d.earlier @? '$[*].response_excerpt');

  return coalesce(cardinality(v_events), 0);
end
$$;
