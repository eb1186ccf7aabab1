import type { AttemptResult, ClaimedDelivery, Clock } from '../../ports/index.js'
import type { Logger } from '../../observe/logger.js'
import { trimEntries } from '../../shared/cached.js'
import { formatWebhookKey } from '../sending/capacity.js'
import type { SendResult } from '../sending/sender.js'
import { parseRetryAfter } from './outcome.js'

/** Writes one line for each pause of a webhook, even if several attempts in flight cause it. */
export interface PauseLog {
  /** Returns the number of an attempt that begins. */
  begin (): number
  /** Writes the line if the attempt with this number begins a pause. */
  end (attempt: number, delivery: ClaimedDelivery, result: AttemptResult, sent: SendResult): void
}

const maxWebhooks = 1000

/** Knows the pauses of the last 1,000 webhooks. */
export function createPauseLog (log: Logger, clock: Clock): PauseLog {
  /** The last attempt that had begun when the webhook was paused. */
  const lastAttempts = new Map<string, number>()
  let begun = 0

  return {
    begin: () => ++begun,
    end (attempt, { tenantId, tenantSlug, webhookId }, result, { retryAfter }) {
      if (result.outcome !== 'retry' || result.pauseMs === 0) return
      const webhook = formatWebhookKey(tenantId, webhookId)
      // No attempt begins during a pause, so this one began before it.
      if (attempt <= (lastAttempts.get(webhook) ?? 0)) return
      lastAttempts.delete(webhook)
      lastAttempts.set(webhook, begun)
      trimEntries(lastAttempts, maxWebhooks)
      const now = clock.now()
      log.info({
        webhook_id: webhookId,
        tenant_slug: tenantSlug,
        paused_until: new Date(now + result.pauseMs).toISOString(),
        reason: parseRetryAfter(retryAfter, now) === null ? result.error : 'retry_after',
        response_status: result.responseStatus
      }, 'webhook paused')
    }
  }
}
