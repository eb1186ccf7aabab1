-- In a copy of another server's database: the feed would hide events whose transactions have ids that this server has not reached.
-- From the first of them on, gives all events the id of a transaction that has ended here, so that they follow in the order of
-- their recording. Reads up to p_limit events after p_after; p_is_moving says whether an earlier call has found the first one.
-- Returns the arguments of the next call; next_after is null at the end.
create function reorder_events_v1 (p_after bigint, p_limit integer, p_is_moving boolean, out next_after bigint, out is_moving boolean)
language plpgsql
set search_path from current
as $$
declare
  v_next xid8;
  v_first bigint;
  v_last bigint;
begin
  -- Only one process at a time adopts, and afterwards events have ids of this server.
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.claim', 0));
  if not exists (select from find_hold_v1(null) as hold where hold.reason = 'copy') then
    return;
  end if;

  v_next := pg_snapshot_xmax(pg_current_snapshot());
  select case when count(*) = p_limit then max(walked.seq) end, min(walked.seq) filter (where p_is_moving or walked.xid >= v_next), max(walked.seq)
  into next_after, v_first, v_last
  from (select e.seq, e.xid from events e where e.seq > p_after order by e.seq limit p_limit) as walked;
  is_moving := p_is_moving or v_first is not null;

  update events e set xid = (pg_snapshot_xmin(pg_current_snapshot())::text::bigint - 1)::text::xid8
  where e.seq between v_first and v_last;
  update change_state s set pruned_event_xid = '0', pruned_event_seq = 0 where s.pruned_event_xid >= v_next;
end
$$;
