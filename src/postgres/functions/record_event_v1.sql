-- Records an event and a delivery for each webhook that subscribes to its type and whose filters it matches, in the
-- caller's transaction. Writes only new rows that no other transaction waits for, except one with the same
-- idempotency key. p_other_subjects is a JSON array or null. p_filter_body is the column of events.
--
-- Returns the number of pending deliveries; or, if an earlier event has the same idempotency key, a JSON array of its
-- id, deliveries and fingerprint; or, if the tenant rests, a JSON string with the end of its rest.
create function record_event_v1 (
  p_tenant text, p_id text, p_type text, p_body text, p_tombstone text, p_subject text, p_other_subjects text, p_key text, p_fingerprint text,
  p_trace_parent text, p_filter_body text
) returns text
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_key text;
  v_rests_until timestamptz;
  v_seq bigint;
  v_pending integer;
  v_earlier text;
begin
  select t.key, t.rests_until into v_key, v_rests_until from tenants t where t.tenant = p_tenant;
  if v_rests_until is not null then
    return to_json(to_char(v_rests_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
  end if;
  v_key := coalesce(v_key, p_tenant);

  perform start_recording_v1('events_seq_seq');
  if p_key is null then
    insert into events (id, tenant_key, type, body, filter_body, tombstone, subject, trace_parent, fingerprint, recorded_at)
    values (p_id, v_key, p_type, p_body, p_filter_body, p_tombstone, p_subject, p_trace_parent, p_fingerprint, v_now)
    returning seq into v_seq;
  else
    loop
      insert into events (
        id, tenant_key, type, body, filter_body, tombstone, subject, idempotency_key, trace_parent, fingerprint, recorded_at
      )
      values (
        p_id, v_key, p_type, p_body, p_filter_body, p_tombstone, p_subject, p_key, p_trace_parent, p_fingerprint, v_now
      )
      on conflict (tenant_key, idempotency_key) where idempotency_key is not null do nothing
      returning seq into v_seq;
      exit when found;

      select json_build_array(e.id, e.deliveries, e.fingerprint)::text into v_earlier
      from events e
      where e.tenant_key = v_key and e.idempotency_key = p_key;
      if found then
        return v_earlier;
      end if;
      -- The earlier event was pruned just now: try again.
    end loop;
  end if;

  if p_other_subjects is not null then
    insert into event_subjects (tenant_key, subject, event_seq)
    select v_key, s.subject, v_seq from json_array_elements_text(p_other_subjects::json) as s (subject);
  end if;

  with subscribed as (
    select w.id, w.status from webhooks w
    -- The tenant may have been renamed while this waited for an event with the same idempotency key. A removed one is
    -- null here.
    where w.tenant = (select case count(*) when 0 then p_tenant else max(t.tenant) end from tenants t where t.key = v_key)
      and p_type = any (w.event_types)
      -- Converts the body once, and only for a webhook with filters.
      and case when w.filter_path is null then true
        else (select event_json_v1(coalesce(p_filter_body, p_body))) @@ w.filter_path end
  ), skipped as (
    insert into deliveries (webhook_id, id, event_seq, event_type, status, created_at, ended_at)
    select s.id, nextval('delivery_ids'), v_seq, p_type, 'skipped', v_now, v_now from subscribed s where s.status <> 'active'
  ), queued as (
    insert into queue (event_seq, webhook_id, event_type, lane, due_at, created_at)
    select v_seq, s.id, p_type, 1, v_now, v_now from subscribed s where s.status = 'active'
    returning id
  )
  select count(*) into v_pending from queued;

  if p_key is not null then
    update events e set deliveries = v_pending where e.seq = v_seq;
  end if;
  return v_pending;
end
$$;
