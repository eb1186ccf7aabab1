import { RecruitingApiError, isRecruitingApiError } from '../../core/shared/errors.js'
import type {
  CandidateRow, CandidateSortField, Id, JobFilter, JobRow, JobSortField, OwnFilter, PublishedFields, RecruitingStorage
} from '../../core/ports/index.js'
import type { CandidateFilterOf } from '../../core/ports/lists.js'
import { type OptionsOf, choice, integer, readOptions } from '../../core/shared/read-options.js'
import { createChangeSource } from './changes/changes.js'
import { adviseWatch } from './changes/watched-tables.js'
import { createDeliveryStore } from './deliveries/deliveries.js'
import { createEventFeed } from './deliveries/feed.js'
import { createDue } from './deliveries/due.js'
import { needsCollation, type TenantRelation } from './lists/columns.js'
import { assertFilter, candidateKind, jobKind, readerOf, type RowKind } from './lists/row-kind.js'
import { createRowSource, type RelationSource } from './lists/row-source.js'
import { createHolds, createStopDeliveries } from './deliveries/queue.js'
import { assertPool, connectionsOf, type PgPool } from './pool.js'
import { createIdempotencyStore, databaseOf } from './requests.js'
import { createPatientSession, createSession, readQueryTimeout, type Session } from './session.js'
import { quoteName, readRelation, readSchema } from './sql.js'
import { createSubscriptionStore } from './subscriptions.js'
import { createTenants } from './tenants.js'
import { findCaches, findMissing, listNames, readVersion } from './upgrade/version.js'
import { createWebhookStore } from './webhooks.js'

const storageOptions = {
  /**
   * The schema created by `migrate`.
   * @default 'recruiting'
   */
  schema: readSchema,
  /**
   * The SQL name of the candidates table or view, such as `public.api_candidates`. Columns: `tenant_slug text, id
   * bigint, full_name text, headline text, source_id bigint, recruiter_id bigint, created_at timestamptz, updated_at
   * timestamptz`, and the fields that `candidateFields` publishes. Text ids are `uuid`, `text` or `varchar`. With the
   * option `tenantId`, the column `tenant_id` replaces `tenant_slug`: `uuid`, `text`, `varchar`, `bigint` or `integer`.
   * @default candidates in the schema above
   */
  candidates: readRelation,
  /**
   * The SQL name of the jobs table or view. Columns: `tenant_slug text, id bigint, name text, status text, created_at
   * timestamptz, updated_at timestamptz`, and the fields that `jobFields` publishes. Text ids are `uuid`, `text` or
   * `varchar`. With the option `tenantId`, the column `tenant_id` replaces `tenant_slug`, as above.
   * @default jobs in the schema above
   */
  jobs: readRelation,
  /**
   * Query timeout in milliseconds, including the wait for a connection, 100 to 120,000. Slower queries are cancelled
   * and reject with `storage_timeout`. Replays and pruning may take a minute. Statements in your own transactions have
   * no timeout.
   * @default 5000
   */
  queryTimeoutMs: readQueryTimeout,
  /**
   * How long totals of candidates and jobs are cached for each filter, in milliseconds, 0 to 60,000. Rows are never
   * cached.
   * @default 0
   */
  totalsTtlMs: integer(0, 60_000, 0),
  /**
   * Who records changed items for `sync`. With `'watch'`, the triggers of `watch` do, and a kind has `sync` if one of
   * its tables is watched at startup. With `'manual'`, your code calls `changed`, and all kinds have `sync`; watched
   * tables count too.
   * @default 'watch'
   */
  changes: choice(['watch', 'manual'], 'watch')
}

/** Options of `postgresStorage`. */
export interface PostgresStorageOptions extends OptionsOf<typeof storageOptions> {}

/**
 * Stores everything in PostgreSQL 15 or later, for one or more processes. Storages can share a pool; apps and workers
 * can share a storage. The host ends the pool. Throws `invalid_option`.
 *
 * The columns decide whether ids are integers or text. Code that calls `candidates` and `jobs` itself passes `string`
 * as the type argument for text ids.
 */
export function postgresStorage<
  CandidateId extends Id = number,
  JobId extends Id = number,
  SourceId extends Id = number,
  RecruiterId extends Id = number
