-- Stores a key. p_scopes is a JSON array.
create function issue_key_v1 (
  p_id text, p_digest text, p_start text, p_tenant text, p_scopes text, p_name text, p_created_by text, p_expires_at text
) returns text
language sql
set search_path from current
as $$
  insert into api_keys (id, digest, start, tenant_slug, scopes, name, created_by, created_at, expires_at)
  values (
    p_id, p_digest, p_start, p_tenant, array(select json_array_elements_text(p_scopes::json)), p_name, p_created_by,
    date_trunc('milliseconds', clock_timestamp()), p_expires_at::timestamptz
  )
  returning id
$$;

-- Stores a key that replaces a valid one, which ends after p_overlap seconds. Returns false if the old one is not valid.
create function rotate_key_v1 (p_old text, p_id text, p_digest text, p_start text, p_overlap text) returns boolean
language plpgsql
set search_path from current
as $$
declare
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_old api_keys;
begin
  update api_keys k set replaced_at = least(k.replaced_at, v_now + p_overlap::integer * interval '1 second')
  where k.id = p_old and k.revoked_at is null and coalesce(least(k.expires_at, k.replaced_at) > v_now, true)
  returning * into v_old;
  if not found then
    return false;
  end if;

  -- Not what is left of the overlap: the new key lasts as long as the old one would have.
  insert into api_keys (id, digest, start, tenant_slug, scopes, name, created_by, created_at, expires_at)
  values (p_id, p_digest, p_start, v_old.tenant_slug, v_old.scopes, v_old.name, v_old.created_by, v_now, v_old.expires_at);
  return true;
end
$$;

-- Revokes a key at once. Returns whether it was not revoked before.
create function revoke_key_v1 (p_id text) returns boolean
language plpgsql
set search_path from current
as $$
begin
  update api_keys k set revoked_at = date_trunc('milliseconds', clock_timestamp()) where k.id = p_id and k.revoked_at is null;
  return found;
end
$$;

insert into migrations (name) values ('008-keys.sql');
