import type { CandidateFilter, CandidateRow, CandidateSortField, Id, JobFilter, JobRow, JobSortField, RecruitingStorage } from '../ports/index.js'
import { type Readers, integer, readOptions } from '../shared/read-options.js'
import { createChangeSource } from './changes/changes.js'
import { createDeliveryStore } from './deliveries/deliveries.js'
import { createDue } from './deliveries/due.js'
import { assertPool, readQueryTimeout, readRelation, readSchema } from './options.js'
import type { PgPool } from './pool.js'
import { advisePool, assertMigrated, checkRelation, reportUnreachable } from './ready.js'
import { candidateKind, jobKind } from './lists/row-kind.js'
import { createRowSource } from './lists/row-source.js'
import { createSession } from './session.js'
import { quoteName } from './sql.js'
import { createStopDeliveries } from './deliveries/stop.js'
import { createHealth } from './webhooks/health.js'
import { createTenants } from './webhooks/tenants.js'
import { createWebhookStore } from './webhooks/webhooks.js'

/** Options of `postgresStorage`. */
export interface PostgresStorageOptions {
  /**
   * The schema created by `migrate`.
   * @default 'recruiting'
   */
  schema?: string
  /**
   * The table or view of candidates, as in SQL, such as `public.api_candidates`. Columns: `tenant_slug text, id bigint,
   * full_name text, headline text, source_id bigint, recruiter_id bigint, created_at timestamptz, updated_at
   * timestamptz`, and those that `candidateFields` publishes. Text ids are `uuid`, `text` or `varchar`.
   * @default candidates, in the schema above
   */
  candidates?: string
  /**
   * The table or view of jobs, as in SQL. Columns: `tenant_slug text, id bigint, name text, status text, created_at
   * timestamptz, updated_at timestamptz`, and those that `jobFields` publishes. A text id is `uuid`, `text` or `varchar`.
   * @default jobs, in the schema above
   */
  jobs?: string
  /**
   * Time limit of a query in milliseconds, the wait for a connection included, 100 to 120,000. Slower queries are
   * cancelled and reject with `storage_timeout`. Replays and pruning may take a minute. Statements in transactions of
   * the host have no limit.
   * @default 5000
   */
  queryTimeoutMs?: number
  /**
   * How long the total of a list of candidates or jobs is cached for requests with the same filter, in milliseconds,
   * 0 to 60,000. Rows are never cached.
   * @default 0
   */
  totalsTtlMs?: number
}

/** The default and the check of each option. */
const readers: Readers<PostgresStorageSettings> = {
  schema: readSchema,
  candidates: readRelation,
  jobs: readRelation,
  queryTimeoutMs: readQueryTimeout,
  totalsTtlMs: integer(0, 60_000, 0)
}

interface PostgresStorageSettings extends Required<Omit<PostgresStorageOptions, 'candidates' | 'jobs'>> {
  candidates: string | null
  jobs: string | null
}

/**
 * Stores everything in PostgreSQL 15 or later, for one process or many. Several storages may share a pool, and several
 * apps and workers a storage. The host ends the pool. Throws `invalid_option`.
 *
 * The kinds of ids are those of the columns. The type arguments are `string` for text ids, in code that calls `candidates`
 * and `jobs` itself.
 */
export function postgresStorage<
  CandidateId extends Id = number, JobId extends Id = number, SourceId extends Id = number, RecruiterId extends Id = number
> (pool: PgPool, options?: PostgresStorageOptions): Required<RecruitingStorage<CandidateId, JobId, SourceId, RecruiterId>>
export function postgresStorage (pool: PgPool, options: PostgresStorageOptions = {}): Required<RecruitingStorage<Id, Id, Id, Id>> {
  assertPool(pool)
  const { schema, queryTimeoutMs, totalsTtlMs, ...relations } = readOptions(options, readers)
  const quotedSchema = quoteName(schema)
  const session = createSession(pool, queryTimeoutMs)
  const patient = createSession(pool, 60_000)
  const candidates = createRowSource<CandidateRow<Id, Id>, CandidateFilter<Id>, CandidateSortField>(
    session, candidateKind, relations.candidates ?? `${quotedSchema}.candidates`, totalsTtlMs)
  const jobs = createRowSource<JobRow<Id>, JobFilter, JobSortField>(
    session, jobKind, relations.jobs ?? `${quotedSchema}.jobs`, totalsTtlMs)
  const due = createDue(pool, session, schema)
  const stop = createStopDeliveries(patient, quotedSchema)

  return {
    candidates,
    jobs,
    webhooks: {
      ...createWebhookStore(session, quotedSchema, stop, due),
      ...createHealth(session, quotedSchema),
      ...createTenants(patient, quotedSchema)
    },
    deliveries: createDeliveryStore({ session, patient }, quotedSchema, stop, due),
    changes: createChangeSource(session, patient, quotedSchema),

    verify: (published) => reportUnreachable(async () => {
      await assertMigrated(session, schema)
      if (published === null) return advisePool(pool)
      return [
        ...advisePool(pool),
        ...await checkRelation(candidates, candidateKind, published.candidates, published.ids),
        ...await checkRelation(jobs, jobKind, published.jobs, published.ids)
      ]
    })
  }
}
