-- Returns what positions among the events of a tenant are compared with, as of the caller's snapshot. p_bound is that
-- of recorded_to_v1. tenant_key: the key of its events; epoch: differs between databases, restores and adoptions of a
-- database, and successive tenants of one name; pruned: the last pruned event of all tenants; read_to: a position
-- from which nothing is missed. It is the number of an event that was committed, so it is on the disk: after a crash,
-- the sequence continues behind it.
create function feed_bounds_v1 (
  p_tenant text, p_bound bigint, out tenant_key text, out epoch text, out pruned bigint, out read_to bigint
)
language plpgsql
stable
set search_path from current
set jit to off
as $$
declare
  v_state change_state;
begin
  tenant_key := coalesce((select t.key from tenants t where t.tenant = p_tenant), p_tenant);
  select s.* into v_state from change_state s;
  pruned := v_state.pruned_event_seq;
  read_to := greatest(pruned, (select e.seq from events e where e.seq > pruned and e.seq <= p_bound order by e.seq desc limit 1));

  epoch := left(encode(sha256(convert_to(concat_ws(' ',
    server_identity_v1(),
    (select d.oid from pg_database d where d.datname = current_database()),
    'events'::regclass::oid,
    v_state.id,
    (select ended.xid from ended_changes ended where ended.tenant_digest = sha256(convert_to(p_tenant, 'UTF8'))),
    -- Changes when a copy is adopted.
    (select string_agg(concat_ws(' ', h.system, h.database_oid, h.table_oid), ' ' order by h.table_oid) from home h)
  ), 'UTF8')), 'hex'), 16);
end
$$;
