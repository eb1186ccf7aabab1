-- Stores that a tenant was renamed or removed, at a later time than before.
create or replace function note_rename_v1 (p_tenant text) returns void
language sql
set search_path from current
set jit to off
as $$
  insert into tenants as t (key, tenant, renamed_at)
  values (p_tenant, p_tenant, date_trunc('milliseconds', clock_timestamp()))
  on conflict (tenant) do update
    set renamed_at = greatest(excluded.renamed_at, t.renamed_at + interval '1 millisecond')
$$;

-- Changes the slug of a tenant that keeps its id. Returns the number of its webhooks.
create or replace function name_tenant_v1 (p_tenant text, p_slug text) returns integer
language plpgsql
set search_path from current
set jit to off
as $$
begin
  -- All changes of tenants run one at a time.
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.tenants', 0));
  perform note_rename_v1(p_tenant);
  -- Repeated: if the statement waits for a rotation, only the next one sees the new key.
  loop
    update api_keys k set tenant_slug = p_slug where k.tenant = p_tenant and k.tenant_slug <> p_slug;
    exit when not found;
  end loop;
  update notices n set tenant_slug = p_slug where n.tenant = p_tenant;
  update webhooks w set tenant_slug = p_slug where w.tenant = p_tenant;
  return (select count(*) from webhooks w where w.tenant = p_tenant and w.subscription_id is null);
end
$$;

-- Returns whether a key has events. Reads the next key in the index: if few tenants own the events, the planner may read
-- all of them to find that a key has none. Other statements compare a key with an array and begin their order with it,
-- so that only an index on the key has the order.
create or replace function has_events_v1 (p_key text) returns boolean
language sql
stable
set search_path from current
set jit to off
as $$
  select coalesce(
    (select e.tenant_key from events e where e.tenant_key >= p_key order by e.tenant_key limit 1) = p_key, false
  )
$$;

-- Locks the webhooks of a tenant that is about to be renamed. Returns their valid secrets and headers as a JSON array.
-- Returns the JSON value null if the new id has a webhook, an event or a key, or is resting.
create or replace function lock_tenant_v1 (p_from text, p_to text) returns text
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_secrets json;
begin
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.tenants', 0));
  if has_events_v1(coalesce((select t.key from tenants t where t.tenant = p_to), p_to))
    or (select w.tenant from webhooks w where w.tenant >= p_to order by w.tenant limit 1) = p_to
    or (select k.tenant from api_keys k where k.tenant >= p_to order by k.tenant limit 1) = p_to
    or find_rest_v1(p_to) is not null then
    return 'null';
  end if;

  select coalesce(json_agg(json_build_object(
    'id', w.id, 'secret', w.secret,
    'previous', case when w.previous_secret_expires_at > clock_timestamp() then w.previous_secret end,
    'headers', w.headers
  )), '[]') into v_secrets
  from (select * from webhooks w where w.tenant = p_from order by w.id for update) as w;
  return v_secrets;
end
$$;

-- Moves a tenant's data to another id and slug. p_secrets is the result of lock_tenant_v1, encrypted for the new id.
-- The old id rests for p_rest_seconds. Returns the number of webhooks.
create or replace function rename_tenant_v1 (
  p_from text, p_to text, p_to_slug text, p_secrets text, p_rest_seconds double precision
) returns integer
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_key text := coalesce((select t.key from tenants t where t.tenant = p_from), p_from);
begin
  -- Events that commit late under the new id are removed.
  update tenants t set tenant = null, suspended_at = null, renamed_at = null where t.tenant = p_to;
  if not found then
    insert into tenants (key) values (p_to);
  end if;
  insert into tenants (key, tenant) values (v_key, p_to)
  on conflict (key) do update set tenant = p_to, rests_until = null, rests_since = null;
  -- The key of the old id's next tenant.
  insert into tenants (key, tenant) values (gen_random_uuid()::text, p_from);
  perform rest_tenant_v1(p_from, p_rest_seconds);

  -- Repeated: if the statement waits for a rotation, only the next one sees the new key.
  loop
    update api_keys k set tenant = p_to where k.tenant = p_from;
    exit when not found;
  end loop;
  update notices n set tenant = p_to where n.tenant = p_from;
  perform end_changes_v1(p_from);
  perform end_changes_v1(p_to);
  update webhooks w set tenant = p_to, secret = s.secret, previous_secret = s.previous, headers = s.headers
  from json_to_recordset(p_secrets::json) as s (id bigint, secret text, previous text, headers text)
  where w.id = s.id;
  -- Their answers are encrypted for the old id. After the webhooks, like a transaction that stores an answer.
  delete from requests r where r.tenant = p_from;
  return name_tenant_v1(p_to, p_to_slug);
end
$$;

