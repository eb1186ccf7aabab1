-- Ends the tokens of a tenant and deletes its changes.
create function end_changes_v1 (p_tenant text) returns void
language sql
set search_path from current
set jit to off
as $$
  insert into ended_changes (tenant_digest, xid) values (sha256(convert_to(p_tenant, 'UTF8')), pg_current_xact_id())
  on conflict (tenant_digest) do update set xid = excluded.xid;
  delete from recent_changes c where c.tenant = p_tenant;
  delete from changes c where c.tenant = p_tenant;
$$;
