import { heldError } from '../../../core/shared/errors.js'
import type {
  AttemptResult, ClaimedDelivery, ClaimedNotice, ClaimOptions, DeliveryStore, HealthEventType, HealthRule,
  Hold, HoldStore, Lease
} from '../../../core/ports/index.js'
import { readJson, readValue, type Session } from '../session.js'
import { toIso } from '../sql.js'
import type { Due } from './due.js'

// The caller waits for the first batch. Most webhooks have fewer queued deliveries.
const firstBatchSize = 500
const batchSize = 5000

export type StopDeliveries = ReturnType<typeof createStopDeliveries>

/**
 * Moves stopped deliveries from the queue to the log. They are never claimed; claims move the ones they find. `schema`
 * is quoted.
 */
export function createStopDeliveries (session: Session, schema: string) {
  async function sweepBatch (webhookId: number, size: number): Promise<number> {
    return Number(await readValue(session, 'sweep deliveries', `${schema}.sweep_v1($1, $2)`, [webhookId, size]))
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
    /** Moves deliveries that earlier sweeps left. */
    sweepLeft,

    /** Moves a webhook's deliveries if it was stopped before those from `firstId` on were committed. */
    async sweepIfStopped (webhookId: number, firstId: string): Promise<void> {
      const rows = await session.query('check webhook', `
        select from ${schema}.webhooks where id = $1 and status = 'active' and skip_before <= $2`, [webhookId, firstId])
      if (rows.length === 0) await sweepAll(webhookId)
    },

    /**
     * Moves a stopped or deleted webhook's deliveries: one batch before it resolves, the others in the background.
     * Never rejects.
     */
    async sweep (webhookId: number): Promise<void> {
      // The webhook is already stopped. If this fails, `sweepLeft` moves its deliveries.
      const count = await sweepBatch(webhookId, firstBatchSize).catch(() => 0)
      if (count > 0) sweepAll(webhookId).catch(() => {})
    }
  }
}

/** Hosts may configure how their driver parses integers. */
interface ClaimedRow {
  webhookId: string
  deliveryId: string
  fence: string
  eventSeq: string
  attemptCount: number | string
  /** If this process must not send, the only column of the only row. */
  held: Hold['reason'] | null
}

interface ContentRow extends Omit<
  ClaimedDelivery, keyof Lease | 'targetUrl' | 'secrets' | 'body' | 'attemptCount' | 'claimedAt' | 'subscription'
> {
  /** `null` if the webhook was deleted. */
  targetUrl: string | null
  secret: string
  previousSecret: string | null
  /** `null` if the event was deleted. */
  body: string | null
  subscriptionId: string | null
  watermark: string | null
  filters: string | null
  claimedAt: string
}

interface Parts {
  session: Session
  /** With a longer timeout. */
  patient: Session
  /** Quoted. */
  schema: string
  stop: StopDeliveries
  due: Due
}

export function createQueue ({ session, patient, schema, stop, due }: Parts): Pick<
  DeliveryStore,
  'claimDue' | 'recordAttempts' | 'recordAndClaim' | 'release' | 'claimNotices' | 'confirmNotice' | 'prune' | 'onDue'
