import type { Static } from '@sinclair/typebox'
import type { EventFilters, Webhook as PortWebhook, WebhookHealth, WebhookSortField } from '../ports/index.js'
import { pagingQuery } from '../shared/paging.js'
import { CreatedBy, DateTime, DateTimeOf, Nullable, OneOf, Type } from '../shared/typebox.js'
import { AttemptDetail } from './deliveries.js'
import { changedPattern, eventIdExample } from './events.js'
import { operation } from './operation.js'
import { filterRules, filterValueTypes, filtersExample } from './parameters.js'

const WebhookStatus = OneOf(['active', 'inactive', 'disabled'], {
  description:
    'The service sets disabled if the endpoint failed for too long, returned 410 or asked for it; clients cannot set it'
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

const ShownHeaders = Type.Unsafe<Record<string, null> | null>({
  type: ['object', 'null'],
  additionalProperties: { type: 'null' },
  description: 'The names of its headers, each with null: values are never returned. null if it has none',
  examples: [{ 'X-Api-Key': null }]
})

const ShownFilters = Type.Unsafe<EventFilters | null>({
  type: ['object', 'null'],
  additionalProperties: { type: 'array', items: { type: filterValueTypes } },
  description: 'Its filters as given. null if it has none',
  examples: filtersExample
})

const ShownChanged = Type.Unsafe<string[] | null>({
  type: ['array', 'null'],
  items: { type: 'string' },
  description: 'It receives only events in which one of these fields changed. null: all events',
  examples: [['stage_id']]
})

const ShownContact = Nullable(Type.String({
  description: 'The email address that the vendor can notify about failures. null if it has none',
  examples: ['ops@example.com']
}))

export const Webhook = Type.Object(
  {
    ...representation,
    headers: ShownHeaders,
    filters: ShownFilters,
    changed: ShownChanged,
    contact: ShownContact,
    created_by: CreatedBy,
    created_at: DateTime,
    updated_at: DateTime
  },
  { title: 'Webhook' }
)

export type Webhook = PortWebhook

const Health = Type.Object(
  {
    failing_since: Nullable(DateTimeOf('When the first attempt since the last success failed')),
    failed_deliveries: Type.Integer({ minimum: 0, description: 'Deliveries given up since then', examples: [3] }),
    paused_until: Nullable(DateTimeOf('When its other deliveries resume; null unless the endpoint is paused')),
    disabled_reason: Nullable(
      OneOf(['gone', 'failing'], {
        description:
          'Why the service disabled it. gone: the endpoint returned 410 or asked for it; failing: it failed for too long'
      })
    ),
    held: Type.Optional(
      Type.Literal(true, {
        description: 'Present only while the service sends no notifications at all, for example in a test installation'
      })
    )
  },
  { title: 'WebhookHealth' }
)

const GraceEnd = Nullable(
  DateTimeOf('Deliveries are also signed with the previous secret until then; null without a grace period')
)

/** A webhook by its id: with its health, and the end of the grace period of its previous secret. */
export const WebhookWithHealth = Type.Object(
  {
    ...Webhook.properties,
    health: Health,
    previous_secret_expires_at: GraceEnd
  },
  { title: 'WebhookWithHealth' }
)

/** A webhook with its health and the end of its grace period, as storages return them. */
export interface WebhookWithHealth extends PortWebhook {
  health: WebhookHealth & { held?: true }
  previous_secret_expires_at: string | null
}

const Secret = Type.String({
  description: 'whsec_ and base64; shown only in this response',
  examples: ['whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=']
})

export const CreatedWebhook = Type.Object(
  {
    ...representation,
    headers: Type.Optional(ShownHeaders),
    filters: Type.Optional(ShownFilters),
    changed: Type.Optional(ShownChanged),
    contact: Type.Optional(ShownContact),
    secret: Secret
  },
  { title: 'CreatedWebhook' }
)

export const RotatedWebhook = Type.Object(
  { ...CreatedWebhook.properties, previous_secret_expires_at: GraceEnd }, { title: 'RotatedWebhook' }
)

/** The range of `maxWebhooksPerTenant`. */
export const maxWebhooks = 10_000

const webhookSortFields: readonly WebhookSortField[] = ['id', 'name', 'created_at', 'updated_at']

export const WebhookQuery = Type.Object({
  ...pagingQuery(webhookSortFields, 'id'),
  'filter[status]': Type.Optional(WebhookStatus)
}, { additionalProperties: false })

const upTo100 = { minItems: 1, maxItems: 100, uniqueItems: true }

const writable = {
  name: Type.String({
    minLength: 1,
    description: '1 to 255 characters after trimming, without control characters',
    examples: ['CRM sync']
  }),
  target_url: Type.String({
    maxLength: 2048,
    description: 'An absolute https URL on a public host name',
    examples: ['https://hooks.example.com/recruiting']
  }),
  event_types: Type.Array(Type.String(), {
    ...upTo100,
    description: 'Event types of the catalogue',
    examples: [eventTypesExample]
  })
}

const headerNamePattern = '^[A-Za-z0-9-]{1,64}$'

const headers = Type.Optional(
  Type.Unsafe<Record<string, string> | null>({
    type: ['object', 'null'],
    maxProperties: 10,
    propertyNames: { pattern: headerNamePattern },
    additionalProperties: { type: 'string', maxLength: 1024, pattern: '^[!-~](?:[ -~]*[!-~])?$' },
    description:
      'At most 10 additional headers of each notification, such as an API key for a gateway. Names are letters, ' +
      'digits and hyphens, except those that notifications have anyway, such as Host or Webhook-Id. Values are 1 to ' +
      '1024 visible ASCII characters and spaces. New headers replace all existing ones; null removes them. A new ' +
      'target_url removes them unless they are sent again',
    examples: [{ 'X-Api-Key': 'key-of-your-gateway' }]
  })
)

const filters = Type.Optional(
  Type.Unsafe<EventFilters | null>({
    type: ['object', 'null'],
    ...filterRules,
    description:
      'Sends only events whose data has one of the values, of the same type, at every path: at most 10 paths, each ' +
      'with 1 to 50 values. A path is data and the names of up to 4 nested fields, such as data.job_id, outside of ' +
      'arrays. A missing field counts as null. New filters replace all existing ones; null removes them',
    examples: filtersExample
  })
)

const changed = Type.Optional(
  Type.Unsafe<string[] | null>({
    type: ['array', 'null'],
    minItems: 1,
    maxItems: 50,
    uniqueItems: true,
    items: { type: 'string', pattern: changedPattern },
    description: 'Sends only events in which one of these 1 to 50 fields changed. null sends all',
    examples: [['stage_id']]
  })
)

const contact = Type.Optional(
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    maxLength: 254,
    // Without characters that would need quotes.
    pattern: '^[A-Za-z0-9.!#$%&\u0027*+/=?^_`{|}~-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z]{2,63}$',
    description: 'An email address for the vendor, who may send messages about failures. null removes it',
    examples: ['ops@example.com']
  })
)

