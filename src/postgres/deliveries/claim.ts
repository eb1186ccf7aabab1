import type { ClaimOptions, ClaimedDelivery, Hold, Lease } from '../../ports/index.js'
import { heldError } from '../../shared/held.js'
import type { Session } from '../session.js'
import { parseSecrets, type SecretRow } from '../webhooks/webhook-row.js'

interface ClaimedRow extends SecretRow {
  delivery_id: string
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
  /** If this process must not send, the only value of the only row. */
  held: Hold['reason'] | null
}

/** Claims deliveries; `schema` is quoted. */
export function createClaim (session: Session, schema: string): (options: ClaimOptions) => Promise<ClaimedDelivery[]> {
  const text = `
    select delivery_id::text, fence::text, tenant, tenant_slug, webhook_id::text, target_url, secret, previous_secret, headers,
      event_id, event_type, body, trace_parent, attempt_count, is_failing, held
    from ${schema}.claim_v1($1, $2, $3, $4)`

  return async ({ limit, perEndpoint, leaseMs, environment = null }) => {
    const rows = await session.query<ClaimedRow>('claim deliveries', text, [limit, perEndpoint, leaseMs, environment])
    const held = rows[0]?.held ?? null
    if (held !== null) throw heldError(held)
    return rows.map(parseClaimed)
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
