-- Returns what positions among the changes of a tenant are compared with, as of the caller's snapshot:
-- epoch: differs between databases, restores of a database, successive tenants of one name, and states of the triggers;
-- is_recorded: whether each table that watch was called for has its triggers, and they recorded every change;
-- first_known: changes of earlier transactions may have been pruned;
-- horizon: all earlier transactions have ended;
-- read_to: all changes before it can be read. It is at most the horizon, and no transaction that begins after a crash of the
-- server gets an earlier id: a prune or a committed change has already written an id at least that high to the disk.
create function change_bounds_v1 (p_tenant text, p_kind text, out epoch text, out is_recorded boolean, out first_known xid8, out horizon xid8, out read_to xid8)
language plpgsql
stable
set search_path from current
as $$
#variable_conflict use_column
begin
  select
    left(encode(sha256(convert_to(
      concat_ws(' ', server_identity_v1(), d.oid, 'changes'::regclass::oid, state.id, ended.xid, watched.mark), 'UTF8'
    )), 'hex'), 16),
    watched.is_recorded,
    known.first_known,
    known.horizon,
    least(known.horizon, greatest(
      known.first_known,
      known.reached,
      (
        select (max(c.xid)::text::bigint + 1)::text::xid8
        from (select tenant, kind, xid from changes union all select tenant, kind, xid from recent_changes) as c
        where c.tenant = p_tenant and c.kind = p_kind and c.xid < known.horizon
      )
    ))
  into epoch, is_recorded, first_known, horizon, read_to
  from change_state state
  cross join pg_current_snapshot() as snapshot
  cross join pg_snapshot_xmin(snapshot) as horizon
  -- After a restore on another server, these may be ids that this one has not reached.
  cross join lateral (
    select horizon,
      case when state.pruned_before <= horizon then state.pruned_before else '0' end as first_known,
      case when state.reached < pg_snapshot_xmax(snapshot) then state.reached else '0' end as reached
  ) as known
  cross join lateral (
    select coalesce(bool_and(w.lost = '{}' and w.missed_since is null), true) as is_recorded,
      string_agg(concat_ws(' ', w.id, case when w.found <> w.parts then w.found::text end), ' ' order by w.relation) as mark
    from watched_tables_v1(p_kind) w
  ) as watched
  left join ended_changes ended on ended.tenant_digest = sha256(convert_to(p_tenant, 'UTF8'))
  join pg_database d on d.datname = current_database();
end
$$;