/** The options of `failing`, which the API does not offer. */
export const FailingQuery = Type.Object(
  { limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }) }, { additionalProperties: false }
)

/** The body that creates a webhook. `WebhookOperations` checks the address. */
export const CreateWebhook = Type.Object({
  ...writable,
  status: OneOf(clientStatuses, { default: 'active' }),
  headers,
  filters,
  changed,
  contact
}, { title: 'CreateWebhook', additionalProperties: false })

const headerName = { pattern: headerNamePattern }

/**
 * The signature that a webhook's receiver verified before the import. The HMAC's text is `content`, with the
 * placeholders `{body}`, `{id}` and `{timestamp}` (Unix seconds). `template` is the header's value, with `{signature}`,
 * `{id}` and `{timestamp}`. `id_header` and `timestamp_header` name headers that the receiver also reads.
 */
const LegacySignature = Type.Object({
  header: Type.String(headerName),
  algorithm: OneOf(['sha1', 'sha256', 'sha512'], { default: 'sha256' }),
  encoding: OneOf(['hex', 'base64'], { default: 'hex' }),
  template: Type.String({ maxLength: 1024, pattern: '^[!-~](?:[ -~]*[!-~])?$', default: '{signature}' }),
  content: Type.String({ maxLength: 1024, default: '{body}' }),
  /** The HMAC's key. By default the webhook's `secret`. */
  secret: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  /** How `secret` becomes a key. `text`: as it is; base64 may begin with `whsec_`. */
  secret_encoding: OneOf(['text', 'base64', 'hex'], { default: 'text' }),
  id_header: Type.Optional(Type.String(headerName)),
  timestamp_header: Type.Optional(Type.String(headerName)),
  /** Deliveries from then on have only the signature of Standard Webhooks. */
  until: DateTime
}, { additionalProperties: false })

