import type { ClaimOptions, ClaimedDelivery } from '../ports/index.js'
import { leaseValues } from './leases.js'
import type { Session } from './session.js'
import { type SecretRow, parseSecrets } from './webhook-row.js'

interface ClaimedRow extends SecretRow {
  delivery_id: string
  fence: string
  tenant_slug: string
  webhook_id: string
  target_url: string
  event_id: string
  event_type: string
  body: string
  attempt_count: number
  is_failing: boolean
  first_due_ms: string | null
}

// Everything is looked through so often.
const lookOverMs = 1000

/** Claims deliveries. Each call goes on with the endpoint after the one that had the last turn; `schema` is quoted. */
export function createClaim (session: Session, schema: string): (options: ClaimOptions) => Promise<ClaimedDelivery[]> {
  const text = `
    select delivery_id::text, fence::text, tenant_slug, webhook_id::text, target_url, secret, previous_secret,
      event_id, event_type, body, attempt_count, is_failing, first_due_ms::text
    from ${schema}.claim_due($1, $2, $3, $4, $5, $6, $7, $8)`
  let lastWebhookId = 0
  // Until when, in milliseconds of the database's clock, the first attempts of each webhook have been claimed.
  const known = new Map<number, number>()
  let lookedOverAt = Number.NEGATIVE_INFINITY

  function learn (rows: readonly ClaimedRow[]): void {
    for (const { webhook_id: webhookId, first_due_ms: dueMs } of rows) {
      if (dueMs !== null) known.set(Number(webhookId), Number(dueMs))
    }
  }

  return async ({ limit, perEndpoint, leaseMs, ended = [] }) => {
    if (performance.now() - lookedOverAt >= lookOverMs) {
      known.clear()
      lookedOverAt = performance.now()
    }
    const knownIds = [...known.keys()].sort((a, b) => a - b)
    const knownUntil = knownIds.map((id) => known.get(id))
    const values = [limit, perEndpoint, leaseMs, lastWebhookId, ...leaseValues(ended), knownIds, knownUntil]
    const rows = await session.query<ClaimedRow>('claim deliveries', text, values)
    learn(rows)
    const claimed = rows.map(parseClaimed)
    lastWebhookId = claimed.at(-1)?.webhookId ?? lastWebhookId
    return claimed
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
