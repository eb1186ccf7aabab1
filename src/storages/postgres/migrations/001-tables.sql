-- Names are unqualified. Run the files in numerical order, each in a transaction, with the search_path: the tables'
-- schema, pg_temp. Then run the function files.
--
-- Indexed text has the collation "C": an update of the system's collations would corrupt other indexes.
--
-- Every table has a primary key: without one, a publication for all tables makes updates and deletes fail.

do $$
begin
  -- The functions keep this path. Without pg_temp at its end, temporary tables and types would come first.
  if translate(current_setting('search_path'), '" ', '')
    is distinct from translate(current_schema(), '" ', '') || ',pg_temp' then
    raise exception 'search_path: expected the schema of the tables and pg_temp, such as recruiting, pg_temp, got %',
        current_setting('search_path')
      using errcode = 'invalid_parameter_value';
  end if;
end
$$;

create table migrations (
  name text collate "C" primary key,
  run_at timestamptz not null default now()
);

create sequence webhook_ids;
create sequence delivery_ids;
create sequence fences;
-- About the greatest sequence of an event.
create sequence event_clock;
-- The last value is the id of the webhook where the last incomplete claim stopped.
create unlogged sequence turns minvalue 0 start 0;

-- The column tenant of each table contains the tenant's id: the result of the option tenantId, or the slug without it.
--
-- A tenant's events are stored under a key: its first id, unless another tenant had that id before. Only renamed,
-- removed and suspended tenants have a row here, so emits only read it.
create table tenants (
  key text collate "C" primary key,
  -- Null: removed. Its events are deleted in batches, and an emit may commit late.
  tenant text collate "C" unique,
  -- Nothing can be stored for the tenant until list_tenant_states_v1 sets this to null, at this time or later.
  rests_until timestamptz,
  -- The transaction in which the rest began.
  rests_since xid8,
  -- When the tenant was suspended. Its webhooks have is_suspended.
  suspended_at timestamptz,
  -- When its slug last changed or it was removed. Null after an hour.
  renamed_at timestamptz,
  -- For a removed tenant: events recorded before this time have been deleted. Null: start with the first.
  removed_to timestamptz
);

create index tenants_states on tenants (tenant)
where rests_until is not null or suspended_at is not null or renamed_at is not null;

create table webhooks (
  id bigint primary key,
  tenant text collate "C" not null,
  -- The tenant's slug when the webhook was created or the tenant was renamed.
  tenant_slug text not null,
  name text not null,
  status text not null check (status in ('active', 'inactive', 'disabled')),
  target_url text not null,
  event_types text[] not null,
  -- Encrypted if the host uses secretKeys.
  secret text not null,
  previous_secret text,
  previous_secret_expires_at timestamptz,
  -- Encrypted like the secret.
  headers text,
  header_names text[],
  -- As sent, because json keeps the order of the paths, and the predicate to evaluate.
  filters json,
  filter_path jsonpath,
  changed text[],
  contact text,
  -- The id of the key, the actor, or a name given by the vendor's code.
  creator_type text not null default 'code',
  creator_id text,
  -- Incremented when target_url changes and when the webhook is activated. Health of an earlier revision does not
  -- count.
  revision integer not null default 1,
  disabled_reason text,
  -- Queued deliveries with a lower id were stopped. They are never claimed and become skipped.
  skip_before bigint not null default 0,
  -- Its tenant is suspended. Copied from the table tenants, which claims do not read.
  is_suspended boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Null for a webhook. For an agent's subscription, which is no target of events: fill_v1 moves events to its queue.
  -- Its principal is creator_id, and its event type the only one of event_types. It is deleted when it ends.
  subscription_id text collate "C",
  -- The principal, if that is the id of a row of api_keys.
  key_id text collate "C",
  expires_at timestamptz,
  -- When its callback confirmed the address. Null: another subscription's callback had.
  verified_at timestamptz,
  -- fill_v1 has read the tenant's events up to this number.
  position bigint,
  -- When fill_v1 last moved the position.
  filled_at timestamptz
);

-- An emit reads the webhooks and skips the subscriptions.
create index webhooks_tenant on webhooks (tenant, subscription_id, id);
create index webhooks_subscriptions on webhooks (expires_at) where subscription_id is not null;
create index webhooks_disabled on webhooks (id) where status = 'disabled';

