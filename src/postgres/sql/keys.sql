-- Stores a key. p_scopes, p_allowed_ips, p_candidate_fields and p_job_fields are JSON arrays, all but the first may
-- be null. Returns none; or, if the tenant rests, the end of its rest.
create or replace function issue_key_v1 (
  p_id text, p_digest text, p_start text, p_tenant text, p_tenant_slug text, p_scopes text, p_allowed_ips text,
  p_candidate_fields text, p_job_fields text, p_name text, p_created_by text, p_expires_at text
) returns text
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_rests_until text := find_rest_v1(p_tenant);
begin
  if v_rests_until is null then
    insert into api_keys (
      id, digest, start, tenant, tenant_slug, scopes, allowed_ips, candidate_fields, job_fields, name, created_by,
      created_at, expires_at
    )
    values (
      p_id, p_digest, p_start, p_tenant, p_tenant_slug,
      array(select json_array_elements_text(p_scopes::json)),
      case when p_allowed_ips is not null then array(select json_array_elements_text(p_allowed_ips::json)) end,
      case when p_candidate_fields is not null
        then array(select json_array_elements_text(p_candidate_fields::json)) end,
      case when p_job_fields is not null then array(select json_array_elements_text(p_job_fields::json)) end,
      p_name, p_created_by, date_trunc('milliseconds', clock_timestamp()), p_expires_at::timestamptz
    );
  end if;
  return coalesce(v_rests_until, 'none');
end
$$;

-- Stores a key that replaces a valid key of the tenant; the old key ends after p_overlap seconds. Returns false if
-- the tenant has no valid key with the id p_old.
create or replace function rotate_key_v1 (
  p_tenant text, p_old text, p_id text, p_digest text, p_start text, p_overlap text
) returns boolean
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
  update api_keys k set replaced_at = least(k.replaced_at, v_now + p_overlap::integer * interval '1 second')
  where k.id = p_old;

  -- The new key inherits expires_at, not the end of the overlap.
  insert into api_keys (
    id, digest, start, tenant, tenant_slug, scopes, allowed_ips, candidate_fields, job_fields, name, created_by,
    created_at, expires_at
  )
  values (
    p_id, p_digest, p_start, v_old.tenant, v_old.tenant_slug, v_old.scopes, v_old.allowed_ips, v_old.candidate_fields,
    v_old.job_fields,
    v_old.name, v_old.created_by, v_now, v_old.expires_at
  );
  return true;
end
$$;

-- Revokes a key of a tenant at once. Returns whether the tenant has it and it was not revoked before.
create or replace function revoke_key_v1 (p_tenant text, p_id text) returns boolean
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
