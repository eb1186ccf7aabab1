import type { Id } from 'fastify-recruiting-api'
import { type ColumnType, type Generated, type Kysely, sql } from 'kysely'

/** The tables; `tenant` is the tenant's id. Times are milliseconds since the epoch, in the vendor's own tables RFC 3339. Ids of the vendor may be text. */
export interface Schema {
  candidates: {
    tenant_slug: string
    id: Id
    full_name: string
    /** `full_name` in lower case, for `q`. */
    name_key: string
    headline: string | null
    source_id: Id | null
    recruiter_id: Id | null
    created_at: string
    updated_at: string
  }
  jobs: { tenant_slug: string, id: Id, name: string, name_key: string, status: string, created_at: string, updated_at: string }
  webhook_ids: { id: Generated<number>, unused: number }
  webhooks: {
    id: number
    tenant: string
    tenant_slug: string
    name: string
    status: 'active' | 'inactive' | 'disabled'
    target_url: string
    event_types: string
    secret: string
    previous_secret: string | null
    previous_secret_expires_at: number
    headers: string | null
    /** A JSON array. */
    header_names: string | null
    /** A JSON object. */
    filters: string | null
    created_at: number
    updated_at: number
    failing_since: number | null
    failed_deliveries: number
    last_error: string | null
    last_response_status: number | null
    disabled_reason: 'gone' | 'failing' | null
    is_warned: ColumnType<number, number | undefined, number>
    paused_until: number
    /** A growing number that says when it had its last turn. */
    last_turn: number
  }
  events: {
    position: Generated<number>
    id: string
    tenant: string
    type: string
    body: string
    subject: string | null
    /** A JSON array. */
    other_subjects: string
    tombstone: string | null
    idempotency_key: string | null
    trace_parent: string | null
    fingerprint: string
    recorded_at: number
    deliveries: number
  }
  deliveries: {
    id: Generated<number>
    event_id: string
    webhook_id: number
    is_replay: number
    status: 'pending' | 'delivered' | 'failed' | 'skipped' | 'cancelled'
    created_at: number
    next_attempt_at: number
    delivered_at: number | null
    attempt_count: number
    fence: number
    /** 1 from the claim until the result or the release. */
    is_claimed: number
    lease_expires_at: number
  }
  notices: { id: Generated<number>, notice: string, leased_until: number }
  resting_tenants: { tenant: string, until: number }
  attempts: {
    delivery_id: number
    started_at: number
    duration_ms: number
    response_status: number | null
    error: string | null
    response_excerpt: string | null
  }
}

/** Creates the tables. */
export async function createTables (db: Kysely<Schema>): Promise<void> {
  for (const statement of tables.split(';').filter((text) => text.trim() !== '')) await sql.raw(statement).execute(db)
}

// By default SQLite compares text by its UTF-8 bytes, which is the order of code points. A column without a type, such as the
// ids of the vendor's rows, keeps integers and text unchanged.
const tables = `
  create table candidates (
    tenant_slug text not null, id not null, full_name text not null, name_key text not null, headline text,
    source_id, recruiter_id, created_at text not null, updated_at text not null, primary key (tenant_slug, id)
  );
  create table jobs (
    tenant_slug text not null, id not null, name text not null, name_key text not null, status text not null,
    created_at text not null, updated_at text not null, primary key (tenant_slug, id)
  );
  create table webhook_ids (id integer primary key autoincrement, unused integer not null);
  create table webhooks (
    id integer primary key, tenant text not null, tenant_slug text not null, name text not null, status text not null, target_url text not null,
    event_types text not null, secret text not null, previous_secret text, previous_secret_expires_at integer not null, headers text, header_names text, filters text,
    created_at integer not null, updated_at integer not null, failing_since integer, failed_deliveries integer not null,
    last_error text, last_response_status integer, disabled_reason text,
    is_warned integer not null default 0, paused_until integer not null, last_turn integer not null
  );
  create index webhooks_by_tenant on webhooks (tenant, id);
  create table events (
    position integer primary key autoincrement, id text not null unique, tenant text not null, type text not null,
    body text not null, subject text, other_subjects text not null, tombstone text, idempotency_key text, trace_parent text, fingerprint text not null,
    recorded_at integer not null, deliveries integer not null, unique (tenant, idempotency_key)
  );
  create index events_by_subject on events (tenant, subject);
  create table deliveries (
    id integer primary key autoincrement, event_id text not null, webhook_id integer not null, is_replay integer not null,
    status text not null, created_at integer not null, next_attempt_at integer not null, delivered_at integer,
    attempt_count integer not null, fence integer not null, is_claimed integer not null, lease_expires_at integer not null
  );
  create index deliveries_due on deliveries (webhook_id, next_attempt_at) where status = 'pending';
  create index deliveries_by_webhook on deliveries (webhook_id, event_id);
  create index deliveries_by_event on deliveries (event_id);
  create table notices (id integer primary key autoincrement, notice text not null, leased_until integer not null);
  create table resting_tenants (tenant text primary key, until integer not null);
  create table attempts (
    delivery_id integer not null, started_at integer not null, duration_ms integer not null, response_status integer, error text,
    response_excerpt text
  );
  create index attempts_by_delivery on attempts (delivery_id);
`
