-- Records an event and a delivery for each webhook that subscribes to its type, in the caller's transaction. Locks only
-- new rows. Returns the number of pending deliveries; or, if an earlier event has the same idempotency key, a JSON array
-- of its id, deliveries and fingerprint.
create function record_event_v1 (
  p_tenant text, p_id text, p_type text, p_body text, p_tombstone text, p_subject text, p_key text, p_fingerprint text
) returns text
language plpgsql
set search_path from current
as $$
declare
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_tenant bigint;
  v_seq bigint;
  v_pending integer;
  v_earlier text;
begin
  loop
    select t.id into v_tenant from tenants t where t.slug = p_tenant;
    exit when found;
    -- The first event of a tenant without webhooks.
    insert into tenants (slug) values (p_tenant) on conflict (slug) do nothing;
  end loop;

  if p_key is null then
    insert into events (id, tenant_id, type, body, tombstone, subject, fingerprint, recorded_at)
    values (p_id, v_tenant, p_type, p_body, p_tombstone, p_subject, p_fingerprint, v_now)
    returning seq into v_seq;
  else
    loop
      insert into events (id, tenant_id, type, body, tombstone, subject, idempotency_key, fingerprint, recorded_at)
      values (p_id, v_tenant, p_type, p_body, p_tombstone, p_subject, p_key, p_fingerprint, v_now)
      on conflict (tenant_id, idempotency_key) where idempotency_key is not null do nothing
      returning seq into v_seq;
      exit when found;

      select json_build_array(e.id, e.deliveries, e.fingerprint)::text into v_earlier
      from events e
      where e.tenant_id = v_tenant and e.idempotency_key = p_key;
      if found then
        return v_earlier;
      end if;
      -- The earlier event was pruned just now: try again.
    end loop;
  end if;

  with subscribed as (
    select w.id, w.status from webhooks w where w.tenant_slug = p_tenant and p_type = any (w.event_types)
  ), skipped as (
    insert into deliveries (webhook_id, id, event_seq, status, created_at, ended_at)
    select s.id, nextval('delivery_ids'), v_seq, 'skipped', v_now, v_now from subscribed s where s.status <> 'active'
  ), queued as (
    insert into queue (event_seq, webhook_id, lane, due_at, created_at)
    select v_seq, s.id, 1, v_now, v_now from subscribed s where s.status = 'active'
    returning id
  )
  select count(*) into v_pending from queued;

  if p_key is not null then
    update events e set deliveries = v_pending where e.seq = v_seq;
  end if;
  return v_pending;
end
$$;

insert into migrations (name) values ('002-record-event.sql');
