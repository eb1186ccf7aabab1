import type { AttemptResult, HealthRule, Lease } from '../../ports/index.js'
import type { Notices } from './notices.js'
import type { Session } from '../session.js'

interface RecordedRow {
  /** A JSON array of ordinals, or null. */
  later: string | null
  has_verdict: boolean
}

/** Records attempts and the health of their webhooks; `schema` is quoted. */
export function createRecordAttempts (session: Session, schema: string, notices: Notices) {
  const text = `select array_to_json(later)::text as later, has_verdict from ${schema}.record_attempts_v1($1, $2, $3, $4)`

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