export type LegacySignature = Static<typeof LegacySignature>

/**
 * A webhook to create with an existing secret, which the API does not offer. `secret` may be absent if `legacy` has
 * its own: then the webhook gets a new one.
 */
export const ImportWebhook = Type.Object({
  ...CreateWebhook.properties, secret: Type.Optional(Type.String()), legacy: Type.Optional(LegacySignature)
}, { additionalProperties: false })

/** The body that updates a webhook, with at least one field. */
export const UpdateWebhook = Type.Partial(
  Type.Object({ ...writable, status: OneOf(clientStatuses), headers, filters, changed, contact }),
  {
    title: 'UpdateWebhook',
    additionalProperties: false,
    minProperties: 1,
    examples: [{ status: 'inactive' }]
  }
)

export const RotateSecret = Type.Object({
  grace_period_seconds: Type.Integer({
    minimum: 0,
    maximum: 604800,
    default: 86400,
    description: 'Seconds for which deliveries are also signed with the previous secret'
  })
}, { title: 'RotateSecret', additionalProperties: false })

export const DispatchTest = Type.Object(
  {
    event_type: Type.Optional(
      Type.String({
        description: 'Default: the first type that the webhook subscribes to',
        examples: ['application.created']
      })
    )
  },
  { title: 'DispatchTest', additionalProperties: false }
)

export const TestResult = Type.Object(
  {
    id: Type.String({ description: "The event's id, which is not in the delivery log", examples: [eventIdExample] }),
    event_type: Type.String({ examples: ['application.created'] }),
    status: OneOf(['delivered', 'failed']),
    response_status: Nullable(Type.Integer({ examples: [204] })),
    duration_ms: Type.Integer({ minimum: 0, examples: [87] }),
    error: Nullable(
      Type.String({
        description:
          'timeout, connection, tls, blocked or http_status; held or suspended if the service sends nothing now, to ' +
          'anyone or to this tenant; unavailable if it could reach no endpoint, so try again later; null after a ' +
          'success',
        examples: [null]
      })
    ),
    detail: AttemptDetail
  },
  { title: 'TestResult' }
)

export const PreviewWebhook = Type.Object(
  { event_types: writable.event_types, filters, changed }, { title: 'PreviewWebhook', additionalProperties: false }
)

export const WebhookPreview = Type.Object(
  {
    events: Type.Integer({ minimum: 0, maximum: 100, description: 'Recent events of these types', examples: [100] }),
    matching: Type.Integer({
      minimum: 0,
      maximum: 100,
      description: 'How many of them match the filters',
      examples: [12]
    })
  },
  { title: 'WebhookPreview' }
)

const replayInclude = ['undelivered', 'all'] as const

