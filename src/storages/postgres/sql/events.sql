-- Records an event, and a delivery for each webhook with this event type and matching filters, in the caller's
-- transaction. Writes only new rows that no other transaction waits for, except one with the same idempotency key.
-- p_other_subjects is a JSON array or null; p_filter_body is the column filter_body. With p_in_transaction, the caller
-- must have an open transaction, as for askInTransaction: otherwise only requests its id and returns an empty text.
-- body and tombstone are stored after p_head and the event's sequence, or as they are if p_head is null. The webhook
-- p_except gets no delivery; it can be null.
--
-- Returns the number of pending deliveries. If an earlier event has the same idempotency key, returns a JSON array of
-- its id, deliveries and fingerprint. If the tenant is resting, returns a JSON string with the end of its rest.
create or replace function record_event_v1 (
  p_tenant text, p_id text, p_type text, p_body text, p_tombstone text, p_subject text, p_other_subjects text,
  p_key text, p_fingerprint text,
  p_trace_parent text, p_filter_body text, p_head text, p_except bigint, p_in_transaction boolean
) returns text
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_key text;
  v_rests_until timestamptz;
  v_active bigint[];
  v_inactive bigint[];
  v_is_selective boolean;
  v_drawn bigint[];
  v_seq bigint;
  v_sequence bigint;
  v_latest bigint;
  v_head text;
  v_pending integer;
  v_earlier text;
