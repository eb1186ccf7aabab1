-- Puts tombstones in the place of the events of a subject and cancels their pending deliveries, within the caller's
-- transaction. Returns how many events have that subject.
create function erase_subject (the_tenant text, the_subject text) returns integer
language plpgsql
set search_path from current
as $$
declare
  found_events bigint[];
  stopped_ids bigint[];
begin
  select array_agg(e.seq order by e.seq) into found_events
  from events e
  where e.tenant_slug = the_tenant and e.subject = the_subject;

  update events e set body = coalesce(e.tombstone, '') where e.seq = any (found_events);

  with waiting as materialized (
    select d.webhook_id, d.id from deliveries d
    where d.event_seq = any (found_events) and d.status = 'pending'
    order by d.webhook_id, d.id
    for no key update
  ), stopped as (
    update deliveries d set status = 'cancelled'
    from waiting
    where d.webhook_id = waiting.webhook_id and d.id = waiting.id
    returning d.id
  )
  select array_agg(id) into stopped_ids from stopped;
  perform free_places(stopped_ids);

  return coalesce(array_length(found_events, 1), 0);
end
$$;

insert into migrations (name) values ('007-erase-subject.sql');
