-- Records attempts, each given by its fence and delivery and, at the same index, how it ended. Moves their deliveries on and
-- judges the health of the webhooks that failed. Returns a row for each webhook whose host wants to know of it. The pending
-- deliveries of one that became disabled are the caller's to stop.
create function complete_attempts (
  the_fences bigint[], the_ids bigint[], the_results jsonb, failing_for_seconds double precision,
  failed_limit double precision, warn_after_seconds double precision
) returns table (
  kind text, tenant_slug text, webhook_id bigint, failing_since text, failed_deliveries integer, last_error text,
  last_response_status integer
)
language plpgsql
set search_path from current
set enable_seqscan = off
-- A nested loop keeps the order of what it goes through: see below.
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
#variable_conflict use_column
declare
  moment timestamptz := date_trunc('milliseconds', clock_timestamp());
  -- The webhooks whose health these results change. Most often there is none.
  concerned bigint[];
  -- Null for a lease that was lost, completed or given back.
  the_webhooks bigint[];
  finished jsonb;
  commit_setting text := current_setting('synchronous_commit');
begin
  -- If a crash of the server loses successes, these deliveries are made once more.
  perform set_config('synchronous_commit', 'off', true);

  the_webhooks := end_leases(the_fences, the_ids);

  if the_results @? '$[*] ? (@.outcome != "delivered")' or exists (select from webhooks w where w.failing_since is not null) then
    select array_agg(locked.id) into concerned from (
      select w.id from webhooks w
      where w.id in (
        select f.id
        from jsonb_to_recordset(the_results) as r (ordinal integer, outcome text)
        join webhooks f on f.id = the_webhooks[r.ordinal]
        where r.outcome <> 'delivered' or f.failing_since is not null
      )
      -- Webhooks before deliveries, each in the order of ids: nobody waits in a circle.
      order by w.id
      for no key update
    ) as locked;
  end if;

  with finished as (
    select r.*, the_webhooks[r.ordinal] as webhook_id, the_ids[r.ordinal] as delivery_id
    from jsonb_to_recordset(the_results) as r (
      ordinal integer, outcome text, duration_ms integer, response_status integer, error text,
      retry_in_ms double precision, hold_ms double precision, is_gone boolean
    )
  ), changed as (
    update deliveries d set
      status = case
        when f.outcome = 'delivered' then 'delivered'
        when d.status = 'pending' and f.outcome = 'failed' then 'failed'
        else d.status
      end,
      priority = greatest(d.priority, 1),
      next_attempt_at = case
        when d.status = 'pending' and f.outcome = 'retry' then
          date_trunc('milliseconds', moment + (f.retry_in_ms + 0.999) * interval '1 millisecond')
        else d.next_attempt_at
      end,
      delivered_at = case when f.outcome = 'delivered' then moment else d.delivered_at end,
      attempts = d.attempts || jsonb_build_object(
        'started_at', to_char((moment - f.duration_ms * interval '1 millisecond') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'duration_ms', f.duration_ms,
        'response_status', f.response_status,
        'error', f.error
      )
    -- Everybody who locks several deliveries does it in this order.
    from (select * from finished order by webhook_id, delivery_id) as f
    where d.webhook_id = f.webhook_id and d.id = f.delivery_id
    returning f.*, f.outcome = 'failed' and d.status = 'failed' as is_given_up
  )
  select jsonb_agg(to_jsonb(changed)) into finished from changed where webhook_id = any (concerned);

  if finished is null then
    return;
  end if;
  -- What the host is told of is on the disk.
  perform set_config('synchronous_commit', commit_setting, true);

  return query
    with result as (
      select r.*, r.outcome = 'delivered' as is_success,
        -- What came before a success no longer counts.
        r.ordinal > coalesce(max(r.ordinal) filter (where r.outcome = 'delivered') over (partition by r.webhook_id), -1) as counts
      from jsonb_to_recordset(finished) as r (
        webhook_id bigint, ordinal integer, outcome text, response_status integer, error text, hold_ms double precision,
        is_gone boolean, is_given_up boolean
      )
    ), summary as (
      select webhook_id,
        bool_or(is_success) as has_success,
        bool_or(counts) as is_failing,
        count(*) filter (where counts and is_given_up) as given_up,
        max(hold_ms) filter (where counts and hold_ms > 0) as hold_ms,
        coalesce(bool_or(is_gone), false) as is_gone,
        -- The failure to tell of: the one that says it is gone, or else the last.
        (array_agg(coalesce(error, 'http_status') order by coalesce(is_gone, false) desc, ordinal desc) filter (where not is_success))[1] as last_error,
        (array_agg(response_status order by coalesce(is_gone, false) desc, ordinal desc) filter (where not is_success))[1] as last_response_status
      from result
      group by webhook_id
    ), counted as (
      select s.*, w.status, w.tenant_slug,
        case when s.has_success then case when s.is_failing then moment end else coalesce(w.failing_since, moment) end as failing_since,
        (case when s.has_success then 0 else w.failed_deliveries end + s.given_up)::integer as failed_deliveries,
        w.is_warned and not s.has_success as is_warned,
        greatest(case when not s.has_success then w.held_until end, moment + s.hold_ms * interval '1 millisecond') as held_until
      from summary s
      join webhooks w on w.id = s.webhook_id
    ), judged as (
      select c.*, case
        when c.status <> 'active' or c.last_error is null then null
        when c.is_gone then 'gone'
        when extract(epoch from moment - c.failing_since) >= failing_for_seconds and c.failed_deliveries >= failed_limit then 'disabled'
        when extract(epoch from moment - c.failing_since) >= warn_after_seconds and not c.is_warned then 'failing'
      end as kind
      from counted c
    ), kept as (
      update webhooks w set
        failing_since = j.failing_since,
        failed_deliveries = j.failed_deliveries,
        held_until = j.held_until,
        is_warned = j.is_warned or coalesce(j.kind = 'failing', false),
        status = case when j.kind in ('gone', 'disabled') then 'disabled' else w.status end,
        updated_at = case when j.kind in ('gone', 'disabled') then moment else w.updated_at end
      from judged j
      where w.id = j.webhook_id
    )
    select j.kind, j.tenant_slug, j.webhook_id,
      to_char(coalesce(j.failing_since, moment) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      j.failed_deliveries, j.last_error, j.last_response_status
    from judged j
    where j.kind is not null;
end
$$;

insert into migrations (name) values ('006-complete-attempts.sql');
