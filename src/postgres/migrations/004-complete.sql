-- Records attempts: p_results is an array of one object for each. Never waits for a transaction of the host. Returns the
-- ordinals of results that could not be written because their delivery is locked, and whether a webhook got a verdict.
create function complete_v1 (
  p_results jsonb, p_failing_for_seconds double precision, p_failed_limit double precision,
  p_warn_after_seconds double precision, out later integer[], out has_verdict boolean
)
language plpgsql
set search_path from current
as $$
declare
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_webhooks bigint[];
  v_done integer[];
  v_noted integer[];
  v_is_delivered boolean := not p_results @? '$[*] ? (@.outcome != "delivered")';
  v_commit_setting text := current_setting('synchronous_commit');
begin
  -- If a server crash loses the completion, the deliveries are attempted again.
  perform set_config('synchronous_commit', 'off', true);

  with result as (
    select * from jsonb_to_recordset(p_results) as r (
      ordinal integer, webhook_id bigint, delivery_id bigint, fence bigint, outcome text, duration_ms integer,
      response_status integer, error text, response_excerpt text, retry_in_ms double precision
    )
  ), held as materialized (
    select r.*, q.place, q.event_seq, q.created_at, q.attempts
    from result r
    cross join lateral (
      select q.ctid as place, q.event_seq, q.created_at, q.attempts from queue q
      where q.webhook_id = r.webhook_id and q.lane = 0 and q.id = r.delivery_id and q.fence = r.fence
      limit 1
      for update skip locked
    ) as q
  ), ended as (
    delete from queue q using held h where q.ctid = h.place and h.outcome <> 'retry'
  ), logged as (
    insert into deliveries (webhook_id, id, event_seq, status, created_at, ended_at, earlier, duration_ms, response_status, error, response_excerpt)
    select h.webhook_id, h.delivery_id, h.event_seq, h.outcome, h.created_at, v_now, h.attempts, h.duration_ms,
      h.response_status, h.error, h.response_excerpt
    from held h where h.outcome <> 'retry'
  ), scheduled as (
    update queue q set
      lane = null,
      due_at = date_trunc('milliseconds', v_now + (h.retry_in_ms + 0.999) * interval '1 millisecond'),
      fence = null,
      leased_until = null,
      attempts = coalesce(h.attempts, '[]') || (jsonb_build_object(
        'started_at', to_char((v_now - h.duration_ms * interval '1 millisecond') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'duration_ms', h.duration_ms,
        'response_status', h.response_status,
        'error', h.error
      ) || case when h.response_excerpt is null then '{}' else jsonb_build_object('response_excerpt', h.response_excerpt) end)
    from held h
    where q.ctid = h.place and h.outcome = 'retry'
  )
  select array_agg(h.webhook_id), array_agg(h.ordinal) into v_webhooks, v_done from held h;

  if coalesce(cardinality(v_done), 0) < jsonb_array_length(p_results) then
    with missed as (
      select * from jsonb_to_recordset(p_results) as r (
        ordinal integer, webhook_id bigint, delivery_id bigint, fence bigint, outcome text, duration_ms integer,
        response_status integer, error text, response_excerpt text
      )
      where r.ordinal <> all (coalesce(v_done, '{}'))
    ), noted as (
      -- The delivery was stopped during the attempt.
      update deliveries d set
        status = case m.outcome when 'delivered' then 'delivered' else d.status end, ended_at = v_now,
        duration_ms = m.duration_ms, response_status = m.response_status, error = m.error, fence = null,
        -- The subject may have been erased.
        response_excerpt = case when d.status <> 'cancelled' then m.response_excerpt end
      from missed m
      where d.webhook_id = m.webhook_id and d.id = m.delivery_id and d.fence = m.fence
      returning m.ordinal
    ), locked as (
      select m.ordinal from missed m
      join queue q on q.webhook_id = m.webhook_id and q.lane = 0 and q.id = m.delivery_id and q.fence = m.fence
    )
    select (select array_agg(n.ordinal) from noted n), (select array_agg(l.ordinal) from locked l) into v_noted, later;
  end if;

  has_verdict := false;
  if v_noted is null and (v_done is null or v_is_delivered and not exists (select from webhook_health h where h.webhook_id = any (v_webhooks))) then
    return;
  end if;

  -- Changes of health run one at a time. The holder of this lock waits for no other.
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.health', 0));
  with result as (
    -- Failures before a success do not count.
    select r.*, w.tenant_slug, w.revision, r.outcome = 'delivered' as is_success,
      r.ordinal > coalesce(max(r.ordinal) filter (where r.outcome = 'delivered') over (partition by r.webhook_id), -1) as counts
    from jsonb_to_recordset(p_results) as r (
      ordinal integer, webhook_id bigint, target_url text, outcome text, response_status integer, error text,
      pause_ms double precision, is_gone boolean
    )
    join webhooks w on w.id = r.webhook_id and w.target_url = r.target_url and w.status = 'active'
    where r.ordinal = any (v_done || v_noted)
  ), summary as (
    select r.webhook_id, r.tenant_slug, r.revision,
      bool_or(r.is_success) as has_success,
      bool_or(r.counts or r.is_gone) as is_failing,
      coalesce(bool_or(r.is_gone), false) as is_gone,
      count(*) filter (where r.counts and r.outcome = 'failed' and r.ordinal = any (v_done)) as given_up,
      v_now + max(r.pause_ms) filter (where r.counts and r.pause_ms > 0) * interval '1 millisecond' as paused_until,
      (array_agg(coalesce(r.error, 'http_status') order by coalesce(r.is_gone, false), r.ordinal) filter (where not r.is_success)) as errors,
      (array_agg(r.response_status order by coalesce(r.is_gone, false), r.ordinal) filter (where not r.is_success)) as response_statuses
    from result r
    group by r.webhook_id, r.tenant_slug, r.revision
  ), healed as (
    delete from webhook_health h using summary s
    where h.webhook_id = s.webhook_id and h.revision <= s.revision and h.verdict is null and s.is_failing is not true
  ), counted as (
    select s.*, s.errors[cardinality(s.errors)] as last_error, s.response_statuses[cardinality(s.errors)] as last_response_status,
      coalesce(old.failing_since, v_now) as failing_since,
      coalesce(old.failed_deliveries, 0) + s.given_up::integer as failed_deliveries,
      coalesce(old.is_warned, false) as is_warned,
      greatest(old.paused_until, s.paused_until) as pause
    from summary s
    left join webhook_health old on old.webhook_id = s.webhook_id and old.revision = s.revision and not s.has_success
    where s.is_failing
  ), judged as (
    select c.*, case
      when c.is_gone then 'gone'
      when extract(epoch from v_now - c.failing_since) >= p_failing_for_seconds and c.failed_deliveries >= p_failed_limit then 'disabled'
      when extract(epoch from v_now - c.failing_since) >= p_warn_after_seconds and not c.is_warned then 'failing'
    end as kind
    from counted c
  ), kept as (
    insert into webhook_health as h (
      webhook_id, revision, failing_since, failed_deliveries, is_warned, paused_until, verdict, last_error, last_response_status
    )
    select j.webhook_id, j.revision, j.failing_since, j.failed_deliveries, j.is_warned or j.kind is not distinct from 'failing',
      j.pause, case when j.kind <> 'failing' then j.kind end, j.last_error, j.last_response_status
    from judged j
    on conflict (webhook_id) do update set
      revision = excluded.revision, failing_since = excluded.failing_since, failed_deliveries = excluded.failed_deliveries,
      is_warned = excluded.is_warned, paused_until = excluded.paused_until, verdict = coalesce(h.verdict, excluded.verdict),
      last_error = excluded.last_error, last_response_status = excluded.last_response_status
    where h.revision <= excluded.revision
  ), warned as (
    insert into notices (kind, tenant_slug, webhook_id, failing_since, failed_deliveries, last_error, last_response_status)
    select j.kind, j.tenant_slug, j.webhook_id, j.failing_since, j.failed_deliveries, j.last_error, j.last_response_status
    from judged j
    where j.kind = 'failing'
  )
  select coalesce(bool_or(j.kind is not null), false) into has_verdict from judged j;

  if has_verdict then
    perform set_config('synchronous_commit', v_commit_setting, true);
  end if;
end
$$;

-- Disables the webhooks with a verdict and stores notices. Locked webhooks are left for the next call. Returns the disabled
-- webhooks.
create function carry_out_verdicts_v1 () returns setof bigint
language sql
set search_path from current
as $$
  with judged as materialized (
    select h.*, w.tenant_slug, w.status = 'active' and w.revision = h.revision as is_valid
    from webhook_health h
    join webhooks w on w.id = h.webhook_id
    where h.verdict is not null
    for no key update skip locked
  ), disabled as (
    update webhooks w set
      status = 'disabled', disabled_reason = case j.verdict when 'gone' then 'gone' else 'failing' end, skip_before = nextval('delivery_ids'), updated_at = date_trunc('milliseconds', clock_timestamp())
    from judged j
    where w.id = j.webhook_id and j.is_valid
    returning w.id
  ), noticed as (
    insert into notices (kind, tenant_slug, webhook_id, failing_since, failed_deliveries, last_error, last_response_status)
    select j.verdict, j.tenant_slug, j.webhook_id, j.failing_since, j.failed_deliveries, j.last_error, j.last_response_status
    from judged j
    where j.is_valid
  ), settled as (
    update webhook_health h set verdict = null from judged j where h.webhook_id = j.webhook_id
  )
  select id from disabled
$$;

insert into migrations (name) values ('004-complete.sql');
