-- Every name here is unqualified: run the files in the order of their numbers, in one transaction, with the schema that
-- is to hold the tables first in search_path.
--
-- Text in an index is compared by bytes: an index in the order of a language is damaged when the system's rules change.

create table migrations (
  -- The name of the file.
  name text collate "C" primary key,
  run_at timestamptz not null default now()
);

create sequence webhook_ids;

create table webhooks (
  id bigint primary key,
  tenant_slug text collate "C" not null,
  name text not null,
  status text not null check (status in ('active', 'inactive', 'disabled')),
  target_url text not null,
  event_types text[] not null,
  -- Sealed before it comes here if the host has given secretKeys.
  secret text not null,
  previous_secret text,
  previous_secret_expires_at timestamptz,
  -- When an attempt failed first since something was delivered.
  failing_since timestamptz,
  -- Deliveries given up since something was delivered.
  failed_deliveries integer not null default 0,
  -- Whether the host was told that it is failing.
  is_warned boolean not null default false,
  held_until timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

create index webhooks_tenant on webhooks (tenant_slug, id);
create index webhooks_failing on webhooks (id) where failing_since is not null;

create table events (
  seq bigint generated always as identity primary key,
  id text collate "C" not null unique,
  tenant_slug text collate "C" not null,
  type text not null,
  -- The exact bytes that are signed and sent.
  body text not null,
  -- What takes the place of body when the subject is erased.
  tombstone text,
  subject text collate "C",
  idempotency_key text collate "C",
  fingerprint text not null,
  -- Of an event with an idempotency key: the pending deliveries made when it was recorded.
  deliveries integer,
  recorded_at timestamptz not null
);

create unique index events_idempotency_key on events (tenant_slug, idempotency_key) where idempotency_key is not null;
create index events_subject on events (tenant_slug, subject) where subject is not null;
create index events_replay on events (tenant_slug, recorded_at);
create index events_age on events using brin (recorded_at);

-- The queue and the log in one. There are no foreign keys: checking them would make emits wait for one another.
create table deliveries (
  webhook_id bigint not null,
  id bigint generated always as identity,
  event_seq bigint not null,
  -- pending, delivered, failed, skipped or cancelled. No constraint says so: each emit would have to read it anew.
  status text not null,
  -- 0: never attempted, 1: attempted before, 2: a replay.
  priority smallint not null,
  -- Means something while the status is pending.
  next_attempt_at timestamptz not null,
  -- One object an attempt, in the order they were made: started_at, duration_ms, response_status, error.
  attempts jsonb not null default '[]',
  created_at timestamptz not null,
  delivered_at timestamptz,
  primary key (webhook_id, id)
);

create index deliveries_queue on deliveries (webhook_id, priority, next_attempt_at, id) where status = 'pending';
create index deliveries_event on deliveries (event_seq, webhook_id, id);
create index deliveries_age on deliveries using brin (created_at);

create sequence fences;

-- Who may attempt what, apart from the deliveries so that a claim rewrites none of them. A claim makes one row, or one for
-- every 64 deliveries: these come and go by the thousand.
create table leases (
  -- Of all that the claim has leased.
  fence bigint not null,
  part integer not null,
  -- What is still held, the webhook and the delivery of a lease at the same index.
  webhook_ids bigint[] not null,
  delivery_ids bigint[] not null,
  -- Deliveries that stopped being pending under way.
  stopped_ids bigint[] not null default '{}',
  -- In the past when it ran out.
  leased_until timestamptz not null,
  primary key (fence, part)
);

create table api_keys (
  id text collate "C" primary key,
  -- SHA-256 of the key, 64 hexadecimal digits.
  digest text collate "C" not null unique,
  tenant_slug text collate "C" not null,
  scopes text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz,
  revoked_at timestamptz
);

-- Small and rewritten all the time: vacuum by what changed, not by a share of what there is.
alter table leases set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
alter table deliveries set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);

insert into migrations (name) values ('001-tables.sql');
