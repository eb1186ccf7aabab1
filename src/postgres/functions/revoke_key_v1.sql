-- Revokes a key of a tenant at once. Returns whether the tenant has it and it was not revoked before.
create function revoke_key_v1 (p_tenant text, p_id text) returns boolean
language plpgsql
set search_path from current
set jit to off
as $$
begin
  update api_keys k set revoked_at = date_trunc('milliseconds', clock_timestamp())
  where k.id = p_id and k.tenant = p_tenant and k.revoked_at is null;
  return found;
end
$$;
