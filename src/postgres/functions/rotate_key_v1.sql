-- Stores a key that replaces a valid key of the tenant; the old key ends after p_overlap seconds. Returns false if
-- the tenant has no valid key with the id p_old.
create function rotate_key_v1 (p_tenant text, p_old text, p_id text, p_digest text, p_start text, p_overlap text) returns boolean
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_now timestamptz;
  v_old api_keys;
begin
  select * into v_old from api_keys k where k.id = p_old and k.tenant = p_tenant for update;
  -- Reads the clock after locking: another rotation may have ended the key while this one waited.
  v_now := date_trunc('milliseconds', clock_timestamp());
  if not found or v_old.revoked_at is not null or least(v_old.expires_at, v_old.replaced_at) <= v_now then
    return false;
  end if;
  update api_keys k set replaced_at = least(k.replaced_at, v_now + p_overlap::integer * interval '1 second') where k.id = p_old;

  -- The new key inherits expires_at, not the end of the overlap.
  insert into api_keys (
    id, digest, start, tenant, tenant_slug, scopes, allowed_ips, candidate_fields, job_fields, name, created_by, created_at, expires_at
  )
  values (
    p_id, p_digest, p_start, v_old.tenant, v_old.tenant_slug, v_old.scopes, v_old.allowed_ips, v_old.candidate_fields, v_old.job_fields,
    v_old.name, v_old.created_by, v_now, v_old.expires_at
  );
  return true;
end
$$;
