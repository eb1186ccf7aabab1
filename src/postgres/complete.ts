import type { AttemptError, AttemptResult, HealthNotice, HealthRule } from '../ports/index.js'
import { leaseValues } from './leases.js'
import type { Session } from './session.js'
import type { StopDeliveries } from './stop.js'

interface NoticeRow {
  kind: HealthNotice['kind']
  tenant_slug: string
  webhook_id: string
  failing_since: string
  failed_deliveries: number
  last_error: AttemptError
  last_response_status: number | null
}

/** Records attempts, and stops what waits for the webhooks that became disabled; `schema` is quoted. */
export function createComplete (session: Session, schema: string, stop: StopDeliveries) {
  const text = `
    select kind, tenant_slug, webhook_id::text, failing_since, failed_deliveries, last_error, last_response_status
    from ${schema}.complete_attempts($1, $2, $3, $4, $5, $6)`

  return async (results: readonly AttemptResult[], rule: HealthRule): Promise<HealthNotice[]> => {
    const { failingForSeconds, failedDeliveries, warnAfterSeconds } = rule
    const told = JSON.stringify(results.map(formatResult))
    const values = [...leaseValues(results), told, failingForSeconds, failedDeliveries, warnAfterSeconds]
    const notices = (await session.query<NoticeRow>('complete attempts', text, values)).map(parseNotice)
    for (const { kind, webhookId } of notices) {
      if (kind !== 'failing') await stop.stopAll(webhookId, 'skipped')
    }
    return notices
  }
}

function formatResult (result: AttemptResult, index: number): object {
  return {
    ordinal: index + 1,
    outcome: result.outcome,
    duration_ms: Math.round(result.durationMs),
    response_status: result.responseStatus,
    error: result.error,
    ...(result.outcome === 'retry' ? { retry_in_ms: result.retryInMs, hold_ms: result.holdMs } : {}),
    ...(result.outcome === 'failed' ? { is_gone: result.isGone } : {})
  }
}

function parseNotice (row: NoticeRow): HealthNotice {
  return {
    kind: row.kind,
    tenantSlug: row.tenant_slug,
    webhookId: Number(row.webhook_id),
    failingSince: row.failing_since,
    failedDeliveries: Number(row.failed_deliveries),
    lastError: row.last_error,
    lastResponseStatus: row.last_response_status
  }
}
