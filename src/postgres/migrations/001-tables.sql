-- Names are unqualified. Run the files in the order of their numbers, in one transaction, with the schema for the tables
-- first in search_path.
--
-- Indexed text has the collation "C": an update of the system's collations would damage other indexes.

create table migrations (
  -- The name of the file.
  name text collate "C" primary key,
  run_at timestamptz not null default now()
);

create sequence webhook_ids;
create sequence delivery_ids;
create sequence fences;
-- The last value is the webhook where the last claim stopped that could not visit all of them.
create unlogged sequence turns minvalue 0 start 0;

-- The names of tenants that have webhooks or events. A renamed tenant keeps its id. A removed one keeps it without a name:
-- its events are deleted in batches, and an emit may commit late.
create table tenants (
  id bigint generated always as identity primary key,
  slug text collate "C" unique
);

create table webhooks (
  id bigint primary key,
  tenant_slug text collate "C" not null,
  name text not null,
  status text not null check (status in ('active', 'inactive', 'disabled')),
  target_url text not null,
  event_types text[] not null,
  -- Sealed if the host uses secretKeys.
  secret text not null,
  previous_secret text,
  previous_secret_expires_at timestamptz,
  -- Incremented when target_url changes and when the webhook is activated. Health of an earlier revision does not count.
  revision integer not null default 1,
  -- Why the service disabled it: gone or failing. Counts only while the status is disabled.
  disabled_reason text,
  -- Queued deliveries with a lower id were stopped. They are never claimed, and end as skipped.
  skip_before bigint not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create index webhooks_tenant on webhooks (tenant_slug, id);
create index webhooks_disabled on webhooks (id) where status = 'disabled';

-- One row for each webhook that is failing, or was when it was disabled or made inactive.
create table webhook_health (
  webhook_id bigint primary key,
  revision integer not null,
  -- Time of the first failed attempt after the last success.
  failing_since timestamptz not null,
  -- Deliveries given up since then.
  failed_deliveries integer not null,
  is_warned boolean not null,
  -- Deliveries of the webhook are not claimed before this time.
  paused_until timestamptz,
  -- disabled or gone: the webhook is about to be disabled, and its deliveries are no longer claimed.
  verdict text,
  last_error text,
  last_response_status integer
);

create index webhook_health_verdict on webhook_health (webhook_id) where verdict is not null;

-- Notices for the host. A row is deleted after the host's listeners returned.
create table notices (
  id bigint generated always as identity primary key,
  kind text not null,
  tenant_slug text not null,
  webhook_id bigint not null,
  failing_since timestamptz not null,
  failed_deliveries integer not null,
  last_error text not null,
  last_response_status integer,
  -- One worker reports the notice until this time.
  leased_until timestamptz not null default '-infinity'
);

create table events (
  seq bigint generated always as identity primary key,
  id text collate "C" not null unique,
  tenant_id bigint not null,
  type text not null,
  -- The exact bytes that are signed and sent.
  body text not null,
  -- Replaces body when the subject is erased.
  tombstone text,
  subject text collate "C",
  idempotency_key text collate "C",
  fingerprint text not null,
  -- Only with an idempotency key: the number of pending deliveries when the event was recorded.
  deliveries integer,
  recorded_at timestamptz not null
);

create unique index events_idempotency_key on events (tenant_id, idempotency_key) where idempotency_key is not null;
create index events_subject on events (tenant_id, subject) where subject is not null;
create index events_replay on events (tenant_id, recorded_at);

-- Deliveries that have not ended. Foreign keys would make emits wait for each other.
create table queue (
  event_seq bigint not null,
  webhook_id bigint not null,
  id bigint not null default nextval('delivery_ids'),
  -- 0: in flight, 1: first attempt, 2: later attempt, 3: replay. Null: scheduled, it joins lane 2 or 3 at due_at.
  lane smallint,
  is_replay boolean not null default false,
  due_at timestamptz not null,
  created_at timestamptz not null,
  -- An array of objects with started_at, duration_ms, response_status, error and, if it is kept, response_excerpt, in the
  -- order of the attempts. Null if empty.
  attempts jsonb,
  -- The last claim.
  fence bigint,
  leased_until timestamptz,
  primary key (event_seq, webhook_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);

create index queue_ready on queue (webhook_id, lane, id) where lane is not null;
create index queue_scheduled on queue (webhook_id, id) where lane is null;
create index queue_due on queue (due_at) where lane is null;

-- Where the queue of a webhook begins, if it begins with many deleted rows that vacuum must keep for an older transaction.
-- Normally empty.
create unlogged table marks (
  webhook_id bigint primary key,
  -- No delivery in lane 0 has a lower id.
  first_leased bigint not null,
  -- Deliveries that appear in lane 1 with a lower id are claimed after expires_at.
  first_fresh bigint not null,
  expires_at timestamptz not null
);

-- Deliveries that ended.
create table deliveries (
  webhook_id bigint not null,
  id bigint not null,
  event_seq bigint not null,
  -- delivered, failed, skipped or cancelled.
  status text collate "C" not null,
  created_at timestamptz not null,
  ended_at timestamptz not null,
  -- Attempts before the last one, or null.
  earlier jsonb,
  -- The last attempt, which ended at ended_at.
  duration_ms integer,
  response_status integer,
  error text,
  response_excerpt text,
  -- Set if an attempt was under way when the delivery was stopped, until the attempt ends.
  fence bigint,
  primary key (webhook_id, id)
);

create index deliveries_event on deliveries (event_seq, webhook_id, id);
create index deliveries_undelivered on deliveries (webhook_id, status, id) where status <> 'delivered';

create table api_keys (
  id text collate "C" primary key,
  -- SHA-256 of the key as 64 hexadecimal digits.
  digest text collate "C" not null unique,
  -- The 4 characters after the prefix. Null for a key that was imported by its digest.
  start text,
  tenant_slug text collate "C" not null,
  scopes text[] not null,
  name text,
  created_by text,
  created_at timestamptz not null,
  expires_at timestamptz,
  -- Another key replaces this one, which ends at this time.
  replaced_at timestamptz,
  revoked_at timestamptz,
  -- Written at most once a minute.
  last_used_at timestamptz
);

create index api_keys_tenant on api_keys (tenant_slug, created_at, id);

-- Changes of candidates and jobs, as transactions recorded them. Only inserted and deleted, so that transactions never wait for
-- each other.
create table recent_changes (
  tenant_slug text collate "C" not null,
  -- candidate or job.
  kind text collate "C" not null,
  id text collate "C" not null,
  -- The transaction that changed it. Readers see it once that and all older transactions have ended.
  xid xid8 not null,
  deleted boolean not null,
  changed_at timestamptz not null
);

create index recent_changes_feed on recent_changes (tenant_slug, kind, xid, id);
-- Without a primary key, logical replication needs it for deletes.
alter table recent_changes replica identity full;

-- One row for each candidate or job, of its last change. `prune` moves recent changes here.
create table changes (
  like recent_changes,
  primary key (tenant_slug, kind, id)
);

create index changes_feed on changes (tenant_slug, kind, xid, id);
create index changes_changed_at on changes (changed_at);

-- One row.
create table change_state (
  is_only boolean primary key default true check (is_only),
  -- Part of each position. Another id ends all of them, for example after a restore that PostgreSQL cannot see.
  id uuid not null default gen_random_uuid(),
  -- Authenticates tokens. Three uuids hold 366 random bits.
  secret bytea not null
    default sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())),
  -- Rows of older transactions may have been pruned.
  pruned_before xid8 not null
);

insert into change_state (pruned_before) values (pg_current_xact_id());

insert into migrations (name) values ('001-tables.sql');
