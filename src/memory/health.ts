import type { FailingWebhook, WebhookHealth, WebhookStore } from '../ports/index.js'
import { formatDateTime } from './checks.js'
import type { WebhookRecord } from './deliveries/records.js'
import { findWebhook, showWebhook, type WebhookData } from './webhook-data.js'

/** Shows the health of webhooks. */
export function createHealth (data: WebhookData): Pick<WebhookStore, 'findHealth' | 'listFailing'> {
  return {
    async findHealth (tenant, id) {
      const webhook = findWebhook(data, tenant, id)
      return webhook === undefined ? null : showHealth(webhook, data.now())
    },

    async listFailing ({ limit, maxPending }) {
      return [...data.tenants.values()]
        .flatMap(({ webhooks }) => [...webhooks.values()])
        .filter(({ status, failingSince }) => status === 'disabled' || (status === 'active' && failingSince !== null))
        .sort((a, b) => failedFirst(a) - failedFirst(b) || a.id - b.id)
        .slice(0, limit)
        .map((webhook) => showFailing(webhook, Math.min(maxPending, data.pending.count(webhook)), data.now()))
    }
  }
}

// Not infinity, because the difference of two infinities is not a number.
function failedFirst ({ failingSince }: WebhookRecord): number {
  return failingSince ?? Number.MAX_SAFE_INTEGER
}

function showHealth (
  { status, failingSince, failedDeliveries, pausedUntil, disabledReason }: WebhookRecord,
  now: number
): WebhookHealth {
  return {
    failing_since: failingSince === null ? null : formatDateTime(failingSince),
    failed_deliveries: failedDeliveries,
    paused_until: status === 'active' && pausedUntil > now ? formatDateTime(pausedUntil) : null,
    disabled_reason: status === 'disabled' ? disabledReason : null
  }
}

function showFailing (webhook: WebhookRecord, pending: number, now: number): FailingWebhook {
  return {
    tenantId: webhook.tenant,
    tenantSlug: webhook.tenantSlug,
    webhook: showWebhook(webhook),
    health: showHealth(webhook, now),
    lastError: webhook.lastFailure?.error ?? null,
    lastResponseStatus: webhook.lastFailure?.responseStatus ?? null,
    pending
  }
}
