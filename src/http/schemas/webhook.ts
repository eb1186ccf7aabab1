import { Type } from '@sinclair/typebox'
import type { Webhook as PortWebhook, WebhookSortField } from '../../ports/index.js'
import { pagingQuery } from './parameters.js'
import { DateTime, DateTimeOf, Nullable, OneOf, eventIdExample } from './types.js'

const WebhookStatus = OneOf(['active', 'inactive', 'disabled'], {
  description: 'disabled is set by the service alone, when the endpoint failed for too long or answered 410'
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

/** A webhook as it is listed, read and updated. */
export const Webhook = Type.Object({ ...representation, created_at: DateTime, updated_at: DateTime }, { title: 'Webhook' })

/** A webhook as storages hand it out: what the schema of the same name describes. */
export type Webhook = PortWebhook

const Secret = Type.String({ description: 'whsec_ and base64, shown this once', examples: ['whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='] })

/** A webhook as it is created, with its secret. */
export const CreatedWebhook = Type.Object({ ...representation, secret: Secret }, { title: 'CreatedWebhook' })

/** A webhook whose secret was rotated, with the new one. */
export const RotatedWebhook = Type.Object({
  ...representation,
  secret: Secret,
  previous_secret_expires_at: Nullable(DateTimeOf('Until when deliveries carry its signature too; null if it ended at once'))
}, { title: 'RotatedWebhook' })

/** What `sort` may name. */
export const webhookSortFields: readonly WebhookSortField[] = ['id', 'name', 'created_at', 'updated_at']

/** The query of the webhook list. */
export const WebhookQuery = Type.Object({
  ...pagingQuery(webhookSortFields, 'id'),
  'filter[status]': Type.Optional(WebhookStatus)
}, { additionalProperties: false })

const writable = {
  name: Type.String({ minLength: 1, description: '1 to 255 characters after trimming, none of them control characters', examples: ['CRM sync'] }),
  target_url: Type.String({ maxLength: 2048, description: 'An absolute https URL on a public host name', examples: ['https://hooks.example.com/recruiting'] }),
  event_types: Type.Array(Type.String(), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: 'Events of the catalogue',
    examples: [eventTypesExample]
  })
}

/** The body that creates a webhook. What a schema cannot judge, such as its address, is checked besides. */
export const CreateWebhook = Type.Object({
  ...writable,
  status: OneOf(clientStatuses, { default: 'active' })
}, { title: 'CreateWebhook', additionalProperties: false })

/** The body that updates a webhook: one field of these at least. */
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
    description: 'For how long deliveries carry a signature with the previous secret too'
  })
}, { title: 'RotateSecret', additionalProperties: false })

/** The body of dispatch_test. */
export const DispatchTest = Type.Object({
  event_type: Type.Optional(Type.String({ description: 'The first one subscribed to, if absent', examples: ['application.created'] }))
}, { title: 'DispatchTest', additionalProperties: false })

/** How a test notification went. */
export const TestResult = Type.Object({
  id: Type.String({ description: "The event's id; it is not in the log", examples: [eventIdExample] }),
  event_type: Type.String({ examples: ['application.created'] }),
  status: OneOf(['delivered', 'failed']),
  response_status: Nullable(Type.Integer({ examples: [204] })),
  duration_ms: Type.Integer({ minimum: 0, examples: [87] }),
  error: Nullable(Type.String({ description: 'timeout, connection, tls, blocked or http_status; null if it went well', examples: [null] }))
}, { title: 'TestResult' })

const replayInclude = ['undelivered', 'all'] as const

/** The body of replay. */
export const Replay = Type.Object({
  since: Type.Optional(DateTimeOf('When the events were recorded; 24 hours ago, if absent')),
  until: Type.Optional(DateTimeOf('Now, if absent')),
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
    description: 'Excludes since and until'
  })),
  include: OneOf(replayInclude, { default: 'undelivered', description: 'undelivered: what was given up or skipped; all: whatever it subscribes to' })
}, {
  title: 'Replay',
  additionalProperties: false,
  examples: [{ since: '2026-03-01T00:00:00.000Z', include: 'undelivered' }]
})

/** What a replay has queued. */
export const ReplayResult = Type.Object({
  webhook_id: Type.Integer({ examples: [1] }),
  include: OneOf(replayInclude),
  since: Nullable(DateTime),
  until: Nullable(DateTime),
  queued: Type.Integer({ minimum: 0, examples: [3] }),
  truncated: Type.Boolean({ description: 'More events matched than the 10,000 that one call queues', examples: [false] })
}, { title: 'ReplayResult' })