begin
  if p_in_transaction and pg_current_xact_id_if_assigned() is null then
    return left(pg_current_xact_id()::text, 0);
  end if;
  select coalesce(t.key, p_tenant), t.rests_until, subscribed.active, subscribed.inactive, subscribed.is_selective
  into v_key, v_rests_until, v_active, v_inactive, v_is_selective
  from (
    select array_agg(w.id) filter (where w.status = 'active') as active,
      array_agg(w.id) filter (where w.status <> 'active') as inactive,
      bool_or(w.changed is not null or w.filter_path is not null) as is_selective
    from webhooks w
    where w.tenant = p_tenant and w.subscription_id is null and p_type = any (w.event_types)
      and w.id is distinct from p_except
  ) as subscribed
  left join tenants t on t.tenant = p_tenant;
  if v_rests_until is not null then
    return to_json(to_char(v_rests_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
  end if;

  v_drawn := start_recording_v1('events_seq_seq');
  v_seq := v_drawn[1];
  -- Microseconds reveal nothing about other tenants.
  v_sequence := v_drawn[2];
  v_latest := coalesce(pg_sequence_last_value('event_clock'), 0);
  if v_sequence > v_latest + 1000 then
    -- Without privileges, PostgreSQL 18 returns no last value.
    if v_latest = 0 and not has_sequence_privilege('event_clock', 'select') then
      raise exception 'permission denied for sequence event_clock: grant select on it to %', current_user
        using errcode = 'insufficient_privilege';
    end if;
    v_latest := setval('event_clock', v_sequence);
  elsif v_sequence < v_latest then
    -- The clock was set back by more than a millisecond, another server took over, or a later number was faster.
    v_sequence := greatest(v_sequence, 1 + (
      select e.sequence from events e where e.tenant_key = any (array[v_key]) and e.seq < v_seq
      order by e.tenant_key desc, e.seq desc limit 1
    ));
  end if;
  v_head := coalesce(p_head || v_sequence, '');
  if p_key is null then
    insert into events (
      seq, sequence, id, tenant_key, type, body, filter_body, tombstone, subject, trace_parent, fingerprint, recorded_at
    )
    overriding system value
    values (
      v_seq, v_sequence, p_id, v_key, p_type, v_head || p_body, p_filter_body, v_head || p_tombstone, p_subject,
      p_trace_parent, p_fingerprint, v_now
    );
  else
    loop
      insert into events (
        seq, sequence, id, tenant_key, type, body, filter_body, tombstone, subject, idempotency_key, trace_parent,
        fingerprint, recorded_at
      )
      overriding system value
      values (
        v_seq, v_sequence, p_id, v_key, p_type, v_head || p_body, p_filter_body, v_head || p_tombstone, p_subject,
        p_key, p_trace_parent, p_fingerprint, v_now
      )
      on conflict (tenant_key, idempotency_key) where idempotency_key is not null do nothing;
      exit when found;

      select json_build_array(e.id, e.deliveries, e.fingerprint)::text into v_earlier
      from events e
      where e.tenant_key = v_key and e.idempotency_key = p_key;
      if found then
        return v_earlier;
      end if;
      -- The earlier event has just been pruned: try again.
    end loop;
  end if;

  if p_other_subjects is not null then
    insert into event_subjects (tenant_key, subject, event_seq)
    select v_key, s.subject, v_seq from json_array_elements_text(p_other_subjects::json) as s (subject);
  end if;

  -- While this waited for an event with the same key, webhooks may have been stopped or removed.
  if p_key is not null or v_is_selective then
    select array_agg(w.id) filter (where w.status = 'active'), array_agg(w.id) filter (where w.status <> 'active')
    into v_active, v_inactive
    from webhooks w
    where w.id = any (v_active || v_inactive)
      -- Converts the body once for each of these conditions, and only for a webhook with it.
      and case when w.changed is null then true
        else (
          select jsonb_path_query_array(
            event_json_v1(coalesce(p_filter_body, v_head || p_body)), 'strict $.changed[*]', '{}', true
          )
        ) ?| w.changed end
      and case when w.filter_path is null then true
        else (select event_json_v1(coalesce(p_filter_body, v_head || p_body))) @@ w.filter_path end;
  end if;
  if v_active is not null then
    insert into queue (event_seq, webhook_id, event_type, lane, due_at, created_at)
    select v_seq, a.id, p_type, 1, v_now, v_now from unnest(v_active) as a (id);
  end if;
  if v_inactive is not null then
    insert into deliveries (webhook_id, id, event_seq, event_type, status, created_at, ended_at)
    select i.id, nextval('delivery_ids'), v_seq, p_type, 'skipped', v_now, v_now from unnest(v_inactive) as i (id);
  end if;
  v_pending := coalesce(cardinality(v_active), 0);

  if p_key is not null then
    update events e set deliveries = v_pending where e.seq = v_seq;
  end if;
  return v_pending;
end
$$;

-- Records an event from the database, such as that of a trigger of watch, as emit does. p_data is an object as JSON;
-- p_changed, p_subject and p_except can be null. Records nothing while the tenant rests.
create or replace function emit_row_v1 (
  p_tenant text, p_slug text, p_type text, p_changed text[], p_data text, p_subject text, p_except bigint default null
) returns void
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_uuid text := gen_random_uuid();
  -- Like generateEventId.
  v_id text := 'evt_' || lpad(to_hex(floor(1000 * extract(epoch from v_now))::bigint), 12, '0')
    || left(v_uuid, 8) || right(v_uuid, 12);
  v_head text := '{"id":"' || v_id || '","type":' || to_json(p_type) || ',"timestamp":"'
    || to_char(v_now at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '","sequence":"';
  v_rest text := '","tenant_slug":' || to_json(p_slug) || coalesce(',"changed":' || array_to_json(p_changed), '')
    || ',"data":';
begin
  if p_data is null or json_typeof(p_data::json) <> 'object' then
    raise exception 'data: expected an object, got %', left(coalesce(p_data, 'null'), 100);
  elsif p_subject = '' or char_length(p_subject) > 255 or p_subject ~ '[[:cntrl:]]' then
    raise exception 'subject: expected 1 to 255 characters without control characters';
  -- The sequence has 16 digits.
  elsif octet_length(v_head || v_rest || p_data || '}') + 16 > 262144 then
    raise exception 'data: expected an event whose body is at most 262144 bytes';
  end if;
  perform record_event_v1(
    p_tenant, v_id, p_type, v_rest || p_data || '}',
    case when p_subject is not null then v_rest || 'null,"erased":true}' end,
    p_subject, null, null, '', null, null, v_head, p_except, false
  );
end
$$;

-- Returns an event's body for filters. A body that PostgreSQL cannot convert, such as an erased event's empty body,
-- becomes an empty object, because it must not make an emit fail.
create or replace function event_json_v1 (p_body text) returns jsonb
language plpgsql
stable
set search_path from current
set jit to off
as $$
begin
  return p_body::jsonb;
exception
  when data_exception or program_limit_exceeded then
    return '{}';
end
$$;

-- Returns the values that positions in a tenant's events are compared with, as of the caller's snapshot. p_bound is the
-- bound of recorded_to_v1. tenant_key: the key of the tenant's events; epoch: differs between databases, restores and
-- adoptions of a database, and successive tenants with one id; pruned: the last pruned event of all tenants; read_to: a
-- position after which no event is missed. It is a committed event's number, so it is on disk: after a crash, the
-- sequence continues after it.
create or replace function feed_bounds_v1 (
  p_tenant text, p_bound bigint, out tenant_key text, out epoch text, out pruned bigint, out read_to bigint
)
language plpgsql
stable
set search_path from current
set jit to off
as $$
declare
  v_state change_state;
begin
  tenant_key := coalesce((select t.key from tenants t where t.tenant = p_tenant), p_tenant);
  select s.* into v_state from change_state s;
  pruned := v_state.pruned_event_seq;
  read_to := greatest(pruned, (
    select e.seq from events e where e.seq > pruned and e.seq <= p_bound order by e.seq desc limit 1
  ));

  epoch := left(encode(sha256(convert_to(concat_ws(' ',
    server_identity_v1(),
    (select d.oid from pg_database d where d.datname = current_database()),
    'events'::regclass::oid,
    v_state.id,
    (select ended.xid from ended_changes ended where ended.tenant_digest = sha256(convert_to(p_tenant, 'UTF8'))),
    -- Changes when a copy is adopted.
    (select string_agg(concat_ws(' ', h.system, h.database_oid, h.table_oid), ' ' order by h.table_oid) from home h)
  ), 'UTF8')), 'hex'), 16);
end
$$;

-- Replaces a subject's events with their tombstones, cancels their queued deliveries and removes the responses, in the
-- caller's transaction. Takes up to p_limit events, starting with those that are not erased or have queued deliveries.
-- Returns an object: the number of the subject's events, and whether any such events are left.
create or replace function erase_subject_v1 (p_tenant text, p_subject text, p_limit integer) returns json
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_now timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_key text := coalesce((select t.key from tenants t where t.tenant = p_tenant), p_tenant);
  v_events bigint[];
  v_count bigint;
  v_truncated boolean;
begin
  with named as (
    select e.seq from events e where e.tenant_key = v_key and e.subject = p_subject
    union
    select s.event_seq from event_subjects s where s.tenant_key = v_key and s.subject = p_subject
  ), ranked as (
    select e.seq, todo.is_open, row_number() over (order by todo.is_open desc, e.seq) as place
    from named
    join events e on e.seq = named.seq
    cross join lateral (
      select e.body <> coalesce(e.tombstone, '') or exists (select from queue q where q.event_seq = e.seq) as is_open
    ) as todo
  )
  select array_agg(r.seq order by r.seq) filter (where r.place <= p_limit), count(*),
    coalesce(bool_or(r.is_open) filter (where r.place > p_limit), false)
  into v_events, v_count, v_truncated
  from ranked r;

  update events e set body = coalesce(e.tombstone, ''), filter_body = null where e.seq = any (v_events);

  with erased as (
    delete from queue q where q.event_seq = any (v_events) returning q.*
  )
  insert into deliveries (
    webhook_id, id, event_seq, event_type, status, created_at, ended_at, earlier, fence, leased_until
  )
  select e.webhook_id, e.id, e.event_seq, e.event_type, 'cancelled', e.created_at, v_now, e.attempts,
    e.fence, e.leased_until
  from erased e;

  -- A response may repeat the data. This statement also sees the attempts that the previous one waited for.
  update deliveries d set
    response_excerpt = null,
    earlier = (select jsonb_agg(e.attempt - 'response_excerpt' order by e.nth)
      from jsonb_array_elements(d.earlier) with ordinality as e (attempt, nth))
  -- An attempt of a stopped delivery, which has a fence, may be writing its excerpt: waits for it.
  where d.event_seq = any (v_events)
    and (d.fence is not null or d.response_excerpt is not null or d.earlier @? '$[*].response_excerpt');

  return json_build_object('events', v_count, 'truncated', v_truncated);
end
$$;

-- Reads up to p_limit events older than the retention period, oldest first, after p_after: a JSON array of a date and a
-- seq, or null for the first call. Deletes their old deliveries that are finished or wait for a suspended tenant, then
-- the events without deliveries. Also deletes expired requests. Returns the number of deleted rows and the p_after of
-- the next call, or null at the end.
create or replace function prune_v1 (
  p_retention_days double precision, p_limit integer, p_after text, out pruned integer, out next_after text
)
language plpgsql
set search_path from current
set plan_cache_mode to force_generic_plan
set jit to off
as $$
declare
  v_now timestamptz := clock_timestamp();
  v_before timestamptz := v_now - p_retention_days * interval '1 day';
  v_events bigint[];
  v_count integer;
begin
  select array_agg(walked.seq),
    (array_agg(json_build_array(walked.recorded_at, walked.seq) order by walked.recorded_at, walked.seq))[p_limit]
  into v_events, next_after
  from (
    select e.seq, e.recorded_at from events e
    where e.recorded_at < v_before
      and (e.recorded_at, e.seq) > (
        coalesce((p_after::json ->> 0)::timestamptz, '-infinity'), coalesce((p_after::json ->> 1)::bigint, 0)
      )
    order by e.recorded_at, e.seq
    limit p_limit
  ) as walked;

  -- Skips events locked by a replay.
  v_events := array(select e.seq from events e where e.seq = any (v_events) order by e.seq for update skip locked);

  delete from deliveries d where d.event_seq = any (v_events) and d.created_at < v_before;
  get diagnostics pruned = row_count;
  delete from queue q
  where q.ctid = any (array(
    select old.ctid from queue old
    join webhooks w on w.id = old.webhook_id and w.is_suspended
    where old.event_seq = any (v_events) and old.created_at < v_before and old.lane is distinct from 0
    for update of old skip locked
  ));
  get diagnostics v_count = row_count;
  pruned := pruned + v_count;
  delete from requests r using (
    select o.tenant, o.digest from requests o
    where o.expires_at <= v_now order by o.expires_at limit p_limit for update skip locked
  ) as over
  where r.tenant = over.tenant and r.digest = over.digest;
  get diagnostics v_count = row_count;
  pruned := pruned + v_count;
  with deleted as (
    delete from events e
    where e.seq = any (v_events)
      and not exists (select from queue q where q.event_seq = e.seq)
      and not exists (select from deliveries d where d.event_seq = e.seq)
    returning e.seq
  ), raised as (
    update change_state state
    set pruned_event_seq = last.seq
    from (select max(d.seq) as seq from deleted d) as last
    where state.pruned_event_seq < last.seq
  )
  select count(*) into v_count from deleted;
  pruned := pruned + v_count;
  delete from event_subjects s
  where s.event_seq = any (v_events) and not exists (select from events e where e.seq = s.event_seq);
end
$$;

-- Deletes up to p_limit events of removed tenants with their deliveries. Returns the number of events left, at most
-- p_limit. A batch starts where the previous one stopped, because the index keeps the entries of deleted events until
-- vacuum runs.
create or replace function remove_events_v1 (p_limit integer) returns integer
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_removed record;
  v_wanted integer;
  v_found integer;
  v_events bigint[];
  v_dates timestamptz[];
  v_deleted integer := 0;
  v_left integer := 0;
begin
  for v_removed in
    select t.key, coalesce(t.removed_to, '-infinity') as removed_to from tenants t where t.tenant is null order by t.key
  loop
    v_wanted := 2 * p_limit - v_deleted - v_left;
    select count(*), array_agg(found.seq order by found.recorded_at),
      array_agg(found.recorded_at order by found.recorded_at)
    into v_found, v_events, v_dates
    from (
      select e.seq, e.recorded_at from events e
      -- As in has_events_v1.
      where e.tenant_key = any (array(select v_removed.key)) and e.recorded_at >= v_removed.removed_to
      order by e.tenant_key, e.recorded_at
      limit v_wanted
    ) as found;
    v_events := v_events[:p_limit - v_deleted];

    -- Waits for replays of these events, so that the next statements see their deliveries.
    perform from events e where e.seq = any (v_events) order by e.seq for update;
    delete from queue q where q.event_seq = any (v_events);
    delete from deliveries d where d.event_seq = any (v_events);
    delete from event_subjects s where s.event_seq = any (v_events);
    delete from events e where e.seq = any (v_events);
    v_deleted := v_deleted + coalesce(cardinality(v_events), 0);
    v_left := v_left + v_found - coalesce(cardinality(v_events), 0);

    -- After the last event it starts again: an emit may have committed late.
    update tenants t set removed_to = case when v_found = v_wanted or v_left > 0 then v_dates[cardinality(v_events)] end
    where t.key = v_removed.key and (cardinality(v_events) > 0 or v_found = 0 and t.removed_to is not null);
    exit when v_left >= p_limit;
  end loop;
  return least(v_left, p_limit);
end
$$;
