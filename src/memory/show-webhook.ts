import type { Webhook } from '../ports/index.js'
import { formatDateTime } from './checks.js'
import type { WebhookRecord } from './deliveries/records.js'

/** Returns a webhook as clients see it. */
export function showWebhook ({ id, name, status, targetUrl, eventTypes, createdAt, updatedAt }: WebhookRecord): Webhook {
  return {
    id,
    name,
    status,
    target_url: targetUrl,
    event_types: [...eventTypes],
    created_at: formatDateTime(createdAt),
    updated_at: formatDateTime(updatedAt)
  }
}
