-- Leases due deliveries to a worker. Endpoints take turns, from the one after the_cursor on: first one delivery of each,
-- then a second one of each, until the_limit is reached. Leases of ended_fences are about to be completed, and take no
-- place of their endpoint any more.
create function claim_due (
  the_limit integer, per_endpoint integer, lease_ms double precision, the_cursor bigint, ended_fences bigint[]
)
returns table (
  delivery_id bigint, fence bigint, tenant_slug text, webhook_id bigint, target_url text, secret text,
  previous_secret text, event_id text, event_type text, body text, attempt_count integer, is_failing boolean
)
language plpgsql
set search_path from current
-- The plan is kept: it must not be one for the empty table that it was made with.
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
declare
  moment timestamptz;
begin
  -- A claim that a crash of the server loses is made again, so it need not wait for the disk.
  perform set_config('synchronous_commit', 'off', true);
  -- One worker claims at a time, so that each sees the leases of all others. It takes milliseconds.
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.claim_due', 0));
  moment := clock_timestamp();

  return query
    with recursive endpoint (id) as (
      -- In the whole order of deliveries_queue: an index that holds ended deliveries too would be read through them all.
      (
        select d.webhook_id from deliveries d
        where d.status = 'pending'
        order by d.webhook_id, d.priority, d.next_attempt_at, d.id limit 1
      )
      union all
      select (
        select d.webhook_id from deliveries d
        where d.status = 'pending' and d.webhook_id > endpoint.id
        order by d.webhook_id, d.priority, d.next_attempt_at, d.id limit 1
      )
      from endpoint
      where endpoint.id is not null
    ), held as (
      select l.webhook_id, count(*) as places
      from leases l
      where l.leased_until > moment and l.fence <> all (ended_fences)
      group by l.webhook_id
    ), ready as (
      select w.id, per_endpoint - coalesce(held.places, 0) as places, w.id > the_cursor as is_next
      from endpoint
      join webhooks w on w.id = endpoint.id
      left join held on held.webhook_id = w.id
      where w.status = 'active'
        and (w.held_until is null or w.held_until <= moment)
        and coalesce(held.places, 0) < per_endpoint
    ), picked as (
      select ready.id as webhook_id, due.id, ready.is_next,
        row_number() over (partition by ready.id order by due.priority, due.next_attempt_at, due.id) as turn
      from ready
      cross join lateral (
        select found.* from (values (0), (1), (2)) as lane (priority)
        cross join lateral (
          select d.id, d.priority, d.next_attempt_at from deliveries d
          where d.webhook_id = ready.id and d.status = 'pending' and d.priority = lane.priority
            and d.next_attempt_at <= moment
            and (select l.leased_until > moment from leases l where l.delivery_id = d.id) is not true
          order by d.next_attempt_at, d.id
          limit ready.places
        ) as found
        order by found.priority, found.next_attempt_at, found.id
        limit ready.places
      ) as due
      order by turn, ready.is_next desc, ready.id
      limit the_limit
    ), leased as (
      -- In the order of their turns, and so are the fences.
      insert into leases as l (delivery_id, webhook_id, fence, leased_until)
      select picked.id, picked.webhook_id, nextval('fences'), moment + lease_ms * interval '1 millisecond' from picked
      on conflict on constraint leases_pkey do update set fence = excluded.fence, leased_until = excluded.leased_until
      returning l.delivery_id, l.webhook_id, l.fence
    )
    select d.id, leased.fence, w.tenant_slug, w.id, w.target_url, w.secret,
      case when w.previous_secret_expires_at > moment then w.previous_secret end,
      e.id, e.type, e.body, jsonb_array_length(d.attempts), w.failing_since is not null
    from leased
    join deliveries d on d.webhook_id = leased.webhook_id and d.id = leased.delivery_id
    join webhooks w on w.id = leased.webhook_id
    join events e on e.seq = d.event_seq
    order by leased.fence;
end
$$;

insert into migrations (name) values ('003-claim-due.sql');
