-- Ends the tokens of a tenant and its changes so far. Those up to a number are ended by it: no position given from
-- now on is before them, and delete_ended_changes_v1 deletes them in batches. Only those behind one that an open
-- transaction may still commit are deleted here.
create function end_changes_v1 (p_tenant text) returns void
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_bound bigint := (select recorded.bound from recorded_to_v1('recent_changes_seq_seq') as recorded);
begin
  insert into ended_changes (tenant_digest, xid, tenant, last_seq)
  values (sha256(convert_to(p_tenant, 'UTF8')), pg_current_xact_id(), p_tenant, v_bound)
  on conflict (tenant_digest) do update
  set xid = excluded.xid, tenant = excluded.tenant, last_seq = excluded.last_seq, deleted_to = 0;
  delete from recent_changes r where r.tenant = p_tenant and r.kind in ('candidate', 'job') and r.seq > v_bound;
end
$$;