-- One row for each webhook that is failing, or was when it was disabled or made inactive.
create table webhook_health (
  webhook_id bigint primary key,
  revision integer not null,
  -- Time of the first failed attempt after the last success.
  failing_since timestamptz not null,
  failed_deliveries integer not null,
  is_warned boolean not null,
  paused_until timestamptz,
  -- disabled or gone: the webhook is about to be disabled, and its deliveries are no longer claimed.
  verdict text,
  last_error text,
  last_detail text,
  last_response_status integer
);

create index webhook_health_verdict on webhook_health (webhook_id) where verdict is not null;

-- Notices for the host. A row is deleted after the host's listeners return.
create table notices (
  id bigint generated always as identity primary key,
  kind text not null,
  tenant text collate "C" not null,
  tenant_slug text not null,
  webhook_id bigint not null,
  failing_since timestamptz not null,
  failed_deliveries integer not null,
  last_error text not null,
  last_detail text,
  last_response_status integer,
  contact text,
  -- Until this time, one worker reports the notice.
  leased_until timestamptz not null default '-infinity'
);

create table events (
  -- The feed's order. start_recording_v1 draws the number.
  seq bigint generated always as identity primary key,
  -- What customers see instead: greater than that of the tenant's earlier events.
  sequence bigint not null default 0,
  id text collate "C" not null unique,
  -- The key in the table tenants.
  tenant_key text collate "C" not null,
  type text not null,
  body text not null,
  -- The body for filters, if jsonb cannot represent body. Null: filters read body.
  filter_body text,
  tombstone text,
  subject text collate "C",
  idempotency_key text collate "C",
  trace_parent text,
  fingerprint text not null,
  -- Only with an idempotency key: the number of pending deliveries when the event was recorded.
  deliveries integer,
  recorded_at timestamptz not null
);

create unique index events_idempotency_key on events (tenant_key, idempotency_key) where idempotency_key is not null;
create index events_subject on events (tenant_key, subject, seq) where subject is not null;
create index events_replay on events (tenant_key, recorded_at, seq);
-- For prune. Dates may not be in the order of seq: a clock may be ahead for a while.
create index events_age on events (recorded_at, seq);
create index events_feed on events (tenant_key, seq);

-- An event's second and further subjects. In a separate table, so that events with one subject cost nothing more.
create table event_subjects (
  tenant_key text collate "C" not null,
  subject text collate "C" not null,
  event_seq bigint not null,
  primary key (tenant_key, subject, event_seq)
);

create index event_subjects_event on event_subjects (event_seq);

