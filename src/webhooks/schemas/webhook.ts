import { Type } from '@sinclair/typebox'
import type { Webhook as PortWebhook, WebhookHealth, WebhookSortField } from '../../ports/index.js'
import { pagingQuery } from '../../shared/paging.js'
import { DateTime, DateTimeOf, Nullable, OneOf } from '../../shared/schemas.js'
import { eventIdExample } from './examples.js'

const WebhookStatus = OneOf(['active', 'inactive', 'disabled'], {
  description: 'The service sets disabled if the endpoint failed for too long or answered 410; clients cannot set it'
})

const clientStatuses = ['active', 'inactive'] as const

const eventTypesExample = ['application.created', 'application.hired']

const representation = {
  id: Type.Integer({ examples: [1] }),
  name: Type.String({ examples: ['CRM sync'] }),
  status: WebhookStatus,
  target_url: Type.String({ examples: ['https://hooks.example.com/recruiting'] }),
  event_types: Type.Array(Type.String(), { examples: [eventTypesExample] })
}

/** A webhook in lists and after updating it. */
export const Webhook = Type.Object({ ...representation, created_at: DateTime, updated_at: DateTime }, { title: 'Webhook' })

/** A webhook as storages return it. */
export type Webhook = PortWebhook

const Health = Type.Object({
  failing_since: Nullable(DateTimeOf('When the first attempt since the last success failed')),
  failed_deliveries: Type.Integer({ minimum: 0, description: 'Deliveries given up since then', examples: [3] }),
  paused_until: Nullable(DateTimeOf('When its other deliveries go on; null unless the endpoint is paused')),
  disabled_reason: Nullable(OneOf(['gone', 'failing'], {
    description: 'Why the service disabled it. gone: the endpoint answered 410; failing: it failed for too long'
  }))
}, { title: 'WebhookHealth' })

/** A webhook with its health. */
export const WebhookWithHealth = Type.Object({ ...Webhook.properties, health: Health }, { title: 'WebhookWithHealth' })

/** A webhook with its health, as storages return both. */
export interface WebhookWithHealth extends PortWebhook {
  health: WebhookHealth
}

const Secret = Type.String({ description: 'whsec_ and base64; shown only in this answer', examples: ['whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='] })

/** A new webhook, with its secret. */
export const CreatedWebhook = Type.Object({ ...representation, secret: Secret }, { title: 'CreatedWebhook' })

/** A webhook with its new secret after a rotation. */
export const RotatedWebhook = Type.Object({
  ...representation,
  secret: Secret,
  previous_secret_expires_at: Nullable(DateTimeOf('Deliveries are also signed with the previous secret until then; null without a grace period'))
}, { title: 'RotatedWebhook' })

/** Fields that `sort` accepts. */
export const webhookSortFields: readonly WebhookSortField[] = ['id', 'name', 'created_at', 'updated_at']

/** The query of the webhook list. */
export const WebhookQuery = Type.Object({
  ...pagingQuery(webhookSortFields, 'id'),
  'filter[status]': Type.Optional(WebhookStatus)
}, { additionalProperties: false })

const writable = {
  name: Type.String({ minLength: 1, description: '1 to 255 characters after trimming, without control characters', examples: ['CRM sync'] }),
  target_url: Type.String({ maxLength: 2048, description: 'An absolute https URL on a public host name', examples: ['https://hooks.example.com/recruiting'] }),
  event_types: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: 'Event types of the catalogue',
    examples: [eventTypesExample]
  })
}

/** The options of the list of failing webhooks, which the API does not have. */
export const FailingQuery = Type.Object({ limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }) }, { additionalProperties: false })

/** The body that creates a webhook. `WebhookOperations` checks the address. */
export const CreateWebhook = Type.Object({
  ...writable,
  status: OneOf(clientStatuses, { default: 'active' })
}, { title: 'CreateWebhook', additionalProperties: false })

/** The body that updates a webhook, with at least one field. */
export const UpdateWebhook = Type.Partial(Type.Object({ ...writable, status: OneOf(clientStatuses) }), {
  title: 'UpdateWebhook',
  additionalProperties: false,
  minProperties: 1,
  examples: [{ status: 'inactive' }]
})

/** The body of rotate_secret. */
export const RotateSecret = Type.Object({
  grace_period_seconds: Type.Integer({
    minimum: 0,
    maximum: 604800,
    default: 86400,
    description: 'How long deliveries are also signed with the previous secret'
  })
}, { title: 'RotateSecret', additionalProperties: false })

/** The body of dispatch_test. */
export const DispatchTest = Type.Object({
  event_type: Type.Optional(Type.String({ description: 'Default: the first type that the webhook subscribes to', examples: ['application.created'] }))
}, { title: 'DispatchTest', additionalProperties: false })

/** The result of a test notification. */
export const TestResult = Type.Object({
  id: Type.String({ description: 'Id of the event, which is not in the delivery log', examples: [eventIdExample] }),
  event_type: Type.String({ examples: ['application.created'] }),
  status: OneOf(['delivered', 'failed']),
  response_status: Nullable(Type.Integer({ examples: [204] })),
  duration_ms: Type.Integer({ minimum: 0, examples: [87] }),
  error: Nullable(Type.String({ description: 'timeout, connection, tls, blocked or http_status; null after a success', examples: [null] }))
}, { title: 'TestResult' })

const replayInclude = ['undelivered', 'all'] as const

/** The body of replay. */
export const Replay = Type.Object({
  since: Type.Optional(DateTimeOf('Start of the period in which the events were recorded; default: 24 hours ago')),
  until: Type.Optional(DateTimeOf('End of the period; default: now')),
  event_types: Type.Optional(Type.Array(Type.String(), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: 'Only events of these types'
  })),
  event_ids: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: 'Only these events; cannot be combined with since and until'
  })),
  include: OneOf(replayInclude, {
    default: 'undelivered',
    description: 'undelivered: events whose delivery failed or was skipped; all: every event that the webhook subscribes to'
  }),
  dry_run: Type.Boolean({ default: false, description: 'true: answers 200 with the number of events that would be queued, and queues none' })
}, {
  title: 'Replay',
  additionalProperties: false,
  examples: [{ since: '2026-03-01T00:00:00.000Z', include: 'undelivered' }]
})

/** The result of a replay. */
export const ReplayResult = Type.Object({
  webhook_id: Type.Integer({ examples: [1] }),
  include: OneOf(replayInclude),
  since: Nullable(DateTime),
  until: Nullable(DateTime),
  queued: Type.Integer({ minimum: 0, description: 'Events that were queued, or would be with dry_run', examples: [3] }),
  truncated: Type.Boolean({ description: 'Whether more than 10,000 events matched; one call queues no more', examples: [false] })
}, { title: 'ReplayResult' })