> {
  /** Disables webhooks with a verdict from `recordAttempts`. */
  async function disableFailing (eventTypes: readonly HealthEventType[] = []): Promise<void> {
    const disabled = await session.query<{ id: string }>('disable webhooks',
      `select id::text from ${schema}.disable_failing_webhooks_v1($1) as id`, [eventTypes])
    for (const { id } of disabled) await stop.sweep(Number(id))
    if (disabled.length > 0 && eventTypes.length > 0) due.notify()
  }

  const claimColumns = `
    webhook_id::text as "webhookId", delivery_id::text as "deliveryId", fence::text, event_seq::text as "eventSeq",
    attempt_count as "attemptCount", held`
  const claimCall = `${schema}.claim_v1($1, $2, $3, $4, $5, $6, $7, $8, $9)`
  const recordCall = (first: number): string =>
    `${schema}.record_attempts_v1($${first}, $${first + 1}, $${first + 2}, $${first + 3}, $${first + 4})`
  const claimText = `select ${claimColumns} from ${claimCall}`
  const bothText = `
    select later, ${claimColumns} from ${recordCall(10)} left join lateral ${claimCall} on true`
  const readText = `
    select tenant as "tenantId", tenant_slug as "tenantSlug", target_url as "targetUrl", secret,
      previous_secret as "previousSecret", headers, event_id as "eventId", event_type as "eventType", body,
      trace_parent as "traceParent", is_failing as "isFailing",
      subscription_id as "subscriptionId", watermark, filters,
      (select floor(1000 * extract(epoch from clock_timestamp()))::text) as "claimedAt"
    from ${schema}.read_claimed_v1($1, $2)`

  /** Reads what to send. Without a transaction: however slowly this process reads, it holds no lock. */
  async function readClaimed (claimed: readonly ClaimedRow[]): Promise<ClaimedDelivery[]> {
    const deliveries: ClaimedDelivery[] = []
    for (let from = 0; from < claimed.length;) {
      const rest = claimed.slice(from)
      const contents = await session.prepared<ContentRow>('read deliveries', readText, [
        rest.map(({ webhookId }) => webhookId), rest.map(({ eventSeq }) => eventSeq)
      ])
      for (const content of contents) {
        const row = claimed[from++]
        const { secret, previousSecret, targetUrl, body, subscriptionId: id, watermark } = content
        if (row === undefined || targetUrl === null || body === null) continue
        // Named one by one: copies of the rest of an object are slow to create and to read.
        const delivery: ClaimedDelivery = {
          webhookId: Number(row.webhookId),
          deliveryId: Number(row.deliveryId),
          fence: Number(row.fence),
          tenantId: content.tenantId,
          tenantSlug: content.tenantSlug,
          targetUrl,
          secrets: previousSecret === null ? [secret] : [secret, previousSecret],
          headers: content.headers,
          eventId: content.eventId,
          eventType: content.eventType,
          body,
          traceParent: content.traceParent,
          attemptCount: Number(row.attemptCount),
          isFailing: content.isFailing,
          claimedAt: Number(content.claimedAt)
        }
        if (id !== null) {
          delivery.subscription = { id, position: String(watermark), filters: JSON.parse(content.filters ?? 'null') }
        }
        deliveries.push(delivery)
      }
    }
    return deliveries
  }

  async function release (leases: ReadonlyArray<Record<keyof Lease, number | string>>): Promise<void> {
    if (leases.length === 0) return
    await session.query('release deliveries', `select ${schema}.release_v1($1, $2, $3)`, [
      leases.map(({ webhookId }) => webhookId),
      leases.map(({ deliveryId }) => deliveryId),
      leases.map(({ fence }) => fence)
    ])
    due.notify()
  }

  async function readOrRelease (rows: readonly ClaimedRow[]): Promise<ClaimedDelivery[]> {
    try {
      return await readClaimed(rows)
    } catch (error) {
      // If this fails too, the leases expire.
      release(rows).catch(() => {})
      throw error
    }
  }

  async function recordAttempts (results: readonly AttemptResult[], rule: HealthRule): Promise<Lease[]> {
    const distinct = dropRepeated(results)
    const [recorded] = await readJson<{ later: number[] | null, hasVerdict: boolean }>(session, 'record attempts', `
      select json_build_object('later', later, 'hasVerdict', has_verdict)::text as json from ${recordCall(1)}`,
    listRecordValues(distinct, rule))
    if (recorded?.hasVerdict === true) {
      await disableFailing(rule.eventTypes)
      if (rule.eventTypes?.includes('webhook.failing') === true) due.notify()
    }
    return distinct.filter((_result, index) => recorded?.later?.includes(index))
  }

  return {
    release,

    async claimDue (options) {
      const rows = await session.prepared<ClaimedRow>('claim deliveries', claimText, listClaimValues(options))
      const held = rows[0]?.held ?? null
      if (held !== null) throw heldError(held)
      return readOrRelease(rows)
    },

    recordAttempts,

    async recordAndClaim (results, rule, options) {
      // A failure takes the lock of health changes, which must not wait for claims.
      if (results.some((result) => result.outcome !== 'delivered' || saysGone(result))) {
        const later = await recordAttempts(results, rule)
        const rows = await session.prepared<ClaimedRow>('claim deliveries', claimText, listClaimValues(options))
        return { later, claimed: await readOrRelease(rows.filter(({ held }) => held === null)) }
      }
      const distinct = dropRepeated(results)
      const rows = await session.prepared<ClaimedRow & { later: number[] | null }>(
        'record attempts and claim', bothText, [...listClaimValues(options), ...listRecordValues(distinct, rule)]
      )
      const later = distinct.filter((_result, index) => rows[0]?.later?.includes(index))
      return { later, claimed: await readOrRelease(rows.filter(({ deliveryId }) => deliveryId !== null)) }
    },

    async claimNotices ({ limit, leaseMs, environment = null, eventTypes }) {
      await disableFailing(eventTypes)
      const notices = await readJson<ClaimedNotice>(session, 'claim notices', `
        update ${schema}.notices set leased_until = clock_timestamp() + $2 * interval '1 millisecond'
        where id = any (array(
          select id from ${schema}.notices where leased_until <= clock_timestamp()
            and not exists (select from ${schema}.find_hold_v1($3))
          order by id limit $1 for update skip locked
        ))
        returning json_build_object('noticeId', id, 'notice', json_build_object(
          'kind', kind, 'tenantId', tenant, 'tenantSlug', tenant_slug, 'webhookId', webhook_id,
          'failingSince', ${toIso('failing_since')}, 'failedDeliveries', failed_deliveries,
          'lastError', last_error, 'lastDetail', last_detail, 'lastResponseStatus', last_response_status,
          'contact', contact
        ))::text as json`, [limit, leaseMs, environment])
      return notices.sort((a, b) => a.noticeId - b.noticeId)
    },

    async confirmNotice (noticeId) {
      // A rename or removal of the tenant may have locked it: the notice is then reported again.
      await session.query('confirm notice', `
        delete from ${schema}.notices where id =
          (select id from ${schema}.notices where id = $1 for update skip locked)`, [noticeId])
    },

    prune: createPrune(patient, schema, stop),
    onDue: due.onDue
  }
}

