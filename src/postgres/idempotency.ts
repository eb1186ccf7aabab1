import type { IdempotencyStore } from '../ports/index.js'
import type { Session } from './session.js'

interface ClaimedRow {
  is_claimed: boolean
  fingerprint: string
  answer: string | null
}

/** Keeps the answers of requests with `Idempotency-Key`; `schema` is quoted. */
export function createIdempotencyStore (session: Session, schema: string): IdempotencyStore {
  return {
    async claim (tenant, { digest, fingerprint, claim, leaseMs, keepMs }) {
      const [row] = await session.query<ClaimedRow>('claim request', `
        select is_claimed, fingerprint, answer from ${schema}.claim_request_v1($1, $2, $3, $4, $5, $6)`,
      [tenant, digest, fingerprint, claim, leaseMs, keepMs])
      return {
        isClaimed: row?.is_claimed === true, fingerprint: String(row?.fingerprint), answer: row?.answer ?? null
      }
    },

    async save (tenant, { digest, claim }, answer) {
      const text = `select ${schema}.save_answer_v1($1, $2, $3, $4)`
      await session.query('save answer', text, [tenant, digest, claim, answer])
    }
  }
}
