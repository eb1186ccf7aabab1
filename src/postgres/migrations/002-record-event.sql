-- Records an event and a delivery for each webhook that subscribes to its type, within the caller's transaction. It
-- locks nothing but the rows it makes. Returns how many of the deliveries are pending; or, if an earlier event has that
-- key, a JSON array of its id, its deliveries and its fingerprint. One value: a row of several costs the caller's
-- statement a fifth more.
create function record_event (
  the_tenant text, the_id text, the_type text, the_body text, the_tombstone text, the_subject text, the_key text,
  the_fingerprint text
) returns text
language plpgsql
set search_path from current
as $$
declare
  moment timestamptz := date_trunc('milliseconds', clock_timestamp());
  the_seq bigint;
  pending integer;
  earlier text;
begin
  -- Short statements one after another: one that does it all takes longer, the more so with many at once.
  if the_key is null then
    -- Most events have no key, and looking out for one that is taken takes longer too.
    insert into events (id, tenant_slug, type, body, tombstone, subject, fingerprint, recorded_at)
    values (the_id, the_tenant, the_type, the_body, the_tombstone, the_subject, the_fingerprint, moment)
    returning seq into the_seq;
  else
    loop
      insert into events (id, tenant_slug, type, body, tombstone, subject, idempotency_key, fingerprint, recorded_at)
      values (the_id, the_tenant, the_type, the_body, the_tombstone, the_subject, the_key, the_fingerprint, moment)
      on conflict (tenant_slug, idempotency_key) where idempotency_key is not null do nothing
      returning seq into the_seq;
      exit when found;

      select json_build_array(e.id, e.deliveries, e.fingerprint)::text into earlier
      from events e
      where e.tenant_slug = the_tenant and e.idempotency_key = the_key;
      if found then
        return earlier;
      end if;
      -- The event of that key has just been pruned, and the key is free again.
    end loop;
  end if;

  with made as (
    insert into deliveries (webhook_id, event_seq, status, priority, next_attempt_at, created_at)
    select w.id, the_seq, case w.status when 'active' then 'pending' else 'skipped' end, 0, moment, moment
    from webhooks w
    where w.tenant_slug = the_tenant and the_type = any (w.event_types)
    returning status
  )
  select count(*) filter (where status = 'pending') into pending from made;

  if the_key is not null then
    update events e set deliveries = pending where e.seq = the_seq;
  end if;
  return pending;
end
$$;

insert into migrations (name) values ('002-record-event.sql');
