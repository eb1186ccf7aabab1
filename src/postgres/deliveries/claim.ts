import type { ClaimOptions, ClaimedDelivery, Hold, Lease } from '../../ports/index.js'
import { heldError } from '../../shared/held.js'
import type { Session } from '../session.js'
import { parseSecrets, type SecretRow } from '../webhooks/webhook-row.js'

interface ClaimedRow extends SecretRow {
  /** `null` if the claim stopped early and found nothing: the row has only `visited_until`. */
  delivery_id: string | null
  fence: string
  tenant: string
  tenant_slug: string
  webhook_id: string
  target_url: string
  headers: string | null
  event_id: string
  event_type: string
  body: string
  trace_parent: string | null
  attempt_count: number
  is_failing: boolean
  visited_until: string
  /** If this process must not send, the only value. */
  held: Hold['reason'] | null
}

/** Claims deliveries; `schema` is quoted. */
export function createClaim (session: Session, schema: string): (options: ClaimOptions) => Promise<ClaimedDelivery[]> {
  const text = `
    select delivery_id::text, fence::text, tenant, tenant_slug, webhook_id::text, target_url, secret, previous_secret, headers,
      event_id, event_type, body, trace_parent, attempt_count, is_failing, visited_until::text, held
    from ${schema}.claim_v1($1, $2, $3, $4)`

  return async ({ limit, perEndpoint, leaseMs, environment = null }) => {
    const round = createRound()
    for (;;) {
      const rows = await session.query<ClaimedRow>('claim deliveries', text, [limit, perEndpoint, leaseMs, environment])
      const [first] = rows
      if (first === undefined) return []
      if (first.held !== null) throw heldError(first.held)
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
    tenantId: row.tenant,
    tenantSlug: row.tenant_slug,
    webhookId: Number(row.webhook_id),
    targetUrl: row.target_url,
    secrets: parseSecrets(row),
    headers: row.headers,
    eventId: row.event_id,
    eventType: row.event_type,
    body: row.body,
    traceParent: row.trace_parent,
    attemptCount: Number(row.attempt_count),
    isFailing: row.is_failing
  }
}
