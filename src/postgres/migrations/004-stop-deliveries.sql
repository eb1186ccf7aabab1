-- Ends up to the_limit pending deliveries of a webhook, and returns how many.
create function stop_deliveries (the_webhook bigint, the_status text, the_limit integer) returns integer
language sql
set search_path from current
as $$
  with waiting as materialized (
    select d.id from deliveries d
    where d.webhook_id = the_webhook and d.status = 'pending'
    -- Everybody who locks several deliveries does it in this order.
    order by d.id
    limit the_limit
    for no key update
  ), stopped as (
    update deliveries d set status = the_status
    from waiting
    where d.webhook_id = the_webhook and d.id = waiting.id
    returning d.id
  ), held as materialized (
    -- A lease that somebody has locked is being completed, which goes on to lock the delivery: waiting would be in a circle.
    select l.delivery_id from stopped join leases l on l.delivery_id = stopped.id
    for no key update of l skip locked
  ), lapsed as (
    update leases l set leased_until = least(l.leased_until, clock_timestamp())
    from held
    where l.delivery_id = held.delivery_id
  )
  select count(*)::integer from stopped
$$;

insert into migrations (name) values ('004-stop-deliveries.sql');
