-- Updates the health of webhooks after attempts: a success clears failures, a failure adds one. A webhook that has
-- failed for too long, or is gone, gets a verdict, and disable_failing_webhooks_v1 disables it. p_done contains
-- the ordinals of recorded results in p_results; p_noted those of deliveries stopped during the attempt. Returns
-- whether there is a verdict or a warning.
create or replace function record_health_v1 (
  p_results jsonb, p_done integer[], p_noted integer[], p_now timestamptz, p_failing_for_seconds double precision,
  p_failed_limit double precision, p_warn_after_seconds double precision, p_event_types text[], out has_verdict boolean
)
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_warned bigint[];
begin
  has_verdict := false;
  if p_done is null and p_noted is null then
    return;
  end if;

  -- Health changes run one at a time. The holder of this lock waits for no other.
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.health', 0));
  with result as (
    -- Failures before a success do not count.
    select r.*, w.tenant, w.tenant_slug, w.revision, w.subscription_id is null as is_webhook,
      r.outcome = 'delivered' as is_success,
      r.ordinal > coalesce(
        max(r.ordinal) filter (where r.outcome = 'delivered') over (partition by r.webhook_id), -1
      ) as counts
    from jsonb_to_recordset(p_results) as r (
      ordinal integer, webhook_id bigint, target_url text, outcome text, response_status integer, error text,
      detail text, pause_ms double precision, is_gone boolean
    )
    join webhooks w on w.id = r.webhook_id and w.target_url = r.target_url and w.status = 'active'
    where r.ordinal = any (p_done || p_noted) and r.outcome <> 'postponed'
  ), summary as (
    select r.webhook_id, r.tenant, r.tenant_slug, r.revision, r.is_webhook,
      bool_or(r.is_success) as has_success,
      bool_or(r.counts or r.is_gone) as is_failing,
      coalesce(bool_or(r.is_gone), false) and r.is_webhook as is_gone,
      count(*) filter (where r.counts and r.outcome = 'failed' and r.ordinal = any (p_done)) as given_up,
      p_now + max(r.pause_ms) filter (where r.counts and r.pause_ms > 0) * interval '1 millisecond' as paused_until,
      (array_agg(coalesce(r.error, 'http_status') order by coalesce(r.is_gone, false), r.ordinal)
        filter (where not r.is_success or r.is_gone)) as errors,
      (array_agg(r.detail order by coalesce(r.is_gone, false), r.ordinal)
        filter (where not r.is_success or r.is_gone)) as details,
      (array_agg(r.response_status order by coalesce(r.is_gone, false), r.ordinal)
        filter (where not r.is_success or r.is_gone)) as response_statuses
    from result r
    group by r.webhook_id, r.tenant, r.tenant_slug, r.revision, r.is_webhook
  ), healed as (
    delete from webhook_health h using summary s
    where h.webhook_id = s.webhook_id and h.revision <= s.revision and h.verdict is null and s.is_failing is not true
  ), counted as (
    select s.*, s.errors[cardinality(s.errors)] as last_error,
      s.details[cardinality(s.errors)] as last_detail,
      s.response_statuses[cardinality(s.errors)] as last_response_status,
      coalesce(old.failing_since, p_now) as failing_since,
      coalesce(old.failed_deliveries, 0) + s.given_up::integer as failed_deliveries,
      coalesce(old.is_warned, false) as is_warned,
      greatest(old.paused_until, s.paused_until) as pause
    from summary s
    left join webhook_health old on old.webhook_id = s.webhook_id and old.revision = s.revision and not s.has_success
    where s.is_failing
  ), warnable as materialized (
    -- An open transaction that renames or removes the tenant has locked its webhooks, and would miss the notice. The
    -- next failure then warns.
    select webhook.* from counted c
    cross join lateral (
      select w.id, w.tenant, w.tenant_slug, w.contact from webhooks w where w.id = c.webhook_id
      limit 1 for key share skip locked
    ) as webhook
    where c.is_webhook and not c.is_warned and extract(epoch from p_now - c.failing_since) >= p_warn_after_seconds
  ), judged as (
    select c.*, case
      when not c.is_webhook then null
      when c.is_gone then 'gone'
      when extract(epoch from p_now - c.failing_since) >= p_failing_for_seconds
        and c.failed_deliveries >= p_failed_limit then 'disabled'
      when c.webhook_id in (select w.id from warnable w) then 'failing'
    end as kind
    from counted c
  ), kept as (
    insert into webhook_health as h (
      webhook_id, revision, failing_since, failed_deliveries, is_warned, paused_until, verdict, last_error,
      last_detail, last_response_status
    )
    select j.webhook_id, j.revision, j.failing_since, j.failed_deliveries,
      j.is_warned or j.kind is not distinct from 'failing',
      j.pause, case when j.kind <> 'failing' then j.kind end, j.last_error,
      j.last_detail, j.last_response_status
    from judged j
    on conflict (webhook_id) do update set
      revision = excluded.revision, failing_since = excluded.failing_since,
      failed_deliveries = excluded.failed_deliveries,
      is_warned = excluded.is_warned, paused_until = excluded.paused_until,
      verdict = coalesce(case when h.revision = excluded.revision then h.verdict end, excluded.verdict),
      last_error = excluded.last_error, last_detail = excluded.last_detail,
      last_response_status = excluded.last_response_status
    where h.revision <= excluded.revision
  ), warned as (
    insert into notices (
      kind, tenant, tenant_slug, webhook_id, failing_since, failed_deliveries, last_error, last_detail,
      last_response_status, contact
    )
    select j.kind, w.tenant, w.tenant_slug, j.webhook_id, j.failing_since, j.failed_deliveries, j.last_error,
      j.last_detail, j.last_response_status, w.contact
    from judged j join warnable w on w.id = j.webhook_id
    where j.kind = 'failing'
  )
  select coalesce(bool_or(j.kind is not null), false), array_agg(j.webhook_id) filter (where j.kind = 'failing')
    into has_verdict, v_warned from judged j;
  if v_warned is not null and 'webhook.failing' = any (p_event_types) then
    perform record_health_events_v1('webhook.failing', v_warned);
  end if;

  -- Ends pauses early. A separate statement, so that it sees deliveries that a claim set aside while the first one
  -- waited for it.
  update paused_webhooks p set until = '-infinity'
  where p.webhook_id = any (array(select r.webhook_id from jsonb_to_recordset(p_results) as r (webhook_id bigint)))
    and p.until > '-infinity'
    and not exists (
      select from webhooks w
      join webhook_health h on h.webhook_id = w.id and h.revision = w.revision and h.paused_until > p_now
      where w.id = p.webhook_id
    );
