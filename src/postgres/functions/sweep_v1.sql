-- Moves stopped deliveries of a webhook to the log: those below its skip_before, or all if it was deleted. Takes up to
-- p_limit scheduled deliveries, and as many others. Skips locked deliveries. Returns the number of moved deliveries.
create function sweep_v1 (p_webhook bigint, p_limit integer) returns integer
language plpgsql
set search_path from current
as $$
declare
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_before bigint;
  v_count integer;
begin
  select w.skip_before into v_before from webhooks w where w.id = p_webhook;

  with stopped as (
    delete from queue q
    where q.ctid = any (array(
      select q.ctid from queue q
      where q.webhook_id = p_webhook and q.lane is not null and (v_before is null or q.id < v_before)
      limit p_limit
      for update skip locked
    ) || array(
      select q.ctid from queue q
      where q.webhook_id = p_webhook and q.lane is null and (v_before is null or q.id < v_before)
      limit p_limit
      for update skip locked
    ))
    returning q.*
  )
  insert into deliveries (webhook_id, id, event_seq, status, created_at, ended_at, earlier, fence)
  select s.webhook_id, s.id, s.event_seq, case when v_before is null then 'cancelled' else 'skipped' end, s.created_at, v_now,
    s.attempts, case s.lane when 0 then s.fence end
  from stopped s;
  get diagnostics v_count = row_count;
  return v_count;
end
$$;