> (
  pool: PgPool, options?: PostgresStorageOptions
): Required<RecruitingStorage<CandidateId, JobId, SourceId, RecruiterId>>
export function postgresStorage (
  pool: PgPool, options: PostgresStorageOptions = {}
): Required<RecruitingStorage<Id, Id, Id, Id>> {
  assertPool(pool)
  const { schema, queryTimeoutMs, totalsTtlMs, changes, ...relations } = readOptions(options, storageOptions)
  const quotedSchema = quoteName(schema)
  const session = createSession(pool, queryTimeoutMs)
  const patient = createPatientSession(pool)
  const candidates = createRowSource<CandidateRow<Id, Id>, CandidateFilterOf, CandidateSortField>(
    session, candidateKind, relations.candidates ?? `${quotedSchema}.candidates`, totalsTtlMs
  )
  const jobs = createRowSource<JobRow<Id>, JobFilter, JobSortField>(
    session, jobKind, relations.jobs ?? `${quotedSchema}.jobs`, totalsTtlMs
  )
  const database = databaseOf(pool, schema)
  const due = createDue(pool, session, schema)
  const stop = createStopDeliveries(patient, quotedSchema)
  const changeSource = createChangeSource(session, patient, quotedSchema, changes)

  return {
    candidates,
    jobs,
    webhooks: {
      database,
      ...createWebhookStore(session, quotedSchema, stop, due),
      ...createTenants(patient, quotedSchema, stop, due)
    },
    deliveries: { database, ...createDeliveryStore({ session, patient }, quotedSchema, stop, due) },
    holds: createHolds(patient, quotedSchema, stop, due),
    idempotency: { database, ...createIdempotencyStore(session, quotedSchema) },
    subscriptions: createSubscriptionStore(session, quotedSchema, stop, due),
    changes: changeSource,
    feed: createEventFeed(session, quotedSchema, changeSource.tokenSecret),
    connections: connectionsOf(pool),

    async verify (published) {
      try {
        await assertMigrated(session, schema)
        await assertLocks(session)
        const advice = [...advisePool(pool), ...await adviseSequences(session, schema)]
        if (published === null) return advice
        return [
          ...advice, ...(await checkRelation(candidates, candidateKind, published)),
          ...(await checkRelation(jobs, jobKind, published)),
          ...(await adviseWatch((text, values) => session.query('list watched tables', text, values), quotedSchema))
        ]
      } catch (cause) {
        if (isRecruitingApiError(cause) && cause.code === 'storage_not_ready') throw cause
        const problem = `PostgreSQL cannot be queried, check the pool: ${String(cause)}`
        throw new RecruitingApiError('storage_not_ready', problem, 'pool', { cause })
      }
    }
  }
}

/** Throws `storage_not_ready` unless the schema has all of this version's tables and functions. */
async function assertMigrated (session: Session, schema: string): Promise<void> {
  const missing = await findMissing(
    (text, values) => session.query('look for migrations', text, values), schema, await readVersion()
  )
  const files = listNames(missing)
  if (files.length === 0) return
  const problem = missing.isNew ? 'has none of the tables' : `lacks the migrations ${files.join(', ')}`
  const remedy = `call migrate(pool, { schema: ${JSON.stringify(schema)} }) before starting`
  throw new RecruitingApiError('storage_not_ready', `the schema ${schema} ${problem}: ${remedy}`, 'schema')
}

/** Checks that a relation has the published columns. Returns advice about a table's indexes. */
async function checkRelation (
  source: Pick<RelationSource<never, never, never>, 'describe'>, kind: RowKind, published: PublishedFields
): Promise<string[]> {
  const { ids, hasTenantIds = false, filters, [kind.option]: fields } = published
  const relation = await source.describe(ids, hasTenantIds)
  for (const field of fields) readerOf(relation, kind.option, field)
  const own = filters?.[kind.option] ?? []
  for (const filter of own) assertFilter(relation, kind.option, filter)
  return relation.isIndexable ? adviseIndexes(relation, kind, own) : []
}

/** Throws unless pg_locks shows advisory locks. Without them, readers would miss events and changes. */
async function assertLocks (session: Session): Promise<void> {
  const found = await session.transaction('look for locks', async (query) => {
    await query("select pg_advisory_xact_lock_shared(hashtextextended('fastify-recruiting-api start', 0))")
    return query("select from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()")
  })
  if (found.length > 0) return
  const problem = 'pg_locks of this server does not show advisory locks, so readers would miss events and changes'
  const remedy = 'use PostgreSQL, or a service that runs it, and not Citus or YugabyteDB'
  throw new RecruitingApiError('storage_not_ready', `${problem}: ${remedy}`, 'pool')
}

async function adviseSequences (session: Session, schema: string): Promise<string[]> {
  const names = await findCaches((text, values) => session.query('look for caches', text, values), schema)
  return names.map((name) =>
    `the sequence ${name} has a cache, so events and deliveries get numbers in the wrong order: run migrate`)
}

/** Without a connection timeout, an unresponsive server blocks callers forever. */
function advisePool (pool: PgPool): string[] {
  const { options } = pool
  if (options === undefined || Number(options.connectionTimeoutMillis) > 0) return []
  return ['the pool has no connection timeout: set connectionTimeoutMillis, for example 5000']
}

function adviseIndexes (relation: TenantRelation, { filters }: RowKind, own: readonly OwnFilter[]): string[] {
  const { name, columns, indexes, tenantColumn } = relation
  const advice: string[] = []
  const id = needsCollation(relation, 'id') ? 'id collate "C"' : 'id'
  if (!indexes.some((definition) => new RegExp(`\\(${tenantColumn}, ${id}[ ,)]`, 'i').test(definition))) {
    advice.push(`${name} has no index on (${tenantColumn}, ${id}): pages read the whole table`)
  }
  const readers = [
    ['updated_at', 'filter[updated_after] and sort=updated_at read the whole tenant'],
    ...own.map(({ field }) => [field, `filters and sort by ${field} read the whole tenant`])
  ]
  for (const [column, effect] of readers) {
    if (indexes.some((definition) => new RegExp(`\\(${tenantColumn}, "?${column}\\b`).test(definition))) continue
    advice.push(`${name} has no index on (${tenantColumn}, ${column}, ${id}): ${effect}`)
  }
  if (!columns.has('name_key')) {
    const key = `generated as lower(${filters.q.field}), in an index (${tenantColumn}, ${id}) include (name_key)`
    advice.push(`${name} has no column name_key, ${key}: filter[q] reads the whole tenant`)
  }
  return advice
}
