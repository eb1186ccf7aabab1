import type { AttemptResult, DeliveryStore, HealthNotice, HealthRule } from 'fastify-recruiting-api'
import { type Selectable, type Transaction, sql } from 'kysely'
import type { Schema } from '../schema.js'
import type { Context } from '../storage.js'
import { noFailures, toIso } from '../webhooks.js'
import { stopDeliveries } from './stop.js'

type Failure = Exclude<AttemptResult, { outcome: 'delivered' }>

/** Records attempts, then judges the failing webhooks. */
export function createAttempts ({ db, now, notify }: Context): Pick<DeliveryStore, 'recordAttempts' | 'claimNotices' | 'confirmNotice'> {
  return {
    async recordAttempts (results, rule) {
      await db.transaction().execute(async (trx) => {
        const time = now()
        const failures = new Map<number, Failure>()
        for (const result of results) {
          const webhookId = await recordResult(trx, result, time)
          if (webhookId === null || result.outcome === 'delivered' || isGone(failures.get(webhookId))) continue
          failures.set(webhookId, result)
        }
        for (const [webhookId, failure] of failures) {
          for (const notice of await judge(trx, webhookId, { failure, rule, time })) {
            await trx.insertInto('notices').values({ notice: JSON.stringify(notice), leased_until: 0 }).execute()
          }
        }
      })
      notify()
      // There is only one connection, so no delivery is ever locked.
      return []
    },

    async claimNotices ({ limit, leaseMs }) {
      const time = now()
      const rows = await db.updateTable('notices').set({ leased_until: time + leaseMs })
        .where('id', 'in', db.selectFrom('notices').select('id').where('leased_until', '<=', time).orderBy('id').limit(limit))
        .returningAll().execute()
      return rows.map(({ id, notice }) => ({ noticeId: id, notice: JSON.parse(notice) as HealthNotice }))
    },

    async confirmNotice (noticeId) {
      await db.deleteFrom('notices').where('id', '=', noticeId).execute()
    }
  }
}

// Returns the webhook of the delivery, or null for a result that does not affect it.
async function recordResult (trx: Transaction<Schema>, result: AttemptResult, time: number): Promise<number | null> {
  const { deliveryId, fence, durationMs, responseStatus, error } = result
  const delivery = await trx.selectFrom('deliveries').selectAll()
    .where('id', '=', deliveryId).where('fence', '=', fence).where('is_claimed', '=', 1).executeTakeFirst()
  if (delivery === undefined) return null

  await trx.insertInto('attempts')
    .values({
      delivery_id: deliveryId,
      started_at: time - durationMs,
      duration_ms: durationMs,
      response_status: responseStatus,
      error,
      // The subject may have been erased.
      response_excerpt: delivery.status === 'cancelled' ? null : result.responseExcerpt
    }).execute()
  const isPending = delivery.status === 'pending'
  await trx.updateTable('deliveries').set({
    attempt_count: delivery.attempt_count + 1, is_claimed: 0, lease_expires_at: 0, ...nextState(result, isPending, time)
  }).where('id', '=', deliveryId).execute()

  const webhook = trx.updateTable('webhooks')
    .where('id', '=', delivery.webhook_id).where('target_url', '=', result.targetUrl).where('status', '=', 'active')
  if (result.outcome === 'delivered') {
    await webhook.set(noFailures).execute()
  } else {
    const pausedUntil = result.outcome === 'retry' && result.pauseMs > 0 ? time + result.pauseMs : 0
    const { numUpdatedRows } = await webhook.set((eb) => ({
      failing_since: sql`coalesce(failing_since, ${time})`,
      failed_deliveries: eb('failed_deliveries', '+', Number(result.outcome === 'failed' && isPending)),
      paused_until: sql`max(paused_until, ${pausedUntil})`
    })).executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) return null
  }
  return delivery.webhook_id
}

function nextState (result: AttemptResult, isPending: boolean, time: number): Partial<Selectable<Schema['deliveries']>> {
  if (result.outcome === 'delivered') return { status: 'delivered', delivered_at: time }
  if (!isPending) return {}
  return result.outcome === 'failed' ? { status: 'failed' } : { next_attempt_at: Math.ceil(time + result.retryInMs) }
}

async function judge (
  trx: Transaction<Schema>,
  webhookId: number,
  { failure, rule, time }: { failure: Failure, rule: HealthRule, time: number }
): Promise<HealthNotice[]> {
  const webhook = await trx.selectFrom('webhooks').selectAll().where('id', '=', webhookId).where('status', '=', 'active').executeTakeFirst()
  if (webhook === undefined) return []
  const failingSince = webhook.failing_since ?? time
  const failingFor = webhook.failing_since === null ? Number.NEGATIVE_INFINITY : time - failingSince
  const isTooLong = failingFor >= rule.failingForSeconds * 1000 && webhook.failed_deliveries >= rule.failedDeliveries
  const lastError = failure.error ?? 'http_status'
  // After a success in the same call, only a webhook that is gone has failed.
  if (webhook.failing_since !== null || isGone(failure)) {
    await trx.updateTable('webhooks').set({ failing_since: failingSince, last_error: lastError, last_response_status: failure.responseStatus })
      .where('id', '=', webhookId).execute()
  }
  const kind = isGone(failure) ? 'gone' : isTooLong ? 'disabled' : 'failing'
  if (kind === 'failing') {
    if (webhook.is_warned === 1 || failingFor < rule.warnAfterSeconds * 1000) return []
    await trx.updateTable('webhooks').set({ is_warned: 1 }).where('id', '=', webhookId).execute()
  } else {
    await trx.updateTable('webhooks').set({ status: 'disabled', disabled_reason: kind === 'gone' ? 'gone' : 'failing', updated_at: time }).where('id', '=', webhookId).execute()
    await stopDeliveries(trx, webhookId, 'skipped')
  }
  return [{
    kind,
    tenantId: webhook.tenant,
    tenantSlug: webhook.tenant_slug,
    webhookId,
    failingSince: toIso(failingSince),
    failedDeliveries: webhook.failed_deliveries,
    lastError,
    lastResponseStatus: failure.responseStatus
  }]
}

function isGone (failure: Failure | undefined): boolean {
  return failure?.outcome === 'failed' && failure.isGone
}
