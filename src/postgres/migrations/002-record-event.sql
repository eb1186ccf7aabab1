-- Records an event and a delivery for each webhook that subscribes to its type, within the caller's transaction. It
-- locks nothing but the rows it makes. Returns a JSON array of the event's id, its deliveries and its fingerprint: one
-- value, for a row of several costs the caller's statement a fifth more.
create function record_event (
  the_tenant text, the_id text, the_type text, the_body text, the_tombstone text, the_subject text, the_key text,
  the_fingerprint text
) returns text
language plpgsql
set search_path from current
as $$
declare
  moment timestamptz := date_trunc('milliseconds', clock_timestamp());
  recorded text;
begin
  while recorded is null loop
    with target as (
      select w.id, w.status = 'active' as is_active
      from webhooks w
      where w.tenant_slug = the_tenant and the_type = any (w.event_types)
    ), event as (
      insert into events as e (
        id, tenant_slug, type, body, tombstone, subject, idempotency_key, fingerprint, deliveries, recorded_at
      )
      values (
        the_id, the_tenant, the_type, the_body, the_tombstone, the_subject, the_key, the_fingerprint,
        (select count(*) from target where is_active), moment
      )
      on conflict (tenant_slug, idempotency_key) where idempotency_key is not null do nothing
      returning e.seq, e.id, e.deliveries, e.fingerprint
    ), delivery as (
      insert into deliveries (webhook_id, event_seq, status, priority, next_attempt_at, created_at)
      select target.id, event.seq, case when is_active then 'pending' else 'skipped' end, 0, moment, moment
      from target, event
      order by target.id
    )
    select json_build_array(event.id, event.deliveries, event.fingerprint)::text into recorded from event;

    if recorded is null then
      -- The key is taken. If its event has just been pruned there is nothing to find, and the key is free again.
      select json_build_array(e.id, e.deliveries, e.fingerprint)::text into recorded
      from events e
      where e.tenant_slug = the_tenant and e.idempotency_key = the_key;
    end if;
  end loop;
  return recorded;
end
$$;

insert into migrations (name) values ('002-record-event.sql');
