-- Stores a webhook. p_webhook has its columns as JSON. Returns none; full if the tenant has p_max webhooks; busy while
-- another transaction creates one for the tenant; or, if the tenant is resting, the end of its rest.
create or replace function create_webhook_v1 (p_webhook text, p_max text, p_max_per_creator text) returns text
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_webhook webhooks := json_populate_record(null::webhooks, p_webhook::json);
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_rests_until text;
begin
  -- Two at once could exceed the limit. Suspending the tenant also waits for this lock.
  if not pg_try_advisory_xact_lock(webhooks_lock_v1(v_webhook.tenant)) then
    return 'busy';
  end if;
  v_rests_until := find_rest_v1(v_webhook.tenant);
  if v_rests_until is not null then
    return v_rests_until;
  end if;
  if (select count(*) from webhooks w where w.tenant = v_webhook.tenant and w.subscription_id is null) >= p_max::integer
    or (
      select count(*) from webhooks w
      where w.tenant = v_webhook.tenant and w.subscription_id is null and w.creator_type = v_webhook.creator_type
        and w.creator_id is not distinct from v_webhook.creator_id
    ) >= nullif(p_max_per_creator, '')::integer
  then
    return 'full';
  end if;
  insert into webhooks (
    id, tenant, tenant_slug, name, status, target_url, event_types, secret, headers, header_names, filters,
    filter_path, creator_type, creator_id, contact, changed, is_suspended, created_at, updated_at
  )
  values (
    v_webhook.id, v_webhook.tenant, v_webhook.tenant_slug, v_webhook.name, v_webhook.status, v_webhook.target_url,
    v_webhook.event_types, v_webhook.secret, v_webhook.headers, v_webhook.header_names, v_webhook.filters,
    v_webhook.filter_path, v_webhook.creator_type, v_webhook.creator_id, v_webhook.contact, v_webhook.changed,
    exists (select from tenants t where t.tenant = v_webhook.tenant and t.suspended_at is not null), v_now, v_now
  );
  return 'none';
end
$$;

-- Returns the key of the advisory lock of a tenant's creates.
create or replace function webhooks_lock_v1 (p_tenant text) returns bigint
language sql
stable
set search_path from current
set jit to off
as $$
  select hashtextextended(current_schema() || '.webhooks ' || p_tenant, 0)
$$;
