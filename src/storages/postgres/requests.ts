import { claimLost } from '../../core/shared/errors.js'
import type { AnswerToStore, IdempotencyStore } from '../../core/ports/index.js'
import type { PgPool } from './pool.js'
import type { RunQuery, Session } from './session.js'

const databases = new WeakMap<PgPool, Map<string, object>>()

/** Returns the object that identifies a schema of a pool's database, for `AnswerToStore`. */
export function databaseOf (pool: PgPool, schema: string): object {
  const schemas = databases.get(pool) ?? new Map<string, object>()
  databases.set(pool, schemas)
  const database = schemas.get(schema) ?? { schema }
  schemas.set(schema, database)
  return database
}

/** Stores the responses to requests with an `Idempotency-Key`; `schema` is quoted. */
export function createIdempotencyStore (session: Session, schema: string): IdempotencyStore {
  return {
    async claim (tenant, { digest, fingerprint, claim, isAtomic, leaseMs, keepMs, maxDigests }) {
      const [row] = await session.prepared<{ state: string }>(
        'claim request',
        `select ${schema}.claim_request_v1($1, $2, $3, $4, $5, $6, $7, $8) as state`,
        [tenant, digest, fingerprint, claim, isAtomic, leaseMs, keepMs, maxDigests]
      )
      return JSON.parse(String(row?.state))
    },

    async renew (tenant, { digest, claim, leaseMs }) {
      await session.query('renew request', `
        update ${schema}.requests set leased_until = clock_timestamp() + $4 * interval '1 millisecond'
        where tenant = $1 and digest = $2 and claim = $3 and answer is null`, [tenant, digest, claim, leaseMs])
    },

    async save (tenant, { digest, claim }, answer) {
      const [row] = await session.prepared<{ is_saved: string }>(
        'save answer', saveText(schema), [tenant, digest, claim, answer]
      )
      return row?.is_saved === 'true'
    }
  }
}

function saveText (schema: string): string {
  return `select ${schema}.save_answer_v1($1, $2, $3, $4)::text as is_saved`
}

/** Stores the answer to a request in the transaction of `query`. `schema` is quoted. */
export async function storeAnswer<Result> (
  query: RunQuery, schema: string, tenant: string, answer: AnswerToStore<Result> | undefined, result: Result
): Promise<void> {
  if (answer === undefined) return
  const values = [tenant, answer.digest, answer.claim, answer.format(result)]
  const [row] = await query<{ is_saved: string }>(saveText(schema), values)
  if (row?.is_saved !== 'true') throw claimLost()
}
