-- Returns what positions among the changes of a tenant are compared with, as of the caller's snapshot. p_bound is
-- that of recorded_to_v1. epoch: differs between databases, restores of a database, successive tenants of one name,
-- and states of the triggers; is_recorded: whether each table that watch was called for has its triggers, and they
-- recorded every change; pruned: the last pruned change of all tenants; read_to: a position from which nothing is
-- missed. It was committed, so it is on the disk: after a crash, the sequence continues behind it.
create function change_bounds_v1 (
  p_tenant text, p_kind text, p_bound bigint, out epoch text, out is_recorded boolean, out pruned bigint, out read_to bigint
)
language plpgsql
stable
set search_path from current
set jit to off
as $$
#variable_conflict use_column
begin
  select
    left(encode(sha256(convert_to(
      concat_ws(' ', server_identity_v1(), d.oid, 'changes'::regclass::oid, state.id, ended.xid, watched.mark), 'UTF8'
    )), 'hex'), 16),
    watched.is_recorded,
    state.pruned_change_seq,
    greatest(
      state.pruned_change_seq,
      least(state.reached_change_seq, p_bound),
      ended.last_seq,
      (
        select c.seq from recent_changes c where c.seq > state.reached_change_seq and c.seq <= p_bound order by c.seq desc limit 1
      )
    )
  into epoch, is_recorded, pruned, read_to
  from change_state state
  cross join lateral (
    select coalesce(bool_and(w.lost = '{}' and w.missed_since is null), true) as is_recorded,
      string_agg(concat_ws(' ', w.id, case when w.found <> w.parts then w.found::text end), ' ' order by w.relation) as mark
    from watched_tables_v1(p_kind) w
  ) as watched
  left join ended_changes ended on ended.tenant_digest = sha256(convert_to(p_tenant, 'UTF8'))
  join pg_database d on d.datname = current_database();
end
$$;