-- Moves a tenant's data to another id that already has data: all webhooks and keys, and up to p_limit events. p_secrets
-- are the webhooks' secrets and headers, as for rename_tenant_v1. Returns whether events are left.
create or replace function merge_tenant_v1 (
  p_from text, p_to text, p_to_slug text, p_secrets text, p_limit integer
) returns boolean
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_from text := coalesce((select t.key from tenants t where t.tenant = p_from), p_from);
  v_to text := coalesce((select t.key from tenants t where t.tenant = p_to), p_to);
  v_events bigint[];
begin
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.tenants', 0));
  -- Events join that subscriptions would not see.
  delete from webhooks w where w.tenant in (p_from, p_to) and w.subscription_id is not null;
  -- Repeated: if the statement waits for a rotation, only the next one sees the new key.
  loop
    update api_keys k set tenant = p_to where k.tenant = p_from;
    exit when not found;
  end loop;
  update notices n set tenant = p_to where n.tenant = p_from;
  update webhooks w set tenant = p_to, secret = s.secret, previous_secret = s.previous, headers = s.headers
  from json_to_recordset(p_secrets::json) as s (id bigint, secret text, previous text, headers text)
  where w.id = s.id;
  delete from requests r where r.tenant = p_from;

  v_events := array(
    select e.seq from events e where e.tenant_key = any (array(select v_from))
    order by e.tenant_key, e.recorded_at limit p_limit
  );
  -- If both ids used an idempotency key, the new id's event keeps it.
  update events e set tenant_key = v_to, idempotency_key = case
    when exists (select from events o where o.tenant_key = v_to and o.idempotency_key = e.idempotency_key) then null
    else e.idempotency_key
  end
  where e.seq = any (v_events);
  insert into event_subjects (tenant_key, subject, event_seq)
  select v_to, s.subject, s.event_seq
  from event_subjects s where s.event_seq = any (v_events) and s.tenant_key = v_from;
  delete from event_subjects s where s.event_seq = any (v_events) and s.tenant_key = v_from;
  if exists (select from tenants t where t.tenant in (p_from, p_to) and t.suspended_at is not null) then
    perform suspend_tenant_v1(p_to);
  end if;

  if has_events_v1(v_from) then
    return true;
  end if;
  -- Last, so that no position is issued in between.
  perform end_changes_v1(p_from);
  perform end_changes_v1(p_to);
  update tenants t set suspended_at = null where t.tenant = p_from;
  perform name_tenant_v1(p_to, p_to_slug);
  return false;
end
$$;

-- Removes a tenant: all webhooks, keys and changes, and up to p_limit events. Its id rests for p_rest_seconds. Returns
-- the number of events of removed tenants left, at most p_limit. A later tenant with the same id gets another key.
create or replace function remove_tenant_v1 (
  p_tenant text, p_limit integer, p_rest_seconds double precision
) returns integer
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_key text;
  v_rests boolean;
  v_renamed_at timestamptz;
begin
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.tenants', 0));
  select t.key, t.rests_until is not null, t.renamed_at into v_key, v_rests, v_renamed_at
  from tenants t where t.tenant = p_tenant;
  -- A resting tenant keeps its key: no event has been recorded under it, and none can be.
  if v_rests is not true then
    insert into tenants (key) values (coalesce(v_key, p_tenant))
    on conflict (key) do update
      set tenant = null, rests_until = null, rests_since = null, suspended_at = null, renamed_at = null;
    insert into tenants (key, tenant, renamed_at) values (gen_random_uuid()::text, p_tenant, v_renamed_at);
  end if;
  perform rest_tenant_v1(p_tenant, p_rest_seconds);
  perform note_rename_v1(p_tenant);

  -- Repeated: if the statement waits for a rotation, only the next one sees the new key.
  loop
    delete from api_keys k where k.tenant = p_tenant;
    exit when not found;
  end loop;
  perform end_changes_v1(p_tenant);
  with deleted as (
    delete from webhooks w where w.tenant = p_tenant returning w.id
  )
  insert into stopped_webhooks (webhook_id) select d.id from deleted d on conflict do nothing;
  delete from requests r where r.tenant = p_tenant;
  -- After the webhooks: no notice is added without one.
  delete from notices n where n.tenant = p_tenant;
  return remove_events_v1(p_limit);
end
$$;

