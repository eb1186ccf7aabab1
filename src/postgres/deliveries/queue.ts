import type {
  AttemptError,
  AttemptResult,
  ClaimOptions,
  ClaimedDelivery,
  ClaimedNotice,
  DeliveryStore,
  HealthNotice,
  HealthRule,
  Hold,
  Lease
} from '../../ports/index.js'
import { heldError } from '../../errors.js'
import type { Session } from '../session.js'
import { toIso } from '../sql.js'
import { parseSecrets, type SecretRow } from '../webhooks/webhook-row.js'

// The caller waits for the first batch. Most webhooks have fewer deliveries in the queue.
const firstBatchSize = 500
const batchSize = 5000

/** Moves stopped deliveries from the queue to the log. They are never claimed, and claims move those that they meet. */
export interface StopDeliveries {
  /**
   * Moves those of a stopped or deleted webhook: one batch before it resolves, the others in the background. Never
   * rejects.
   */
  sweep (webhookId: number): Promise<void>
  /** Moves those of a webhook that was stopped before deliveries from `firstId` on committed. */
  sweepIfStopped (webhookId: number, firstId: string): Promise<void>
  /** Moves those that earlier sweeps left. */
  sweepLeft (): Promise<void>
}

/** `schema` is quoted. */
export function createStopDeliveries (session: Session, schema: string): StopDeliveries {
  async function sweepBatch (webhookId: number, size: number): Promise<number> {
    const [row] = await session.query<{ count: number }>(
      'sweep deliveries',
      `select ${schema}.sweep_v1($1, $2) as count`,
      [webhookId, size]
    )
    return Number(row?.count)
  }

  async function sweepAll (webhookId: number): Promise<void> {
    while (await sweepBatch(webhookId, batchSize) > 0);
  }

  async function sweepLeft (): Promise<void> {
    const rows = await session.query<{ id: string }>('list stopped webhooks',
      `select webhook_id::text as id from ${schema}.stopped_webhooks`)
    for (const { id } of rows) await sweepAll(Number(id))
  }

  return {
    sweepLeft,

    async sweepIfStopped (webhookId, firstId) {
      const rows = await session.query('check webhook', `
        select from ${schema}.webhooks where id = $1 and status = 'active' and skip_before <= $2`, [webhookId, firstId])
      if (rows.length === 0) await sweepAll(webhookId)
    },

    async sweep (webhookId) {
      // The webhook is stopped already. `sweepLeft` moves the deliveries that fail here.
      const count = await sweepBatch(webhookId, firstBatchSize).catch(() => 0)
      if (count > 0) sweepAll(webhookId).catch(() => {})
    }
  }
}

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
    select delivery_id::text, fence::text, tenant, tenant_slug, webhook_id::text, target_url, secret,
      previous_secret, headers,
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

interface RecordedRow {
  /** A JSON array of ordinals, or null. */
  later: string | null
  has_verdict: boolean
}

/** Records attempts and the health of their webhooks; `schema` is quoted. */
export function createRecordAttempts (session: Session, schema: string, notices: Notices) {
  const text = `select array_to_json(later)::text as later, has_verdict
    from ${schema}.record_attempts_v1($1, $2, $3, $4)`

  return async (results: readonly AttemptResult[], rule: HealthRule): Promise<Lease[]> => {
    const { failingForSeconds, failedDeliveries, warnAfterSeconds } = rule
    const distinct = dropRepeated(results)
    const values = [JSON.stringify(distinct.map(formatResult)), failingForSeconds, failedDeliveries, warnAfterSeconds]
    const [row] = await session.query<RecordedRow>('record attempts', text, values)
    if (row?.has_verdict === true) await notices.disableFailing()
    const later = JSON.parse(row?.later ?? '[]') as number[]
    return distinct.filter((_result, index) => later.includes(index))
  }
}

/** Keeps the first result of each lease. */
function dropRepeated (results: readonly AttemptResult[]): AttemptResult[] {
  const known = new Map<string, AttemptResult>()
  for (const result of results) {
    const lease = `${result.deliveryId} ${result.fence}`
    if (!known.has(lease)) known.set(lease, result)
  }
  return [...known.values()]
}

