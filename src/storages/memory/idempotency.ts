import { claimLost } from '../../core/shared/errors.js'
import type { AnswerToStore, IdempotencyStore, IdempotentRequest } from '../../core/ports/index.js'
import type { IdempotencyRecord, WebhookData } from './webhook-data.js'

export function createIdempotencyStore (data: WebhookData): IdempotencyStore {
  const { requests, now } = data

  /** Returns when the tenant has fewer than `max` requests; `null` if it has fewer now. */
  function findEnd (tenant: string, max: number): number | null {
    const ends = [...requests.values()]
      .filter((record) => record.tenant === tenant && record.expiresAt > now())
      .map(({ expiresAt }) => expiresAt)
    return ends.length < max ? null : Math.min(...ends)
  }

  return {
    database: data,

    async claim (tenant, { digest, fingerprint, claim, isAtomic, leaseMs, keepMs, maxDigests }) {
      const time = now()
      const known = requests.get(keyOf(tenant, digest))
      if (known !== undefined && known.expiresAt > time) {
        const { answer, fingerprint: earlier } = known
        if (answer !== null) return { state: 'answered', fingerprint: earlier, answer }
        if (!known.isAtomic || earlier !== fingerprint) {
          const isRunning = known.isAtomic || known.leasedUntil > time
          return { state: isRunning ? 'running' : 'unknown', fingerprint: earlier }
        }
      }
      const end = known === undefined ? findEnd(tenant, maxDigests) : null
      if (end !== null) return { state: 'full', waitMs: end - time }
      requests.set(keyOf(tenant, digest), {
        tenant, fingerprint, claim, isAtomic, answer: null, leasedUntil: time + leaseMs, expiresAt: time + keepMs
      })
      return { state: 'claimed' }
    },

    async renew (tenant, { leaseMs, ...attempt }) {
      const record = findClaimed(data, tenant, attempt)
      if (record !== null) record.leasedUntil = now() + leaseMs
    },

    async save (tenant, attempt, answer) {
      const record = findClaimed(data, tenant, attempt)
      if (record === null) return false
      if (answer === null) requests.delete(keyOf(tenant, attempt.digest))
      else record.answer = answer
      return true
    }
  }
}

function keyOf (tenant: string, digest: string): string {
  return `${tenant} ${digest}`
}

type Attempt = Pick<IdempotentRequest, 'digest' | 'claim'>

/** Returns the request of an attempt; `null` if it has an answer or another attempt has claimed it. */
function findClaimed ({ requests }: WebhookData, tenant: string, { digest, claim }: Attempt): IdempotencyRecord | null {
  const record = requests.get(keyOf(tenant, digest))
  return record?.claim === claim && record.answer === null ? record : null
}

/** Stores the answer to a request, just before the work takes effect. */
export function storeAnswer<Result> (
  data: WebhookData, tenant: string, answer: AnswerToStore<Result> | undefined, result: Result
): void {
  if (answer === undefined) return
  const record = findClaimed(data, tenant, answer)
  if (record === null) throw claimLost()
  record.answer = answer.format(result)
}

/** Deletes the requests that pass the test. Returns their number. */
export function deleteRequests (
  { requests }: WebhookData, isOver: (record: IdempotencyRecord) => boolean, limit = Infinity
): number {
  let count = 0
  for (const [key, record] of requests) {
    if (count === limit) break
    if (isOver(record) && requests.delete(key)) count++
  }
  return count
}
