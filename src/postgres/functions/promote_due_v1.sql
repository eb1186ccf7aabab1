-- Makes up to 1000 scheduled deliveries ready that are due, and ends up to 1000 pauses.
create function promote_due_v1 () returns void
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  update queue q set lane = case when q.is_replay then 3 else 2 end
  where q.ctid = any (array(
    select due.ctid from queue due
    where due.lane is null and due.paused_lane is null and due.due_at <= v_now
    order by due.due_at
    limit 1000
    for update skip locked
  ));
  update paused_webhooks p set until = '-infinity'
  where p.ctid = any (array(
    select ended.ctid from paused_webhooks ended
    where ended.until > '-infinity' and ended.until <= v_now
    order by ended.until
    limit 1000
    for update skip locked
  ));
end
$$;
