-- Returns up to which number of a sequence all rows that will ever be committed are visible to later statements, and
-- the last number that was drawn. Read the rows in a statement of their own: the snapshot of the caller's is too old.
-- Both are null on a standby, which does not show the transactions that are open on the primary.
--
-- A transaction with a number up to last had its lock (start_recording_v1) before last was read here. Either the lock
-- is still there, or its rows are visible.
create function recorded_to_v1 (p_sequence regclass, out bound bigint, out last bigint)
language plpgsql
security definer
set search_path from current
set jit to off
as $$
declare
  v_starts bigint[];
  v_next bigint;
begin
  if pg_is_in_recovery() then
    return;
  end if;
  last := coalesce(pg_sequence_last_value(p_sequence), 0);
  v_starts := array(
    select l.objid::bigint
    from pg_locks l
    where l.locktype = 'advisory' and l.classid = p_sequence::oid and l.objsubid = 2
      and l.database = (select d.oid from pg_database d where d.datname = current_database())
  );
  -- A lock has the lower 31 bits of a number that is no higher than this one.
  v_next := coalesce(pg_sequence_last_value(p_sequence), 0);
  bound := least(last, (select min(v_next - ((v_next - start) & 2147483647)) from unnest(v_starts) as start));
end
$$;
