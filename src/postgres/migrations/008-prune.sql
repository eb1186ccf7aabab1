-- Deletes up to the_limit deliveries that ended and were made before the retention, then up to the_limit events of that
-- age that no delivery is left of. Returns how many rows went.
create function prune (retention_days double precision, the_limit integer) returns integer
language plpgsql
set search_path from current
as $$
declare
  oldest timestamptz := clock_timestamp() - retention_days * interval '1 day';
  candidates bigint[];
  deleted_deliveries integer;
  deleted_events integer;
begin
  delete from deliveries d
  using (
    select old.webhook_id, old.id from deliveries old
    where old.created_at < oldest and old.status <> 'pending'
    limit the_limit
    for update skip locked
  ) as ended
  where d.webhook_id = ended.webhook_id and d.id = ended.id;
  get diagnostics deleted_deliveries = row_count;

  -- A replay holds a lock on its events until it has committed. So what is locked here has all its deliveries where the
  -- next statement sees them.
  select array_agg(old.seq) into candidates from (
    select e.seq from events e
    where e.recorded_at < oldest and not exists (select from deliveries d where d.event_seq = e.seq)
    limit the_limit
    for update skip locked
  ) as old;
  delete from events e
  where e.seq = any (candidates) and not exists (select from deliveries d where d.event_seq = e.seq);
  get diagnostics deleted_events = row_count;

  -- Nobody will complete these any more.
  delete from leases l
  where l.leased_until < clock_timestamp() - interval '1 day'
    and not exists (
      select from unnest(l.webhook_ids, l.delivery_ids) as m (webhook_id, delivery_id)
      join deliveries d on d.webhook_id = m.webhook_id and d.id = m.delivery_id and d.status = 'pending'
    );

  return deleted_deliveries + deleted_events;
end
$$;

insert into migrations (name) values ('008-prune.sql');
