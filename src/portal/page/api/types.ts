import type { Static } from '@sinclair/typebox'
import type * as webhook from '../../../webhooks/schemas/webhook.js'
import type { DeliveryWithAttempts as StoredDelivery } from '../../../ports/index.js'
import type { EventType as EventTypeSchema } from '../../../webhooks/schemas/event-type.js'

export type { Attempt, AttemptError, Delivery, DeliveryStatus, Webhook, WebhookHealth, WebhookStatus } from '../../../ports/index.js'
export type { Page } from '../../../shared/paging.js'
export type { WebhookWithHealth } from '../../../webhooks/schemas/webhook.js'

/** Without the capability `bodies`, the body is `null`. */
export type DeliveryWithAttempts = Omit<StoredDelivery, 'body'> & { body: string | null }

export type CreateWebhook = Static<typeof webhook.CreateWebhook>
export type CreatedWebhook = Static<typeof webhook.CreatedWebhook>
export type EventType = Static<typeof EventTypeSchema>
export type Replay = Partial<Static<typeof webhook.Replay>>
export type ReplayResult = Static<typeof webhook.ReplayResult>
export type RotatedWebhook = Static<typeof webhook.RotatedWebhook>
export type TestResult = Static<typeof webhook.TestResult>
export type UpdateWebhook = Static<typeof webhook.UpdateWebhook>
