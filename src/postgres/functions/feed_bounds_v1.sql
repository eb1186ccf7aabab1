-- Returns what positions among the events of a tenant are compared with, as of the caller's snapshot:
-- tenant_key: the key of its events;
-- epoch: differs between databases, restores and adoptions of a database, and successive tenants of one name;
-- pruned_xid, pruned_seq: the last pruned event of all tenants;
-- horizon: all earlier transactions have ended;
-- read_to: every event before this id can be read now. As in change_bounds_v1, no transaction that begins after a crash of the server gets
-- an earlier id.
create function feed_bounds_v1 (
  p_tenant text, out tenant_key text, out epoch text, out pruned_xid xid8, out pruned_seq bigint, out horizon xid8, out read_to xid8
)
language plpgsql
stable
set search_path from current
as $$
declare
  v_snapshot pg_snapshot := pg_current_snapshot();
  v_state change_state;
  v_last xid8;
begin
  tenant_key := coalesce((select t.key from tenants t where t.tenant = p_tenant), p_tenant);
  horizon := pg_snapshot_xmin(v_snapshot);

  select s.* into v_state from change_state s;
  -- After a restore on another server, these may be ids that this one has not reached.
  if v_state.pruned_event_xid > horizon then
    v_state.pruned_event_xid := '0';
    v_state.pruned_event_seq := 0;
  end if;
  if v_state.reached >= pg_snapshot_xmax(v_snapshot) then
    v_state.reached := '0';
  end if;
  pruned_xid := v_state.pruned_event_xid;
  pruned_seq := v_state.pruned_event_seq;

  v_last := (
    select e.xid from events e where e.tenant_key = feed_bounds_v1.tenant_key and e.xid < horizon order by e.xid desc limit 1
  );
  read_to := least(horizon, greatest(pruned_xid, v_state.reached, (v_last::text::bigint + 1)::text::xid8));

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
