import { Type } from '@sinclair/typebox'
import type { WebhookSortField } from '../../ports/index.js'
import { DateTime, Nullable, OneOf, pagingQuery } from './common.js'

export const WebhookStatus = OneOf(['active', 'inactive', 'disabled'], {
  description: 'disabled is set by the service alone, when the endpoint failed for too long or answered 410'
})

const clientStatuses = ['active', 'inactive'] as const

const representation = {
  id: Type.Integer(),
  name: Type.String(),
  status: WebhookStatus,
  target_url: Type.String(),
  event_types: Type.Array(Type.String())
}

export const Webhook = Type.Object({ ...representation, created_at: DateTime, updated_at: DateTime })

const Secret = Type.String({ description: 'whsec_ and base64, shown this once', examples: ['whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='] })

export const CreatedWebhook = Type.Object({ ...representation, secret: Secret })

export const RotatedWebhook = Type.Object({
  ...representation,
  secret: Secret,
  previous_secret_expires_at: Nullable(DateTime)
})

export const webhookSortFields: readonly WebhookSortField[] = ['id', 'name', 'created_at', 'updated_at']

export const WebhookQuery = Type.Object({
  ...pagingQuery(webhookSortFields, 'id'),
  'filter[status]': Type.Optional(WebhookStatus)
}, { additionalProperties: false })

const writable = {
  name: Type.String({ minLength: 1, description: '1 to 255 characters after trimming, none of them control characters' }),
  target_url: Type.String({ maxLength: 2048, description: 'An absolute https URL on a public host name' }),
  event_types: Type.Array(Type.String(), { minItems: 1, maxItems: 100, uniqueItems: true })
}

export const CreateWebhook = Type.Object({
  ...writable,
  status: OneOf(clientStatuses, { default: 'active' })
}, { additionalProperties: false })

export const UpdateWebhook = Type.Partial(Type.Object({ ...writable, status: OneOf(clientStatuses) }), {
  additionalProperties: false,
  minProperties: 1
})

export const RotateSecret = Type.Object({
  grace_period_seconds: Type.Integer({
    minimum: 0,
    maximum: 604800,
    default: 86400,
    description: 'For how long deliveries carry a signature with the previous secret too'
  })
}, { additionalProperties: false })

export const DispatchTest = Type.Object({
  event_type: Type.Optional(Type.String({ description: 'The first one subscribed to, if absent' }))
}, { additionalProperties: false })

export const TestResult = Type.Object({
  id: Type.String(),
  event_type: Type.String(),
  status: OneOf(['delivered', 'failed']),
  response_status: Nullable(Type.Integer()),
  duration_ms: Type.Integer(),
  error: Nullable(Type.String({ description: 'timeout, connection, tls, blocked or http_status' }))
})

export const Replay = Type.Object({
  since: Type.Optional(DateTime),
  until: Type.Optional(DateTime),
  event_types: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 100, uniqueItems: true })),
  event_ids: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: 'Excludes since and until'
  })),
  include: OneOf(['undelivered', 'all'], { default: 'undelivered' })
}, { additionalProperties: false })

export const ReplayResult = Type.Object({
  webhook_id: Type.Integer(),
  include: OneOf(['undelivered', 'all']),
  since: Nullable(DateTime),
  until: Nullable(DateTime),
  queued: Type.Integer(),
  truncated: Type.Boolean({ description: 'More events matched than the 10,000 that one call queues' })
})
