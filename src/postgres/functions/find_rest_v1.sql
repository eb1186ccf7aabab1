-- Returns when the rest of a tenant ends, as RFC 3339; null if it does not rest.
create function find_rest_v1 (p_tenant text) returns text
language sql
stable
set search_path from current
set jit to off
as $$
  select to_char(t.rests_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') from tenants t where t.tenant = p_tenant
$$;
