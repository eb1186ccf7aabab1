-- Reads up to p_limit events that are older than the retention by their own date, the oldest first, after p_after: a
-- JSON array of a date and a seq, or null to begin. Deletes their old deliveries that ended, then the events without
-- deliveries. Returns the number of deleted rows and the p_after of the next call, or null at the end.
create function prune_v1 (p_retention_days double precision, p_limit integer, p_after text, out pruned integer, out next_after text)
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_before timestamptz := clock_timestamp() - p_retention_days * interval '1 day';
  v_events bigint[];
  v_count integer;
begin
  select array_agg(walked.seq), (array_agg(json_build_array(walked.recorded_at, walked.seq) order by walked.recorded_at, walked.seq))[p_limit]
  into v_events, next_after
  from (
    select e.seq, e.recorded_at from events e
    where e.recorded_at < v_before
      and (e.recorded_at, e.seq) > (coalesce((p_after::json ->> 0)::timestamptz, '-infinity'), coalesce((p_after::json ->> 1)::bigint, 0))
    order by e.recorded_at, e.seq
    limit p_limit
  ) as walked;

  -- Events locked by a replay are skipped.
  v_events := array(select e.seq from events e where e.seq = any (v_events) order by e.seq for update skip locked);

  delete from deliveries d where d.event_seq = any (v_events) and d.created_at < v_before;
  get diagnostics pruned = row_count;
  with deleted as (
    delete from events e
    where e.seq = any (v_events)
      and not exists (select from queue q where q.event_seq = e.seq)
      and not exists (select from deliveries d where d.event_seq = e.seq)
    returning e.seq
  ), raised as (
    update change_state state
    set pruned_event_seq = last.seq
    from (select max(d.seq) as seq from deleted d) as last
    where state.pruned_event_seq < last.seq
  )
  select count(*) into v_count from deleted;
  pruned := pruned + v_count;
  delete from event_subjects s where s.event_seq = any (v_events) and not exists (select from events e where e.seq = s.event_seq);
end
$$;