export const Replay = Type.Object(
  {
    since: Type.Optional(DateTimeOf('Start of the period in which the events were recorded; default: 24 hours ago')),
    until: Type.Optional(DateTimeOf('End of the period; default: now')),
    event_types: Type.Optional(
      Type.Array(Type.String(), {
        ...upTo100,
        description: 'Only events of these types'
      })
    ),
    event_ids: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        ...upTo100,
        description: 'Only these events; cannot be combined with since and until'
      })
    ),
    include: OneOf(replayInclude, {
      default: 'undelivered',
      description:
        'undelivered: events whose delivery failed or was skipped; all: every event that the webhook subscribes to'
    }),
    dry_run: Type.Boolean({
      default: false,
      description: 'true: queues nothing, and returns 200 with the number of events'
    })
  },
  {
    title: 'Replay',
    additionalProperties: false,
    examples: [{ since: '2026-03-01T00:00:00.000Z', include: 'undelivered' }]
  }
)

export const ReplayResult = Type.Object(
  {
    webhook_id: Type.Integer({ examples: [1] }),
    include: OneOf(replayInclude),
    since: Nullable(DateTime),
    until: Nullable(DateTime),
    queued: Type.Integer({
      minimum: 0,
      description: 'Events that were queued, or would be without dry_run',
      examples: [3]
    }),
    truncated: Type.Boolean({
      description:
        'Whether more events may match: a call queues up to 10,000 events and reads up to 200,000, oldest first. ' +
        'Call again with a later `since`',
      examples: [false]
    })
  },
  { title: 'ReplayResult' }
)

