-- Gives a tenant that keeps its id another name. Returns the number of its webhooks.
create function name_tenant_v1 (p_tenant text, p_slug text) returns integer
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_count integer;
begin
  -- Renames and removals run one at a time.
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.tenants', 0));
  -- Repeated, because a rotation that the statement waits for adds a key that only the next one sees.
  loop
    update api_keys k set tenant_slug = p_slug where k.tenant = p_tenant and k.tenant_slug <> p_slug;
    exit when not found;
  end loop;
  update notices n set tenant_slug = p_slug where n.tenant = p_tenant;
  update webhooks w set tenant_slug = p_slug where w.tenant = p_tenant;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