function listClaimValues (
  { limit, perEndpoint, leaseMs, environment = null, aheadPerEndpoint = perEndpoint, leases = [], places }: ClaimOptions
): unknown[] {
  return [
    limit, perEndpoint, leaseMs, environment, aheadPerEndpoint,
    // One claim's leases have the same fence.
    [...new Set(leases.map(({ fence }) => fence))],
    places?.free ?? null, [...places?.heldBy.keys() ?? []], [...places?.heldBy.values() ?? []]
  ]
}

function listRecordValues (
  results: readonly AttemptResult[],
  { failingForSeconds, failedDeliveries, warnAfterSeconds, eventTypes = [] }: HealthRule
): unknown[] {
  return [JSON.stringify(results.map(formatResult)), failingForSeconds, failedDeliveries, warnAfterSeconds, eventTypes]
}

function dropRepeated (results: readonly AttemptResult[]): AttemptResult[] {
  const known = new Map<string, AttemptResult>()
  for (const result of results) {
    const lease = `${result.deliveryId} ${result.fence}`
    if (!known.has(lease)) known.set(lease, result)
  }
  return [...known.values()]
}

function saysGone (result: AttemptResult): boolean {
  return 'isGone' in result && result.isGone === true
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
    detail: result.detail ?? undefined,
    response_excerpt: result.responseExcerpt ?? undefined,
    retry_in_ms: 'retryInMs' in result ? result.retryInMs : undefined,
    pause_ms: result.outcome === 'retry' ? result.pauseMs : undefined,
    is_gone: saysGone(result) || undefined
  }
}

function createPrune (session: Session, schema: string, stop: StopDeliveries): DeliveryStore['prune'] {
  // Where the next batch begins; null between two passes over the events.
  let after: string | null = null
  let isSwept = false

  return async ({ retentionDays, limit }) => {
    if (after === null) {
      if (!isSwept) await stop.sweepLeft()
      isSwept = true
      const left = await readValue(session, 'remove events', `${schema}.remove_events_v1($1)`, [limit])
      // There are more events of removed tenants.
      if (Number(left) > 0) return limit
      isSwept = false
    }
    let from = after
    for (;;) {
      // If this call fails, the next one starts again.
      after = null
      const [row] = await session.query<{ pruned: number, next_after: string | null }>('prune',
        `select pruned, next_after from ${schema}.prune_v1($1, $2, $3)`, [retentionDays, limit, from])
      from = after = row?.next_after ?? null
      if (Number(row?.pruned) > 0) return Number(row?.pruned)
      if (from === null) break
    }
    // A webhook shows the key that created it.
    const keys = await session.query('prune keys', `
      delete from ${schema}.api_keys k where k.id = any (array(
        select k.id from ${schema}.api_keys k
        where least(k.expires_at, k.replaced_at, k.revoked_at) < now() - interval '1 year' and not exists (
          select from ${schema}.webhooks w
          where w.tenant = k.tenant and w.creator_type = 'key' and w.creator_id = k.id
        )
        limit $1 for update of k skip locked
      )) returning null`, [limit])
    return keys.length
  }
}

interface HoldRow {
  reason: Hold['reason']
  /** `null` if no claim has noticed the copy yet, and for another environment. */
  since: string | null
}

/** Finds the hold of a copied database and adopts the copy; `schema` is quoted. */
export function createHolds (session: Session, schema: string, stop: StopDeliveries, due: Due): HoldStore {
  const noticed = new Map<Hold['reason'], string>()

  return {
    async find (environment) {
      const [row] = await session.query<HoldRow>('look for a hold', `
        select reason, ${toIso('since')} as since from ${schema}.find_hold_v1($1)`, [environment])
      if (row === undefined) {
        noticed.clear()
        return null
      }
      const since = row.since ?? noticed.get(row.reason) ?? new Date().toISOString()
      noticed.set(row.reason, since)
      return { reason: row.reason, since }
    },

    async adopt ({ environment, pending, keepWebhooks = false, keepKeys = false }) {
      const isDiscarding = pending === 'discard'
      const [row] = await session.query<{ reason: Hold['reason'], pending: string }>('adopt the database', `
        select reason, pending::text from ${schema}.adopt_v1($1, $2, $3, $4)`,
      [environment, isDiscarding, keepWebhooks, keepKeys])
      if (row === undefined) return null
      // They are already skipped. Hourly pruning moves the remaining ones.
      if (isDiscarding) await stop.sweepLeft().catch(() => {})
      due.notify()
      return { reason: row.reason, pending: Number(row.pending) }
    }
  }
}