function formatResult (result: AttemptResult, index: number): object {
  return {
    ordinal: index,
    webhook_id: result.webhookId,
    delivery_id: result.deliveryId,
    fence: result.fence,
    target_url: result.targetUrl,
    outcome: result.outcome,
    duration_ms: Math.round(result.durationMs),
    response_status: result.responseStatus,
    error: result.error,
    ...(result.responseExcerpt === null ? {} : { response_excerpt: result.responseExcerpt }),
    ...(result.outcome === 'retry' ? { retry_in_ms: result.retryInMs, pause_ms: result.pauseMs } : {}),
    ...(result.outcome === 'failed' ? { is_gone: result.isGone } : {})
  }
}

/** Disables webhooks with a verdict, and stores notices until the host has received them. */
export interface Notices extends Pick<DeliveryStore, 'claimNotices' | 'confirmNotice'> {
  /** Disables the webhooks that got a verdict from `recordAttempts`. */
  disableFailing (): Promise<void>
}

interface NoticeRow {
  id: string
  kind: HealthNotice['kind']
  tenant: string
  tenant_slug: string
  webhook_id: string
  failing_since: string
  failed_deliveries: number
  last_error: AttemptError
  last_response_status: number | null
}

/** `schema` is quoted. */
export function createNotices (session: Session, schema: string, stop: StopDeliveries): Notices {
  async function disableFailing (): Promise<void> {
    const disabled = await session.query<{ id: string }>(
      'disable webhooks',
      `select id::text from ${schema}.disable_failing_webhooks_v1() as id`
    )
    for (const { id } of disabled) await stop.sweep(Number(id))
  }

  return {
    disableFailing,

    async claimNotices ({ limit, leaseMs, environment = null }) {
      await disableFailing()
      const rows = await session.query<NoticeRow>(
        'claim notices',
        `
        update ${schema}.notices set leased_until = clock_timestamp() + $2 * interval '1 millisecond'
        where id = any (array(
          select id from ${schema}.notices where leased_until <= clock_timestamp()
            and not exists (select from ${schema}.find_hold_v1($3))
          order by id limit $1 for update skip locked
        ))
        returning id::text, kind, tenant, tenant_slug, webhook_id::text, ${toIso('failing_since')} as failing_since,
          failed_deliveries,
          last_error, last_response_status`,
        [limit, leaseMs, environment]
      )
      return rows.map(parseNotice).sort((a, b) => a.noticeId - b.noticeId)
    },

    async confirmNotice (noticeId) {
      // A host that renames or removes the tenant may have locked it: the notice is then reported again.
      await session.query(
        'confirm notice',
        `
        delete from ${schema}.notices where id =
          (select id from ${schema}.notices where id = $1 for update skip locked)`,
        [noticeId]
      )
    }
  }
}

function parseNotice (row: NoticeRow): ClaimedNotice {
  return {
    noticeId: Number(row.id),
    notice: {
      kind: row.kind,
      tenantId: row.tenant,
      tenantSlug: row.tenant_slug,
      webhookId: Number(row.webhook_id),
      failingSince: row.failing_since,
      failedDeliveries: Number(row.failed_deliveries),
      lastError: row.last_error,
      lastResponseStatus: row.last_response_status
    }
  }
}

/** Deletes events and deliveries older than the retention; `schema` is quoted. */
export function createPrune (session: Session, schema: string, stop: StopDeliveries): DeliveryStore['prune'] {
  const text = `select pruned, next_after from ${schema}.prune_v1($1, $2, $3)`
  // Where the next batch begins; null between two walks over the events.
  let after: string | null = null
  let isSwept = false

  /** Removes events of removed tenants. Returns whether there are more. */
  async function removeEvents (limit: number): Promise<boolean> {
    const [row] = await session.query<{ left: number }>(
      'remove events',
      `select ${schema}.remove_events_v1($1) as left`,
      [limit]
    )
    return Number(row?.left) > 0
  }

  return async ({ retentionDays, limit }) => {
    if (after === null) {
      if (!isSwept) await stop.sweepLeft()
      isSwept = true
      if (await removeEvents(limit)) return limit
      isSwept = false
    }
    let from = after
    for (;;) {
      // The next call starts again if this one fails.
      after = null
      const [row] = await session.query<{ pruned: number; next_after: string | null }>('prune', text, [
        retentionDays,
        limit,
        from
      ])
      from = after = row?.next_after ?? null
      if (Number(row?.pruned) > 0 || from === null) return Number(row?.pruned)
    }
  }
}