end
$$;

-- Records an event about each of these webhooks, for the tenant's other webhooks. p_type is webhook.failing or
-- webhook.disabled. The data contains only the id.
create or replace function record_health_events_v1 (p_type text, p_webhooks bigint[]) returns void
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_webhook record;
begin
  for v_webhook in
    select w.id, w.tenant, w.tenant_slug from webhooks w where w.id = any (p_webhooks) order by w.id
  loop
    perform emit_row_v1(
      v_webhook.tenant, v_webhook.tenant_slug, p_type, null, format('{"webhook_id":%s}', v_webhook.id), null,
      v_webhook.id
    );
  end loop;
end
$$;

-- Disables webhooks with a verdict and stores notices. Leaves locked webhooks for the next call. Returns the disabled
-- webhooks.
create or replace function disable_failing_webhooks_v1 (p_event_types text[]) returns setof bigint
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_disabled bigint[];
begin
  with judged as materialized (
    select h.*, w.tenant, w.tenant_slug, w.contact, w.status = 'active' and w.revision = h.revision as is_valid
    from webhook_health h
    join webhooks w on w.id = h.webhook_id
    where h.verdict is not null
    for no key update skip locked
  ), disabled as (
    update webhooks w set
      status = 'disabled', disabled_reason = case j.verdict when 'gone' then 'gone' else 'failing' end,
      skip_before = nextval('delivery_ids'), updated_at = date_trunc('milliseconds', clock_timestamp())
    from judged j
    where w.id = j.webhook_id and j.is_valid
    returning w.id
  ), listed as (
    insert into stopped_webhooks (webhook_id) select d.id from disabled d on conflict do nothing
  ), noticed as (
    insert into notices (
      kind, tenant, tenant_slug, webhook_id, failing_since, failed_deliveries, last_error, last_detail,
      last_response_status, contact
    )
    select j.verdict, j.tenant, j.tenant_slug, j.webhook_id, j.failing_since, j.failed_deliveries, j.last_error,
      j.last_detail, j.last_response_status, j.contact
    from judged j
    where j.is_valid
  ), settled as (
    update webhook_health h set verdict = null from judged j where h.webhook_id = j.webhook_id
  )
  select array_agg(d.id) into v_disabled from disabled d;
  if v_disabled is not null and 'webhook.disabled' = any (p_event_types) then
    perform record_health_events_v1('webhook.disabled', v_disabled);
  end if;
  return query select unnest(v_disabled);
end
$$;

-- Adds a webhook to stopped_webhooks if its status was set, and ends the pause of an earlier revision. Called with the
-- result of an update, so that these statements also see deliveries that a claim set aside while the update waited.
create or replace function apply_update_v1 (p_webhook bigint, p_is_status_set boolean) returns void
language plpgsql
set search_path from current
set jit to off
as $$
begin
  if p_is_status_set then
    insert into stopped_webhooks (webhook_id) values (p_webhook) on conflict do nothing;
  end if;
  update paused_webhooks p set until = '-infinity'
  where p.webhook_id = p_webhook and p.until > '-infinity' and not exists (
    select from webhook_health h
    join webhooks w on w.id = h.webhook_id and w.revision = h.revision where w.id = p_webhook
  );
end
$$;
