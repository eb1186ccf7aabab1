-- Disables the webhooks with a verdict and stores notices. Locked webhooks are left for the next call. Returns the
-- disabled webhooks.
create function disable_failing_webhooks_v1 () returns setof bigint
language sql
set search_path from current
set jit to off
as $$
  with judged as materialized (
    select h.*, w.tenant, w.tenant_slug, w.status = 'active' and w.revision = h.revision as is_valid
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
    insert into notices (kind, tenant, tenant_slug, webhook_id, failing_since, failed_deliveries, last_error, last_response_status)
    select j.verdict, j.tenant, j.tenant_slug, j.webhook_id, j.failing_since, j.failed_deliveries, j.last_error, j.last_response_status
    from judged j
    where j.is_valid
  ), settled as (
    update webhook_health h set verdict = null from judged j where h.webhook_id = j.webhook_id
  )
  select id from disabled
$$;