/** The operations on webhooks by their names in `app.recruiting.webhooks`. */
export const webhookOperations = {
  /** Lists the webhooks of a tenant, like `GET /webhooks`. */
  list: operation({
    operationId: 'listWebhooks',
    method: 'GET',
    path: '/webhooks',
    tag: 'webhooks',
    summary: 'List webhooks',
    description: 'The response contains no secrets.',
    input: WebhookQuery,
    item: Webhook,
    shape: 'page',
    results: { 200: 'A page of webhooks' },
    resource: 'webhook'
  }),
  /** Creates a webhook and returns it with its secret, like `POST /webhooks`. */
  create: operation({
    operationId: 'createWebhook',
    method: 'POST',
    path: '/webhooks',
    tag: 'webhooks',
    summary: 'Create a webhook',
    description: 'The response contains the secret that signs the notifications. It is not shown again.',
    input: CreateWebhook,
    item: CreatedWebhook,
    shape: 'one',
    results: { 201: 'The webhook, with its secret' },
    capabilities: ['write', 'secrets'],
    // Such a session must not probe bodies with filters.
    withoutBodies: { forbids: ({ filters = null, changed = null }) => filters !== null || changed !== null },
    returnsSecret: true,
    resource: 'webhook',
    hints: { destructive: false },
    namesTenant: true,
    isAtomic: true
  }),
  /**
   * Creates a webhook with a secret that its receiver already has: `whsec_` and 24 to 64 bytes in base64. With
   * `legacy`, deliveries also carry the signature of the previous system until `legacy.until`. If the tenant has a
   * webhook with the same address and secret, returns it and changes only its `legacy`, if given, so an import can be
   * repeated. For the vendor only.
   */
  import: operation({
    operationId: 'importWebhook',
    method: null,
    path: '',
    tag: 'webhooks',
    summary: 'Import a webhook',
    description: 'Creates a webhook with a secret that its receiver already has.',
    input: ImportWebhook,
    item: Webhook,
    shape: 'one',
    results: {},
    resource: 'webhook',
    namesTenant: true
  }),
  /**
   * Returns a webhook with its health and the end of its grace period, like `GET /webhooks/:id`; `null` if it does not
   * exist.
   */
  find: operation({
    operationId: 'getWebhook',
    method: 'GET',
    path: '/webhooks/:id',
    tag: 'webhooks',
    summary: 'Get a webhook',
    description:
      'The response does not contain the secret. `health` shows when the endpoint started failing, and why the ' +
      'service disabled it. `previous_secret_expires_at` is the end of the grace period after a rotation.',
    item: WebhookWithHealth,
    shape: 'one',
    results: { 200: 'The webhook, with its health and the end of its grace period' },
    resource: 'webhook'
  }),
  /** Changes a webhook, like `PATCH /webhooks/:id`. */
  update: operation({
    operationId: 'updateWebhook',
    method: 'PATCH',
    path: '/webhooks/:id',
    tag: 'webhooks',
    summary: 'Update a webhook',
    description: 'Changes the given fields. Setting the status to `active` re-enables a disabled webhook.',
    input: UpdateWebhook,
    item: Webhook,
    shape: 'one',
    results: { 200: 'The updated webhook' },
    // Such a session must not redirect bodies to its own address, or probe them with filters.
    withoutBodies: {
      note: 'Portal sessions can change `target_url`, `filters` and `changed` only with the capability `bodies`.',
      forbids: (given) => given.target_url !== undefined || given.filters !== undefined || given.changed !== undefined
    },
    resource: 'webhook',
    hints: { idempotent: true }
  }),
  /** Deletes a webhook, like `DELETE /webhooks/:id`. */
  delete: operation({
    operationId: 'deleteWebhook',
    method: 'DELETE',
    path: '/webhooks/:id',
    tag: 'webhooks',
    summary: 'Delete a webhook',
    description: 'Cancels its pending deliveries.',
    shape: 'none',
    results: { 204: 'The webhook was deleted' },
    resource: 'webhook'
  }),
  /** Replaces a webhook's secret and returns the webhook with it, like `POST /webhooks/:id/rotate_secret`. */
  rotateSecret: operation({
    operationId: 'rotateWebhookSecret',
    method: 'POST',
    path: '/webhooks/:id/rotate_secret',
    tag: 'webhooks',
    summary: 'Rotate the secret of a webhook',
    description: 'During the grace period every delivery is signed with both secrets.',
    input: RotateSecret,
    item: RotatedWebhook,
    shape: 'one',
    results: { 200: 'The webhook, with its new secret' },
    capabilities: ['write', 'secrets'],
    returnsSecret: true,
    resource: 'webhook',
    isAtomic: true
  }),
  /** Sends a test notification from this process, like `POST /webhooks/:id/dispatch_test`. */
  sendTest: operation({
    operationId: 'dispatchWebhookTest',
    method: 'POST',
    path: '/webhooks/:id/dispatch_test',
    tag: 'webhooks',
    summary: 'Send a test notification',
    description:
      'Makes one attempt immediately, without retries. The payload contains "test": true and the example of the ' +
      'event as `data`. The delivery log does not contain it.',
    input: DispatchTest,
    item: TestResult,
    shape: 'one',
    results: { 200: 'The result of the attempt' },
    capabilities: ['test'],
    resource: 'webhook',
    hints: { destructive: false, openWorld: true },
    namesTenant: true
  }),
  /** Queues past events again, like `POST /webhooks/:id/replay`. With `dry_run`, only counts them. */
  replay: operation({
    operationId: 'replayWebhook',
    method: 'POST',
    path: '/webhooks/:id/replay',
    tag: 'webhooks',
    summary: 'Replay notifications',
    description: 'Queues past events again, with the same event ids. Skips events that are still pending.',
    input: Replay,
    item: ReplayResult,
    shape: 'one',
    results: { 200: 'The result of a dry run', 202: 'The result of the replay' },
    statusFor: (input) => (input.dry_run ? 200 : 202),
    capabilities: ['replay'],
    resource: 'webhook',
    hints: { destructive: false, openWorld: true },
    isAtomic: true
  }),
  /**
   * Counts up to 100 of the latest events of these types, and how many of them match the filters, like
   * `POST /webhooks/preview`. Throws `invalid_option` if the storage has no feed.
   */
  preview: operation({
    operationId: 'previewWebhook',
    method: 'POST',
    path: '/webhooks/preview',
    tag: 'webhooks',
    summary: 'Count what a webhook would receive',
    description:
      'Counts up to 100 of the latest events of these types, and how many of them match the filters. Changes nothing.',
    input: PreviewWebhook,
    item: WebhookPreview,
    shape: 'one',
    results: { 200: 'How many recent events match' },
    capabilities: ['bodies'],
    hints: { readOnly: true },
    isAtomic: true,
    needsFeed: true
  })
}
