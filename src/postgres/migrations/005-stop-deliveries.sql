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
  ), freed as (
    select free_places(array_agg(id)) from stopped
  )
  select count(*)::integer from stopped, freed
$$;

insert into migrations (name) values ('005-stop-deliveries.sql');
