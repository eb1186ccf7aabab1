import type { Webhook, WebhookStatus } from '../../ports/index.js'
import { toIso } from '../sql.js'

/** The columns that `parseWebhook` reads. */
export const webhookColumns = `
  id::text, name, status, target_url, array_to_json(event_types)::text as event_types,
  ${toIso('created_at')} as created_at, ${toIso('updated_at')} as updated_at`

export interface WebhookRow {
  id: string
  name: string
  status: WebhookStatus
  target_url: string
  event_types: string
  created_at: string
  updated_at: string
}

export function parseWebhook (row: WebhookRow): Webhook {
  return {
    id: Number(row.id),
    name: row.name,
    status: row.status,
    target_url: row.target_url,
    event_types: JSON.parse(row.event_types),
    created_at: row.created_at,
    updated_at: row.updated_at
  }
}

/** The secret, and the previous one while it is valid. */
export const secretColumns = `
  secret, case when previous_secret_expires_at > clock_timestamp() then previous_secret end as previous_secret`

export interface SecretRow {
  secret: string
  previous_secret: string | null
}

/** Returns the valid secrets, the newest first. */
export function parseSecrets ({ secret, previous_secret: previous }: SecretRow): string[] {
  return previous === null ? [secret] : [secret, previous]
}
