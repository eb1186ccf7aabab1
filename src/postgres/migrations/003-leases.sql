-- Ends leases, each given by its fence and its delivery. Returns their webhooks in the order given, null for a lease that
-- was lost, completed or given back.
create function end_leases (the_fences bigint[], the_ids bigint[]) returns bigint[]
language plpgsql
set search_path from current
set enable_seqscan = off
set jit = off
as $$
declare
  the_webhooks bigint[];
begin
  with held as materialized (
    select l.fence, l.webhook_ids, l.delivery_ids from leases l
    where l.fence = any (the_fences) and l.delivery_ids && the_ids
    -- Everybody who waits for several rows does it in this order.
    order by l.fence, l.part
    for update
  )
  select array_agg(held.webhook_ids[array_position(held.delivery_ids, id)] order by ordinal) into the_webhooks
  from unnest(the_fences, the_ids) with ordinality as given (fence, id, ordinal)
  left join held on held.fence = given.fence and id = any (held.delivery_ids);

  merge into leases l
  using (select fence, array_agg(id) as ids from unnest(the_fences, the_ids) as given (fence, id) group by fence) as ended
  on l.fence = ended.fence and l.delivery_ids && ended.ids
  when matched and l.delivery_ids <@ ended.ids then delete
  when matched then update set
    webhook_ids = array(select webhook from unnest(l.webhook_ids, l.delivery_ids) as m (webhook, id) where id <> all (ended.ids)),
    delivery_ids = array(select id from unnest(l.delivery_ids) as m (id) where id <> all (ended.ids));

  return the_webhooks;
end
$$;

-- Lets deliveries that stopped being pending under way take no place of their endpoints any more.
create function free_places (the_ids bigint[]) returns void
language plpgsql
set search_path from current
set jit = off
as $$
begin
  with found as (
    select l.fence, l.part, array_agg(m.delivery_id) as ids
    from leases l
    cross join lateral unnest(l.delivery_ids) as m (delivery_id)
    join unnest(the_ids) as stopped (id) on stopped.id = m.delivery_id
    group by l.fence, l.part
  ), held as materialized (
    -- A row that somebody has locked is being completed, which goes on to lock deliveries: waiting would be in a circle.
    select l.fence, l.part, found.ids
    from found
    join leases l on l.fence = found.fence and l.part = found.part
    for no key update of l skip locked
  )
  update leases l set stopped_ids = l.stopped_ids || held.ids
  from held
  where l.fence = held.fence and l.part = held.part;
end
$$;

insert into migrations (name) values ('003-leases.sql');
