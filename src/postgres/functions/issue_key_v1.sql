-- Stores a key. p_scopes, p_allowed_ips, p_candidate_fields and p_job_fields are JSON arrays, all but the first may
-- be null. Returns none; or, if the tenant rests, the end of its rest.
create function issue_key_v1 (
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
      id, digest, start, tenant, tenant_slug, scopes, allowed_ips, candidate_fields, job_fields, name, created_by, created_at, expires_at
    )
    values (
      p_id, p_digest, p_start, p_tenant, p_tenant_slug,
      array(select json_array_elements_text(p_scopes::json)),
      case when p_allowed_ips is not null then array(select json_array_elements_text(p_allowed_ips::json)) end,
      case when p_candidate_fields is not null then array(select json_array_elements_text(p_candidate_fields::json)) end,
      case when p_job_fields is not null then array(select json_array_elements_text(p_job_fields::json)) end,
      p_name, p_created_by, date_trunc('milliseconds', clock_timestamp()), p_expires_at::timestamptz
    );
  end if;
  return coalesce(v_rests_until, 'none');
end
$$;
