-- Gives everything of a tenant to another id and name. p_secrets is what lock_tenant_v1 returned, sealed for the new
-- id. The old id rests for p_rest_seconds. Returns the number of webhooks.
create function rename_tenant_v1 (p_from text, p_to text, p_to_slug text, p_secrets text, p_rest_seconds double precision) returns integer
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_key text := coalesce((select t.key from tenants t where t.tenant = p_from), p_from);
begin
  -- Events that commit late under the new id are removed.
  update tenants t set tenant = null where t.tenant = p_to;
  if not found then
    insert into tenants (key) values (p_to);
  end if;
  insert into tenants (key, tenant) values (v_key, p_to)
  on conflict (key) do update set tenant = p_to, rests_until = null, rests_since = null;
  -- The next tenant of the old id.
  insert into tenants (key, tenant) values (gen_random_uuid()::text, p_from);
  perform rest_tenant_v1(p_from, p_rest_seconds);

  -- Repeated, because a rotation that the statement waits for adds a key that only the next one sees.
  loop
    update api_keys k set tenant = p_to where k.tenant = p_from;
    exit when not found;
  end loop;
  update notices n set tenant = p_to where n.tenant = p_from;
  perform end_changes_v1(p_from);
  perform end_changes_v1(p_to);
  update webhooks w set tenant = p_to, secret = s.secret, previous_secret = s.previous, headers = s.headers
  from json_to_recordset(p_secrets::json) as s (id bigint, secret text, previous text, headers text)
  where w.id = s.id;
  return name_tenant_v1(p_to, p_to_slug);
end
$$;
