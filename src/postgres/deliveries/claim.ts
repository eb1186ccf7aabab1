import type { ClaimOptions, ClaimedDelivery, Lease } from '../../ports/index.js'
import type { Session } from '../session.js'
import { type SecretRow, parseSecrets } from '../webhooks/webhook-row.js'

interface ClaimedRow extends SecretRow {
  /** `null` if the claim stopped early and found nothing: the row has only `visited_until`. */
  delivery_id: string | null
  fence: string
  tenant_slug: string
  webhook_id: string
  target_url: string
  event_id: string
  event_type: string
  body: string
  attempt_count: number
  is_failing: boolean
  visited_until: string
}

/** Claims deliveries; `schema` is quoted. */
export function createClaim (session: Session, schema: string): (options: ClaimOptions) => Promise<ClaimedDelivery[]> {
  const text = `
    select delivery_id::text, fence::text, tenant_slug, webhook_id::text, target_url, secret, previous_secret,
      event_id, event_type, body, attempt_count, is_failing, visited_until::text
    from ${schema}.claim_v1($1, $2, $3)`

  return async ({ limit, perEndpoint, leaseMs }) => {
    const round = createRound()
    for (;;) {
      const rows = await session.query<ClaimedRow>('claim deliveries', text, [limit, perEndpoint, leaseMs])
      const [first] = rows
      if (first === undefined) return []
      if (first.delivery_id !== null) return rows.map(parseClaimed)
      if (round.isComplete(Number(first.visited_until))) return []
    }
  }
}

/**
 * Tells when claims have visited every webhook. They visit by ascending id, and continue with the lowest after the highest.
 * Other workers move the turn too, so the second time that it wraps is always the end.
 */
function createRound (): { isComplete (visitedUntil: number): boolean } {
  let first: number | null = null
  let last = Number.NEGATIVE_INFINITY
  let wraps = 0
  return {
    isComplete (visitedUntil) {
      if (visitedUntil <= last) wraps++
      last = visitedUntil
      first ??= visitedUntil
      return wraps > 1 || (wraps === 1 && visitedUntil >= first)
    }
  }
}

/** Releases leases; `schema` is quoted. */
export function createRelease (session: Session, schema: string): (leases: readonly Lease[]) => Promise<void> {
  return async (leases) => {
    await session.query('release deliveries', `select ${schema}.release_v1($1, $2, $3)`, [
      leases.map(({ webhookId }) => webhookId),
      leases.map(({ deliveryId }) => deliveryId),
      leases.map(({ fence }) => fence)
    ])
  }
}

function parseClaimed (row: ClaimedRow): ClaimedDelivery {
  return {
    deliveryId: Number(row.delivery_id),
    fence: Number(row.fence),
    tenantSlug: row.tenant_slug,
    webhookId: Number(row.webhook_id),
    targetUrl: row.target_url,
    secrets: parseSecrets(row),
    eventId: row.event_id,
    eventType: row.event_type,
    body: row.body,
    attemptCount: Number(row.attempt_count),
    isFailing: row.is_failing
  }
}
