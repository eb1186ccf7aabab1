-- Stores a key. p_scopes, p_allowed_ips, p_candidate_fields and p_job_fields are JSON arrays; all but the first can be
-- null. p_max is the number of valid keys that the tenant can have; null for no limit. Returns none; full if the tenant
-- has reached p_max; or, if the tenant is resting, the end of its rest.
create or replace function issue_key_v1 (
  p_id text, p_digest text, p_start text, p_tenant text, p_tenant_slug text, p_scopes text, p_allowed_ips text,
  p_candidate_fields text, p_job_fields text, p_name text, p_created_by text, p_expires_at text,
  p_max text
) returns text
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_rests_until text := find_rest_v1(p_tenant);
begin
  if v_rests_until is not null then
    return v_rests_until;
  end if;
  if p_max is not null then
    -- Otherwise two calls at once could exceed the limit.
    perform pg_advisory_xact_lock(hashtextextended('api_keys ' || p_tenant, 0));
    if p_max::integer <= (
      select count(*) from api_keys k
      where k.tenant = p_tenant and k.revoked_at is null and k.replaced_at is null
        and coalesce(k.expires_at > clock_timestamp(), true)
    ) then
      return 'full';
    end if;
  end if;
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
  return 'none';
end
$$;

-- Stores a key that replaces one of the tenant's valid keys, which expires after p_overlap seconds. p_created_by is
-- null for a rotation by the vendor, who may replace a key several times. Returns false if the tenant has no such key.
create or replace function rotate_key_v1 (
  p_tenant text, p_old text, p_id text, p_digest text, p_start text, p_overlap text,
  p_created_by text
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
  -- Reads the clock after locking: another rotation may have expired the key while this one waited.
  v_now := date_trunc('milliseconds', clock_timestamp());
  if not found or v_old.revoked_at is not null or least(v_old.expires_at, v_old.replaced_at) <= v_now
    or (p_created_by is not null and v_old.replaced_at is not null) then
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
    v_old.name, coalesce(p_created_by, v_old.created_by), v_now, v_old.expires_at
  );
  return true;
end
$$;

-- Revokes a tenant's key immediately. Returns false if the tenant has no such key or it was already revoked.
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