-- Pending deliveries. Foreign keys would make emits wait for each other.
create table queue (
  event_seq bigint not null,
  webhook_id bigint not null,
  id bigint not null default nextval('delivery_ids'),
  -- The event's type, because an index cannot span two tables.
  event_type text collate "C" not null,
  -- 0: in flight, 1: first attempt, 2: later attempt, 3: replay. Null: scheduled, it joins lane 2 or 3 at due_at.
  lane smallint,
  -- The lane that it left because its webhook is paused or suspended. It has no lane then, and joins none at due_at.
  paused_lane smallint check (paused_lane is null or lane is null),
  is_replay boolean not null default false,
  due_at timestamptz not null,
  created_at timestamptz not null,
  -- An array of objects with started_at, duration_ms, response_status, error, detail and, if it is kept,
  -- response_excerpt, oldest first. Null if empty.
  attempts jsonb,
  fence bigint,
  leased_until timestamptz,
  primary key (event_seq, webhook_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);

create index queue_ready on queue (webhook_id, lane, id) where lane is not null;
create index queue_scheduled on queue (webhook_id, id) where lane is null;
create index queue_due on queue (due_at) where lane is null and paused_lane is null;
create index queue_retries on queue (webhook_id, due_at, id) where lane is null;
create index queue_paused on queue (webhook_id, paused_lane, id) where paused_lane is not null;
-- For the log. Omits the few deliveries in flight, so that claims do not write it.
create index queue_types on queue (webhook_id, event_type, id) where lane is distinct from 0;

-- Webhooks whose ready deliveries were set aside, so that no claim visits them during the pause or suspension.
create table paused_webhooks (
  webhook_id bigint primary key,
  -- The end of the pause; during a suspension, the next visit. -infinity: it has ended, and claims take the deliveries
  -- back.
  until timestamptz not null
);

create index paused_webhooks_until on paused_webhooks (until, webhook_id);

-- Webhooks that may have stopped deliveries in the queue.
create table stopped_webhooks (
  webhook_id bigint primary key
);

-- Where a webhook's queue begins, if it begins with many deleted rows that vacuum must keep for an older transaction.
-- Normally empty.
create unlogged table marks (
  webhook_id bigint primary key,
  -- No delivery in lane 0 has a lower id: only claims put deliveries there, one after another.
  first_leased bigint not null,
  -- Claims begin here in lane 1. After expires_at they begin at safe_fresh again: deliveries with a lower id may have
  -- been committed.
  first_fresh bigint not null default 0,
  expires_at timestamptz not null default 'infinity',
  -- No delivery in lane 1 has a lower id.
  safe_fresh bigint not null default 0,
  -- Deliveries with an id below settled_id are visible or gone once all transactions before settled_xid have ended.
  settled_id bigint not null default 0,
  settled_xid xid8,
  settled_at timestamptz,
  -- The mark is deleted ten minutes later, because a delivery may take its id long before its transaction has
  -- an id.
  marked_at timestamptz not null default clock_timestamp()
);

-- Finished deliveries.
create table deliveries (
  webhook_id bigint not null,
  id bigint not null,
  event_seq bigint not null,
  event_type text collate "C" not null,
  status text collate "C" not null,
  created_at timestamptz not null,
  ended_at timestamptz not null,
  earlier jsonb,
  -- The last attempt, which ended at ended_at.
  duration_ms integer,
  response_status integer,
  error text,
  detail text,
  response_excerpt text,
  -- Set if an attempt was under way when the delivery was stopped, until the attempt ends.
  fence bigint,
  -- While it has a fence: until when the attempt counts as one to its webhook.
  leased_until timestamptz,
  primary key (webhook_id, id)
);

create index deliveries_event on deliveries (event_seq, webhook_id, id);
create index deliveries_delivered on deliveries (webhook_id, ended_at) where status = 'delivered';
create index deliveries_failed on deliveries (webhook_id, ended_at) where status = 'failed';
create index deliveries_stopped on deliveries (webhook_id, leased_until) where fence is not null;
-- For the log's filters.
create index deliveries_statuses on deliveries (webhook_id, status, id);
create index deliveries_types on deliveries (webhook_id, status, event_type, id);

create table api_keys (
  id text collate "C" primary key,
  digest text collate "C" not null unique,
  -- The 4 characters after the prefix. Null for a key imported by its digest.
  start text,
  tenant text collate "C" not null,
  tenant_slug text not null,
  scopes text[] not null,
  -- Null: any address, and all fields.
  allowed_ips text[],
  candidate_fields text[],
  job_fields text[],
  name text,
  -- As in webhooks. The creator may have been deleted.
  creator_type text not null default 'code',
  creator_id text,
  -- The first key of its line of rotations, or null if that is this key; and the number of rotations since.
  line text collate "C",
  generation integer not null default 0,
  -- The lines of the keys that it descends from, each with the generation of the oldest of these keys.
  ancestors jsonb not null default '{}',
  created_at timestamptz not null,
  expires_at timestamptz,
  -- Another key replaces this one, which expires at this time.
  replaced_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);

create index api_keys_tenant on api_keys (tenant, created_at, id);
-- For the limit, so that it does not read ended keys.
create index api_keys_usable on api_keys (tenant, coalesce(least(expires_at, replaced_at), 'infinity'))
  where revoked_at is null;
-- For prune.
create index api_keys_ended on api_keys (least(expires_at, replaced_at, revoked_at));

-- Requests with an Idempotency-Key.
create table requests (
  tenant text collate "C" not null,
  -- Of the API key's id and the Idempotency-Key.
  digest text collate "C" not null,
  -- Of the operation and its input.
  fingerprint text not null,
  claim text not null,
  -- The answer is stored in the transaction of the work: without one, nothing has changed.
  is_atomic boolean not null,
  -- Encrypted if the host uses secretKeys. Null: no attempt has finished.
  answer text,
  leased_until timestamptz not null,
  expires_at timestamptz not null,
  primary key (tenant, digest)
);

create index requests_expires_at on requests (expires_at);

-- Recorded changes of each kind: candidate, job or that of an own list. Only inserted and deleted, so that transactions
-- never wait for each other.
create table recent_changes (
  -- The order of sync. A transaction calls start_recording_v1 before it draws a number.
  seq bigint generated always as identity primary key,
  tenant text collate "C" not null,
  kind text collate "C" not null,
  id text collate "C" not null,
  deleted boolean not null,
  changed_at timestamptz not null
);

create index recent_changes_feed on recent_changes (tenant, kind, seq);

-- The last change of each item. `prune` moves recent changes here.
create table changes (
  tenant text collate "C" not null,
  kind text collate "C" not null,
  id text collate "C" not null,
  seq bigint not null,
  deleted boolean not null,
  changed_at timestamptz not null,
  primary key (tenant, kind, id)
);

create index changes_feed on changes (tenant, kind, seq);
create index changes_changed_at on changes (changed_at);

create table change_state (
  is_only boolean primary key default true check (is_only),
  -- Part of each position. A new id invalidates all, for example after a restore that PostgreSQL cannot detect.
  id uuid not null default gen_random_uuid(),
  -- Authenticates tokens. Three uuids contain 366 random bits.
  secret bytea not null
    default sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
  pruned_change_seq bigint not null default 0,
  -- When changes were last moved, readers could see all changes up to this one.
  reached_change_seq bigint not null default 0,
  -- The last pruned event. The feed contains no earlier event, even if it still has deliveries.
  pruned_event_seq bigint not null default 0
);

insert into change_state default values;

-- The tables that watch was called for.
create table watched_tables (
  kind text collate "C" not null,
  schema_name name not null,
  table_name name not null,
  -- As passed to watch.
  id_expression text not null,
  tenant_expression text not null,
  -- The events that its triggers emit, as passed to watch. Null without any.
  emits json,
  -- Part of the kind's positions. A new id invalidates them, for example after watch had to create triggers again.
  id uuid not null default gen_random_uuid(),
  -- The table, its partitions and their triggers, as watch left them.
  parts text[] collate "C" not null default '{}',
  primary key (kind, schema_name, table_name)
);

-- Changes and events that a trigger of watch failed to record, because its expressions failed. Until watch repairs the
-- table, the kind's sync returns 410 if changes are missing. A trigger adds a row only if it sees none of its table and
-- event type.
create table missed_changes (
  id bigint generated always as identity primary key,
  kind text collate "C" not null,
  schema_name name not null,
  table_name name not null,
  -- Null: changes.
  event_type text,
  missed_at timestamptz not null default clock_timestamp(),
  problem text not null
);

create index missed_changes_table on missed_changes (kind, schema_name, table_name, id);

-- Renamed and removed tenants, by the SHA-256 of their ids, because no removed tenant's id may remain. Positions depend
-- on xid, so earlier positions are no longer valid.
create table ended_changes (
  tenant_digest bytea primary key,
  xid xid8 not null,
  -- Its id, until its changes have been deleted in batches.
  tenant text collate "C",
  -- Its changes up to this number are invalid. No position is before it.
  last_seq bigint not null,
  -- All changes of lower kinds have been deleted, and those of this kind up to this number.
  deleted_kind text collate "C" not null default '',
  deleted_to bigint not null default 0
);

-- The database that these tables belong to. Dumps, template databases and copies of a cluster include this row, which
-- then does not match their database. A restore of data alone adds a second row.
create table home (
  -- Changes with each adoption, so that data restored later from the other database still adds a row.
  id uuid primary key default gen_random_uuid(),
  -- Identifies the cluster. Null if the role that wrote the row may not read it.
  system bigint,
  database_oid oid not null,
  table_oid oid not null,
  environment text,
  -- When a worker noticed that it runs on a copy.
  held_since timestamptz
);

do $$
declare
  v_system bigint;
begin
  begin
    v_system := (select control.system_identifier from pg_control_system() as control);
  exception
    when insufficient_privilege or object_not_in_prerequisite_state or feature_not_supported or undefined_function then
  end;
  insert into home (system, database_oid, table_oid)
  select v_system, d.oid, 'home'::regclass from pg_database d where d.datname = current_database();
end
$$;

insert into migrations (name) values ('001-tables.sql');
