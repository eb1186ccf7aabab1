-- Locks the webhooks of a tenant that is about to be renamed. Returns their valid secrets and headers as a JSON
-- array; or, if the new id has a webhook, an event or a key, or rests, the JSON value null.
create function lock_tenant_v1 (p_from text, p_to text) returns text
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_secrets json;
begin
  -- Renames and removals run one at a time.
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.tenants', 0));
  if exists (select from events e where e.tenant_key = coalesce((select t.key from tenants t where t.tenant = p_to), p_to))
    or exists (select from webhooks w where w.tenant = p_to)
    or exists (select from api_keys k where k.tenant = p_to)
    or find_rest_v1(p_to) is not null then
    return 'null';
  end if;

  select coalesce(json_agg(json_build_object(
    'id', w.id, 'secret', w.secret, 'previous', case when w.previous_secret_expires_at > clock_timestamp() then w.previous_secret end,
    'headers', w.headers
  )), '[]') into v_secrets
  from (select * from webhooks w where w.tenant = p_from order by w.id for update) as w;
  return v_secrets;
end
$$;
