-- Identifies the cluster. Null if the role may not read it, or the service does not return it. Reads the server's control
-- file once for each connection.
create or replace function system_identifier_v1 () returns bigint
language plpgsql
stable
set jit to off
as $$
declare
  v_system text := current_setting('fastify_recruiting_api.system_identifier', true);
begin
  if v_system <> '' then
    return v_system;
  end if;
  return set_config('fastify_recruiting_api.system_identifier', control.system_identifier::text, false)
  from pg_control_system() as control;
exception
  when insufficient_privilege or object_not_in_prerequisite_state or feature_not_supported or undefined_function then
    return null;
end
$$;

-- Identifies the server's data. The timeline changes with each restore and when a standby is promoted; the last
-- checkpoint would return the old one for minutes. Without a timeline, only the cluster counts: Amazon Aurora has no WAL
-- positions unless logical replication is on.
create or replace function server_identity_v1 () returns text
language plpgsql
stable
set search_path from current
set jit to off
as $$
declare
  v_timeline text;
begin
  begin
    if not pg_is_in_recovery() then
      v_timeline := left(pg_walfile_name(pg_current_wal_lsn()), 8);
    end if;
  exception
    when insufficient_privilege or object_not_in_prerequisite_state or feature_not_supported or undefined_function then
  end;
  return concat_ws(' ', system_identifier_v1(), v_timeline);
end
$$;

-- Returns why a process of this environment must not send notifications; no row if it may. A promoted standby is not a
-- copy: only the cluster's timeline changes.
create or replace function find_hold_v1 (p_environment text) returns table (reason text, since timestamptz)
language plpgsql
stable
set search_path from current
set jit to off
as $$
declare
  v_system bigint := system_identifier_v1();
  v_database oid := (select d.oid from pg_database d where d.datname = current_database());
begin
  return query
    select 'copy', min(h.held_since) from home h
    where h.system <> v_system or h.database_oid <> v_database or h.table_oid <> 'home'::regclass
    having count(*) > 0;
  if not found then
    return query select 'environment', null::timestamptz from home h where h.environment <> p_environment limit 1;
  end if;
end
$$;

-- Releases a hold: the tables belong to this database from now on. Returns the hold's reason and the number of pending
-- deliveries; no row if there was no hold. Discarding skips these deliveries, deactivates all webhooks and revokes all
-- keys, unless they are kept.
create or replace function adopt_v1 (
  p_environment text, p_is_discarding boolean, p_keeps_webhooks boolean, p_keeps_keys boolean
)
returns table (reason text, pending bigint)
language plpgsql
set search_path from current
set jit to off
as $$
begin
  -- No claim can read the row while it changes.
  perform pg_advisory_xact_lock(hashtextextended(current_schema() || '.claim', 0));
  reason := (select hold.reason from find_hold_v1(p_environment) as hold);
  if reason is null then
    return;
  end if;

  pending := (
    select count(*) from queue q
    join webhooks w on w.id = q.webhook_id where w.status = 'active' and q.id >= w.skip_before
  );
  if p_is_discarding then
    with stopped as (
      update webhooks w set skip_before = nextval('delivery_ids')
      where w.id in (select q.webhook_id from queue q)
      returning w.id
    )
    insert into stopped_webhooks (webhook_id) select s.id from stopped s on conflict do nothing;
    delete from notices;
    with ended as (
      delete from webhooks w where w.subscription_id is not null returning w.id
    )
    insert into stopped_webhooks (webhook_id) select e.id from ended e on conflict do nothing;
    if not p_keeps_webhooks then
      update webhooks w set status = 'inactive', updated_at = date_trunc('milliseconds', clock_timestamp())
      where w.status <> 'inactive';
    end if;
    if not p_keeps_keys then
      -- Repeated: if the statement waits for a rotation, only the next one sees the new key.
      loop
        update api_keys k set revoked_at = date_trunc('milliseconds', clock_timestamp()) where k.revoked_at is null;
        exit when not found;
      end loop;
    end if;
  end if;

  update home
  set id = gen_random_uuid(), system = system_identifier_v1(), database_oid = d.oid, table_oid = 'home'::regclass,
    environment = p_environment, held_since = null
  from pg_database d where d.datname = current_database();
  return next;
end
$$;
