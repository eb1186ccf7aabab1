-- Begins or extends the rest of a tenant, which has a row in the table tenants.
create function rest_tenant_v1 (p_tenant text, p_seconds double precision) returns void
language sql
set search_path from current
set jit to off
as $$
  update tenants t set
    rests_until = date_trunc('milliseconds', clock_timestamp() + p_seconds * interval '1 second'), rests_since = pg_current_xact_id()
  where t.tenant = p_tenant and p_seconds > 0
$$;
