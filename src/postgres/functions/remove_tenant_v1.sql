-- Removes a tenant: its webhooks, keys and changes at once, and up to p_limit of its events. It rests for
-- p_rest_seconds. Returns how many events of removed tenants are left, counted up to p_limit. A later tenant with the
-- same id gets another key.
create function remove_tenant_v1 (p_tenant text, p_limit integer, p_rest_seconds double precision) returns integer
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_key text;
  v_rests boolean;
begin
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.tenants', 0));
  select t.key, t.rests_until is not null into v_key, v_rests from tenants t where t.tenant = p_tenant;
  -- A resting tenant without events keeps its key, because no event can still commit under it.
  if v_rests is not true or exists (select from events e where e.tenant_key = v_key) then
    insert into tenants (key) values (coalesce(v_key, p_tenant))
    on conflict (key) do update set tenant = null, rests_until = null, rests_since = null;
    insert into tenants (key, tenant) values (gen_random_uuid()::text, p_tenant);
  end if;
  perform rest_tenant_v1(p_tenant, p_rest_seconds);

  -- Repeated, because a rotation that the statement waits for adds a key that only the next one sees.
  loop
    delete from api_keys k where k.tenant = p_tenant;
    exit when not found;
  end loop;
  perform end_changes_v1(p_tenant);
  with deleted as (
    delete from webhooks w where w.tenant = p_tenant returning w.id
  )
  insert into stopped_webhooks (webhook_id) select d.id from deleted d on conflict do nothing;
  -- After the webhooks: no notice is added without one.
  delete from notices n where n.tenant = p_tenant;
  return remove_events_v1(p_limit);
end
$$;
