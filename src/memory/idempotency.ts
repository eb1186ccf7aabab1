import type { IdempotencyStore } from '../ports/index.js'
import type { IdempotencyRecord, WebhookData } from './webhook-data.js'

export function createIdempotencyStore ({ requests, now }: WebhookData): IdempotencyStore {
  const keyOf = (tenant: string, digest: string): string => `${tenant} ${digest}`

  return {
    async claim (tenant, { digest, fingerprint, claim, leaseMs, keepMs }) {
      const time = now()
      const known = requests.get(keyOf(tenant, digest))
      if (known !== undefined && known.expiresAt > time && (known.answer !== null || known.leasedUntil > time)) {
        return { isClaimed: false, fingerprint: known.fingerprint, answer: known.answer }
      }
      requests.set(keyOf(tenant, digest), {
        tenant, fingerprint, claim, answer: null, leasedUntil: time + leaseMs, expiresAt: time + keepMs
      })
      return { isClaimed: true, fingerprint, answer: null }
    },

    async save (tenant, { digest, claim }, answer) {
      const record = requests.get(keyOf(tenant, digest))
      if (record?.claim !== claim) return
      if (answer === null) requests.delete(keyOf(tenant, digest))
      else record.answer = answer
    }
  }
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
