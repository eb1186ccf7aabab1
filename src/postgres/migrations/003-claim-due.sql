-- Leases due deliveries to a worker. Endpoints take turns, from the one after the_cursor on: first one delivery of each,
-- then a second one of each, until the_limit is reached. Leases of ended_fences are about to be completed, and take no
-- place of their endpoint any more.
--
-- Until vacuum comes, an index still has an entry for each delivery that has ended, and a long queue becomes slow to look
-- through from its start. So the caller says of some endpoints, known_ids, where their first attempts go on: up to
-- known_until, in milliseconds since the epoch, all were claimed before. It must say nothing now and then, for a lease
-- may have been given back, or a transaction committed late.
create function claim_due (
  the_limit integer, per_endpoint integer, lease_ms double precision, the_cursor bigint, ended_fences bigint[],
  known_ids bigint[], known_until double precision[]
)
returns table (
  delivery_id bigint, fence bigint, tenant_slug text, webhook_id bigint, target_url text, secret text,
  previous_secret text, event_id text, event_type text, body text, attempt_count integer, is_failing boolean,
  first_due_ms double precision
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
    with recursive known as materialized (
      -- What is recorded now may have been due a moment ago.
      select k.id, least(to_timestamp(k.until_ms / 1000), moment - interval '2 seconds') as until_time
      from unnest(known_ids, known_until) as k (id, until_ms)
    ), endpoint (id) as (
      select 0::bigint
      union all
      -- The next one that has something pending, or that is known.
      select coalesce((
        select d.webhook_id from deliveries d
        where d.status = 'pending' and d.webhook_id > endpoint.id and d.webhook_id < next_known.id
        -- In the whole order of deliveries_queue: an index that holds ended deliveries too would be read through them all.
        order by d.webhook_id, d.priority, d.next_attempt_at, d.id limit 1
      ), nullif(next_known.id, 9223372036854775807))
      from endpoint
      cross join lateral (
        select coalesce(min(known.id), 9223372036854775807) as id from known where known.id > endpoint.id
      ) as next_known
      where endpoint.id is not null
    ), held as (
      select l.webhook_id, count(*) as places
      from leases l
      where l.leased_until > moment and l.fence <> all (ended_fences)
      group by l.webhook_id
    ), ready as (
      select w.id, per_endpoint - coalesce(held.places, 0) as places, w.id > the_cursor as is_next,
        coalesce(known.until_time, '-infinity') as first_since
      from endpoint
      join webhooks w on w.id = endpoint.id
      left join known on known.id = endpoint.id
      left join held on held.webhook_id = w.id
      where w.status = 'active'
        and (w.held_until is null or w.held_until <= moment)
        and coalesce(held.places, 0) < per_endpoint
    ), picked as (
      select ready.id as webhook_id, due.id, ready.is_next,
        row_number() over (partition by ready.id order by due.priority, due.next_attempt_at, due.id) as turn
      from ready
      cross join lateral (
        select found.*
        from (values (0, ready.first_since), (1, '-infinity'), (2, '-infinity')) as lane (priority, since)
        cross join lateral (
          select d.id, d.priority, d.next_attempt_at from deliveries d
          where d.webhook_id = ready.id and d.status = 'pending' and d.priority = lane.priority
            and d.next_attempt_at >= lane.since and d.next_attempt_at <= moment
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
      e.id, e.type, e.body, jsonb_array_length(d.attempts), w.failing_since is not null,
      case when d.priority = 0 then extract(epoch from d.next_attempt_at)::double precision * 1000 end
    from leased
    join deliveries d on d.webhook_id = leased.webhook_id and d.id = leased.delivery_id
    join webhooks w on w.id = leased.webhook_id
    join events e on e.seq = d.event_seq
    order by leased.fence;
end
$$;

insert into migrations (name) values ('003-claim-due.sql');
