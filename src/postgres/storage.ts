import { expectNames } from '../shared/expect.js'
import type { CandidateFilter, CandidateRow, CandidateSortField, JobFilter, JobRow, JobSortField, RecruitingStorage } from '../ports/index.js'
import { createDeliveryStore } from './deliveries/deliveries.js'
import { createDue } from './deliveries/due.js'
import { parseSchema, quoteName } from './names.js'
import { defaultQueryTimeoutMs, parseMilliseconds, parsePool, parseRelation } from './parse-options.js'
import type { PgPool } from './pool.js'
import { advisePool, assertMigrated, checkRelation, reportUnreachable } from './ready.js'
import { candidateKind, jobKind } from './lists/row-kind.js'
import { createRowSource } from './lists/row-source.js'
import { createSession } from './session.js'
import { createStopDeliveries } from './deliveries/stop.js'
import { createWebhookStore } from './webhooks/webhooks.js'

/** Options of `postgresStorage`. */
export interface PostgresStorageOptions {
  /**
   * The schema that `migrate` made.
   * @default 'recruiting'
   */
  schema?: string
  /**
   * The table or view of candidates, as in SQL, such as `public.api_candidates`. Columns: `tenant_slug text, id bigint,
   * full_name text, headline text, source_id bigint, recruiter_id bigint, created_at timestamptz, updated_at
   * timestamptz`, and those that `candidateFields` publishes.
   * @default candidates, in the schema above
   */
  candidates?: string
  /**
   * The table or view of jobs, as in SQL. Columns: `tenant_slug text, id bigint, name text, status text, created_at
   * timestamptz, updated_at timestamptz`, and those that `jobFields` publishes.
   * @default jobs, in the schema above
   */
  jobs?: string
  /**
   * How long the database may take to answer, in milliseconds, the wait for a connection included, 100 to 120,000. What
   * takes longer is cancelled and rejects with `storage_timeout`. Replays and pruning may take a minute; statements in
   * the host's own transactions are not bounded.
   * @default 5000
   */
  queryTimeoutMs?: number
  /**
   * How long the total of a list of candidates or jobs is kept for further requests with the same filter, in
   * milliseconds, 0 to 60,000. Rows are always read anew.
   * @default 0
   */
  totalsTtlMs?: number
}

const optionNames = {
  schema: true,
  candidates: true,
  jobs: true,
  queryTimeoutMs: true,
  totalsTtlMs: true
} satisfies Record<keyof PostgresStorageOptions, true>

/**
 * Keeps everything in PostgreSQL 15 or later, for one process or many. Any number of storages may share a pool, and any
 * number of apps and workers a storage; the pool stays the host's. Throws `invalid_option`.
 */
export function postgresStorage (pool: PgPool, options: PostgresStorageOptions = {}): Required<RecruitingStorage> {
  parsePool(pool)
  expectNames(options, optionNames)
  const schema = parseSchema(options.schema)
  const quotedSchema = quoteName(schema)
  const session = createSession(pool, parseMilliseconds('queryTimeoutMs', options.queryTimeoutMs ?? defaultQueryTimeoutMs, 100, 120_000))
  const patient = createSession(pool, 60_000)
  const totalsTtlMs = parseMilliseconds('totalsTtlMs', options.totalsTtlMs ?? 0, 0, 60_000)
  const candidates = createRowSource<CandidateRow, CandidateFilter, CandidateSortField>(
    session, candidateKind, parseRelation('candidates', options.candidates, quotedSchema), totalsTtlMs)
  const jobs = createRowSource<JobRow, JobFilter, JobSortField>(
    session, jobKind, parseRelation('jobs', options.jobs, quotedSchema), totalsTtlMs)
  const due = createDue(pool, session, schema)
  const stop = createStopDeliveries(patient, quotedSchema)

  return {
    candidates,
    jobs,
    webhooks: createWebhookStore(session, quotedSchema, stop, due),
    deliveries: createDeliveryStore({ session, patient }, quotedSchema, stop, due),

    verify: (published) => reportUnreachable(async () => {
      await assertMigrated(session, schema)
      if (published === null) return advisePool(pool)
      return [
        ...advisePool(pool),
        ...await checkRelation(candidates, candidateKind, published.candidates),
        ...await checkRelation(jobs, jobKind, published.jobs)
      ]
    })
  }
}