-- Suspends a tenant, so that claims set its deliveries aside. Returns when the suspension began, as RFC 3339.
create or replace function suspend_tenant_v1 (p_tenant text) returns text
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_since timestamptz;
begin
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.tenants', 0));
  -- The lock of creates, which copy the state.
  perform pg_advisory_xact_lock(webhooks_lock_v1(p_tenant));
  insert into tenants as t (key, tenant, suspended_at)
  values (p_tenant, p_tenant, date_trunc('milliseconds', clock_timestamp()))
  on conflict (tenant) do update set suspended_at = coalesce(t.suspended_at, excluded.suspended_at)
  returning t.suspended_at into v_since;
  update webhooks w set is_suspended = true where w.tenant = p_tenant and not w.is_suspended;
  return to_char(v_since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
end
$$;

-- Ends a tenant's suspension. Its active webhooks start without failures, and with p_skips without their deliveries.
-- Returns when the suspension began, as RFC 3339. Returns the JSON value null, and changes nothing, if it is not
-- suspended.
create or replace function resume_tenant_v1 (p_tenant text, p_skips boolean) returns text
language plpgsql
set search_path from current
set jit to off
as $$
declare
  v_since timestamptz;
  v_webhooks bigint[];
begin
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.tenants', 0));
  select t.suspended_at into v_since from tenants t where t.tenant = p_tenant;
  if v_since is null then
    return 'null';
  end if;
  update tenants t set suspended_at = null where t.tenant = p_tenant;
  with resumed as (
    update webhooks w set
      is_suspended = false, revision = w.revision + (w.status = 'active')::integer,
      skip_before = case when p_skips and w.status = 'active' then nextval('delivery_ids') else w.skip_before end,
      -- A subscription also skips what it has not read yet.
      position = case when p_skips then greatest(w.position, (select max(e.seq) from events e)) else w.position end
    where w.tenant = p_tenant
    returning w.id, w.status
  ), listed as (
    insert into stopped_webhooks (webhook_id) select r.id from resumed r where p_skips and r.status = 'active'
    on conflict do nothing
  )
  select array_agg(r.id) into v_webhooks from resumed r;
  -- A separate statement, so that it sees deliveries that a claim set aside while the first one waited for it.
  update paused_webhooks p set until = '-infinity' where p.webhook_id = any (v_webhooks) and p.until > '-infinity';
  return to_char(v_since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
end
$$;

-- Starts or extends the rest of a tenant that has a row in the table tenants.
create or replace function rest_tenant_v1 (p_tenant text, p_seconds double precision) returns void
language sql
set search_path from current
set jit to off
as $$
  update tenants t set
    rests_until = date_trunc('milliseconds', clock_timestamp() + p_seconds * interval '1 second'),
    rests_since = pg_current_xact_id()
  where t.tenant = p_tenant and p_seconds > 0
$$;

-- Returns the end of a tenant's rest as RFC 3339; null if it is not resting.
create or replace function find_rest_v1 (p_tenant text) returns text
language sql
stable
set search_path from current
set jit to off
as $$
  select to_char(t.rests_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  from tenants t where t.tenant = p_tenant
$$;

-- Lists resting and suspended tenants, and those renamed or removed in the last hour. Ends expired rests once no
-- transaction from before the rest is open, and deletes webhooks and keys that such a transaction created late.
create or replace function list_tenant_states_v1 () returns table (
  tenant text, rests_until timestamptz, suspended_at timestamptz, renamed_at timestamptz
)
language plpgsql
set search_path from current
set jit to off
as $$
#variable_conflict use_column
declare
  v_snapshot pg_snapshot := pg_current_snapshot();
  -- A transaction that wrote a webhook or a key holds this lock until it ends. Locks of other databases do not matter.
  v_is_writing boolean := exists (
    select from pg_locks l
    where l.locktype = 'relation' and l.mode = 'RowExclusiveLock' and l.pid is distinct from pg_backend_pid()
      and l.database = (select d.oid from pg_database d where d.datname = current_database())
      and l.relation in ('webhooks'::regclass, 'api_keys'::regclass)
  );
  v_over text[];
  v_an_hour_ago timestamptz := clock_timestamp() - interval '1 hour';
begin
  if current_setting('transaction_read_only') = 'off'
    and exists (select from tenants t where t.rests_until <= clock_timestamp() or t.renamed_at < v_an_hour_ago)
    -- A process that only emits may not.
    and has_table_privilege('tenants', 'update')
  then
    v_over := array(
      select t.tenant from tenants t
      where t.rests_until <= clock_timestamp()
        -- After a restore on another server, rests_since may be an id that the server has not reached.
        and (
          not v_is_writing
          or t.rests_since < pg_snapshot_xmin(v_snapshot) or t.rests_since >= pg_snapshot_xmax(v_snapshot)
        )
      for update skip locked
    );
    with deleted as (
      delete from webhooks w where w.tenant = any (v_over) returning w.id
    )
    insert into stopped_webhooks (webhook_id) select d.id from deleted d on conflict do nothing;
    delete from api_keys k where k.tenant = any (v_over);
    delete from requests r where r.tenant = any (v_over);
    update tenants t set rests_until = null, rests_since = null where t.tenant = any (v_over);
    with old as (
      select t.key from tenants t where t.renamed_at < v_an_hour_ago for update skip locked
    )
    update tenants t set renamed_at = null from old where t.key = old.key;
  end if;

  return query
    select t.tenant,
      case when t.rests_until is not null
        then greatest(t.rests_until, date_trunc('milliseconds', clock_timestamp()) + interval '1 minute') end,
      t.suspended_at, case when t.renamed_at >= v_an_hour_ago then t.renamed_at end
    from tenants t
    where t.rests_until is not null or t.suspended_at is not null or t.renamed_at >= v_an_hour_ago;
end
$$;
