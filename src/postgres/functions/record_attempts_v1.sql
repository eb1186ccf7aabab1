-- Records attempts: p_results is an array of one object for each. Never waits for a transaction of the host. Returns
-- the ordinals of results that could not be written because their delivery is locked, and whether a webhook got a
-- verdict.
create function record_attempts_v1 (
  p_results jsonb, p_failing_for_seconds double precision, p_failed_limit double precision,
  p_warn_after_seconds double precision, out later integer[], out has_verdict boolean
)
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_webhooks bigint[];
  v_done integer[];
  v_noted integer[];
  v_commit_setting text := current_setting('synchronous_commit');
begin
  -- If a server crash loses the completion, the deliveries are attempted again.
  perform set_config('synchronous_commit', 'off', true);

  with result as (
    select * from jsonb_to_recordset(p_results) as r (
      ordinal integer, webhook_id bigint, delivery_id bigint, fence bigint, outcome text, duration_ms integer,
      response_status integer, error text, response_excerpt text, retry_in_ms double precision
    )
  ), leased as materialized (
    -- One search for each lease, whatever the planner believes about the size of the queue.
    select r.*, q.place, q.event_seq, q.event_type, q.created_at, q.attempts
    from result r
    cross join lateral (
      select q.ctid as place, q.event_seq, q.event_type, q.created_at, q.attempts from queue q
      where q.webhook_id = r.webhook_id and q.lane = 0 and q.id = r.delivery_id and q.fence = r.fence
      limit 1
      for update skip locked
    ) as q
  ), kept as materialized (
    -- Excerpts are kept for events that are not erased. An open erase, which may not see this delivery, has locked
    -- its events. A later one waits, and sees it.
    select event.seq from leased l
    cross join lateral (
      select e.seq from events e
      where e.seq = l.event_seq and e.body <> coalesce(e.tombstone, '')
      limit 1
      for share skip locked
    ) as event
    where l.response_excerpt is not null
  ), ended as (
    delete from queue q using leased l where q.ctid = l.place and l.outcome <> 'retry'
  ), logged as (
    insert into deliveries (
      webhook_id, id, event_seq, event_type, status, created_at, ended_at, earlier, duration_ms, response_status, error, response_excerpt
    )
    select l.webhook_id, l.delivery_id, l.event_seq, l.event_type, l.outcome, l.created_at, v_now, l.attempts, l.duration_ms,
      l.response_status, l.error, case when l.event_seq in (select k.seq from kept k) then l.response_excerpt end
    from leased l where l.outcome <> 'retry'
  ), scheduled as (
    update queue q set
      lane = null,
      due_at = date_trunc('milliseconds', v_now + (l.retry_in_ms + 0.999) * interval '1 millisecond'),
      fence = null,
      leased_until = null,
      attempts = coalesce(l.attempts, '[]') || (jsonb_build_object(
        'started_at', to_char((v_now - l.duration_ms * interval '1 millisecond') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'duration_ms', l.duration_ms,
        'response_status', l.response_status,
        'error', l.error
      ) || case when l.response_excerpt is not null and l.event_seq in (select k.seq from kept k)
        then jsonb_build_object('response_excerpt', l.response_excerpt) else '{}' end)
    from leased l
    where q.ctid = l.place and l.outcome = 'retry'
  )
  select array_agg(l.webhook_id), array_agg(l.ordinal) into v_webhooks, v_done from leased l;

  if coalesce(cardinality(v_done), 0) < jsonb_array_length(p_results) then
    with missed as (
      select * from jsonb_to_recordset(p_results) as r (
        ordinal integer, webhook_id bigint, delivery_id bigint, fence bigint, outcome text, duration_ms integer,
        response_status integer, error text, response_excerpt text
      )
      where r.ordinal <> all (coalesce(v_done, '{}'))
    ), stopped as (
      -- The delivery was stopped during the attempt.
      select m.ordinal from missed m
      join deliveries d on d.webhook_id = m.webhook_id and d.id = m.delivery_id and d.fence = m.fence
      for update of d skip locked
    ), noted as (
      update deliveries d set
        status = case m.outcome when 'delivered' then 'delivered' else d.status end, ended_at = v_now,
        duration_ms = m.duration_ms, response_status = m.response_status, error = m.error, fence = null,
        -- The subject may have been erased.
        response_excerpt = case when d.status <> 'cancelled'
          and exists (select from events e where e.seq = d.event_seq and e.body <> coalesce(e.tombstone, '')) then m.response_excerpt end
      from missed m
      join stopped s on s.ordinal = m.ordinal
      where d.webhook_id = m.webhook_id and d.id = m.delivery_id
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

  -- Successes of healthy webhooks change no health.
  has_verdict := false;
  if v_noted is not null or p_results @? '$[*] ? (@.outcome != "delivered")'
    or exists (select from webhook_health h where h.webhook_id = any (v_webhooks))
  then
    has_verdict := record_health_v1(p_results, v_done, v_noted, v_now, p_failing_for_seconds, p_failed_limit, p_warn_after_seconds);
  end if;
  if has_verdict then
    perform set_config('synchronous_commit', v_commit_setting, true);
  end if;
end
$$;
