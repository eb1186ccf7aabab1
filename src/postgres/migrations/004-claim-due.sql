-- Leases due deliveries to a worker. Endpoints take turns, from the one after the_cursor on: first one delivery of each,
-- then a second one of each, until the_limit is reached. Leases that have ended, by their fences and deliveries, are
-- about to be completed, and take no place of their endpoint any more.
--
-- Until vacuum comes, an index still has an entry for each delivery that has ended, and a long queue becomes slow to look
-- through from its start. So the caller says of some endpoints, known_ids, where their first attempts go on: up to
-- known_until, in milliseconds since the epoch, all were claimed before; known_ids ascend. It must say nothing now and
-- then, for a lease may have been given back, or a transaction committed late.
create function claim_due (
  the_limit integer, per_endpoint integer, lease_ms double precision, the_cursor bigint, ended_fences bigint[],
  ended_ids bigint[], known_ids bigint[], known_until double precision[]
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
  this_fence bigint;
begin
  -- A claim that a crash of the server loses is made again, so it need not wait for the disk.
  perform set_config('synchronous_commit', 'off', true);
  -- One worker claims at a time, so that each sees the leases of all others. It takes milliseconds.
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.claim_due', 0));
  moment := clock_timestamp();
  this_fence := nextval('fences');

  return query
    with recursive lane (webhook_id, priority, since, known_count) as (
      select 0::bigint, 2::smallint, '-infinity'::timestamptz, 0
      union all
      -- The next one that has something pending, or else the first lane of the next endpoint that is known.
      select coalesce(found.webhook_id, known_ids[known_count + 1]), coalesce(found.priority, 0::smallint),
        case when found.webhook_id is null
          -- What is recorded now may have been due a moment ago.
          then least(to_timestamp(known_until[known_count + 1] / 1000), moment - interval '2 seconds')
          else '-infinity'
        end,
        known_count + (found.webhook_id is null)::integer
      from lane
      left join lateral (
        select d.webhook_id, d.priority from deliveries d
        where d.status = 'pending' and (d.webhook_id, d.priority) > (lane.webhook_id, lane.priority)
          and d.webhook_id < coalesce(known_ids[known_count + 1], 9223372036854775807)
        -- In the whole order of deliveries_queue: an index that holds ended deliveries too would be read through them all.
        order by d.webhook_id, d.priority, d.next_attempt_at, d.id
        limit 1
      ) as found on true
      where found.webhook_id is not null or known_count < cardinality(known_ids)
    ), held as (
      -- What has ended takes no place, but is pending until it is completed.
      select webhook_id, array_agg(delivery_id) as delivery_ids, count(*) filter (
        where delivery_id <> all (stopped_ids)
          and (fence, delivery_id) not in (select * from unnest(ended_fences, ended_ids))
      ) as places
      from (
        select fence, unnest(webhook_ids) as webhook_id, unnest(delivery_ids) as delivery_id, stopped_ids
        from leases
        where leased_until > moment
      ) as lease
      group by webhook_id
    ), due as (
      select w.id as webhook_id, found.*, free.places, w.id > the_cursor as is_next,
        row_number() over (partition by w.id order by found.priority, found.next_attempt_at, found.id) as turn
      from lane
      join webhooks w on w.id = lane.webhook_id
      left join held on held.webhook_id = w.id
      cross join lateral (select greatest(per_endpoint - coalesce(held.places, 0), 0) as places) as free
      cross join lateral (
        select d.id, d.event_seq, d.priority, d.next_attempt_at, jsonb_array_length(d.attempts) as attempt_count
        from deliveries d
        where d.webhook_id = lane.webhook_id and d.status = 'pending' and d.priority = lane.priority
          and d.next_attempt_at >= lane.since and d.next_attempt_at <= moment
          and d.id <> all (coalesce(held.delivery_ids, '{}'))
        order by d.next_attempt_at, d.id
        limit free.places
      ) as found
      where w.status = 'active' and (w.held_until is null or w.held_until <= moment)
    ), picked as (
      select row_number() over () as ordinal, chosen.*
      from (select * from due where turn <= places order by turn, is_next desc, webhook_id limit the_limit) as chosen
    ), leased as (
      insert into leases (fence, part, webhook_ids, delivery_ids, leased_until)
      select this_fence, part, array_agg(webhook_id), array_agg(id), moment + lease_ms * interval '1 millisecond'
      from (select (ordinal - 1) / 64 as part, webhook_id, id from picked) as member
      group by part
    )
    select picked.id, this_fence, w.tenant_slug, w.id, w.target_url, w.secret,
      case when w.previous_secret_expires_at > moment then w.previous_secret end,
      e.id, e.type, e.body, picked.attempt_count, w.failing_since is not null,
      case when picked.priority = 0 then extract(epoch from picked.next_attempt_at)::double precision * 1000 end
    from picked
    join webhooks w on w.id = picked.webhook_id
    join events e on e.seq = picked.event_seq
    order by picked.ordinal;

  -- What ran out and has just been claimed anew is lost to the one who had it.
  if exists (select from leases l where l.leased_until <= moment) then
    perform end_leases(array_agg(old.fence), array_agg(m.delivery_id))
    from leases old
    cross join lateral unnest(old.delivery_ids) as m (delivery_id)
    where old.leased_until <= moment and m.delivery_id in (
      select unnest(l.delivery_ids) from leases l where l.fence = this_fence
    );
  end if;
end
$$;

insert into migrations (name) values ('004-claim-due.sql');
