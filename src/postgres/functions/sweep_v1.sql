-- Moves stopped deliveries of a webhook to the log: those below its skip_before, or all if it is not active or was
-- deleted. Takes up to p_limit from each lane and of the scheduled ones. Skips locked deliveries. Returns the number
-- of moved deliveries.
create function sweep_v1 (p_webhook bigint, p_limit integer) returns integer
language plpgsql
set search_path from current
set enable_seqscan to off
set jit to off
as $$
declare
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_count integer;
begin
  -- The statement sees no delivery of a later activation, because it does not see that activation either.
  with webhook as materialized (
    select coalesce(max(case when w.status = 'active' then w.skip_before end), 9223372036854775807) as skip_before,
      case when count(*) = 0 then 'cancelled' else 'skipped' end as status
    from webhooks w where w.id = p_webhook
  ), stopped as (
    delete from queue q
    where q.ctid = any (array(
      select ready.place from unnest('{0, 1, 2, 3}'::smallint[]) as of (lane)
      cross join lateral (
        select q.ctid as place from queue q
        where q.webhook_id = p_webhook and q.lane = of.lane and q.id < (select w.skip_before from webhook w)
        order by q.id
        limit p_limit
        for update skip locked
      ) as ready
    ) || array(
      select q.ctid from queue q
      where q.webhook_id = p_webhook and q.lane is null and q.id < (select w.skip_before from webhook w)
      order by q.id
      limit p_limit
      for update skip locked
    ))
    returning q.*
  )
  insert into deliveries (webhook_id, id, event_seq, event_type, status, created_at, ended_at, earlier, fence)
  select s.webhook_id, s.id, s.event_seq, s.event_type, w.status, s.created_at, v_now, s.attempts,
    case s.lane when 0 then s.fence end
  from stopped s cross join webhook w;
  get diagnostics v_count = row_count;

  if v_count = 0 then
    delete from webhook_health h
    where h.webhook_id = p_webhook and not exists (select from webhooks w where w.id = p_webhook);
    delete from stopped_webhooks s
    where s.ctid = any (array(select s.ctid from stopped_webhooks s where s.webhook_id = p_webhook for update skip locked))
      -- Locked deliveries stay.
      and not exists (
        select from (
          select coalesce(max(case when w.status = 'active' then w.skip_before end), 9223372036854775807) as skip_before
          from webhooks w where w.id = p_webhook
        ) as webhook
        join queue q on q.webhook_id = p_webhook and q.id < webhook.skip_before
      );
  end if;
  return v_count;
end
$$;
