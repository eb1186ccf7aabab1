import type { Static, TSchema } from '@sinclair/typebox'
import type { Creator, Id, Tenant } from '../ports/index.js'
import type { KeepAnswer } from '../shared/answers.js'
import { Type } from '../shared/typebox.js'
import type { WebhookOperations } from './operations.js'
import {
  CreatedWebhook, CreateWebhook, Delivery, DeliveryForSessions, DeliveryQuery, DeliveryWithAttempts, DispatchTest,
  EventType, EventTypeQuery, ImportWebhook, PreviewWebhook, Replay, ReplayResult, RotatedWebhook, RotateSecret,
  TestResult, UpdateWebhook, Webhook, WebhookPreview, WebhookQuery, WebhookWithHealth
} from './schemas.js'

type Capability = 'read' | 'write' | 'secrets' | 'bodies' | 'test' | 'replay' | 'keys'

/** The arguments of an operation. `id` and `deliveryId` are set if its path has them. */
interface Arguments<Input, OwnId extends Id> {
  tenant: Tenant
  caller: Creator
  id: OwnId
  deliveryId: number
  /** Whether the body of the event is not needed. */
  omitBody: boolean
  input: Input
  /** Returns the answer that the storage stores with the work, for a request with `Idempotency-Key`. */
  keep?: KeepAnswer | undefined
}

/** An operation of the API. Routes, tools for agents, calls by code and the audit are derived from it. */
export interface Operation<Operations, OwnId extends Id> {
  operationId: string
  /** `null` for an operation that only code can call. */
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | null
  /** The path below the tenant, with its parameters. */
  path: string
  tag: 'candidates' | 'jobs' | 'webhooks' | 'deliveries' | 'events' | 'api_keys'
  /** The scopes that a key needs. @default both scopes of webhooks */
  scopes?: readonly string[]
  /** Scopes of which a key needs at least one. */
  anyScope?: readonly string[]
  summary: string
  description: string
  /** The schema of the path's parameters. @default the ids of a webhook and a delivery */
  params?: TSchema
  /** The schema of the query for GET and DELETE, otherwise of the body. */
  input?: TSchema
  /** The schema of an item in the result. */
  item?: TSchema
  /** The result: a page of a list, of a long log or after a token; one item; or none. */
  shape: 'page' | 'log' | 'follow' | 'one' | 'none'
  /** Describes the response of each status. */
  results: Readonly<Record<number, string>>
  /** @default the only status of `results` */
  statusFor? (input: unknown): number
  /** Capabilities that a portal session needs. @default ['write'], for GET ['read'] */
  capabilities?: readonly Capability[]
  /** Rules for portal sessions without the capability `bodies`. */
  withoutBodies?: SessionRules
  /** The kind of record that it reads or changes, for the audit. */
  resource?: 'candidate' | 'job' | 'event' | 'webhook' | 'delivery' | 'api_key'
  /** Hints for agents, by default derived from the method; `false` hides the operation from agents. */
  hints?: false | { readOnly?: boolean, destructive?: boolean, idempotent?: boolean, openWorld?: boolean }
  /** Whether it needs the tenant's slug in addition to the id. */
  namesTenant?: boolean
  /** Whether its response contains a secret, so that it can only be stored sealed. */
  returnsSecret?: boolean
  /** Whether `run` passes an answer to the storage, which stores it with the work. */
  isAtomic?: boolean
  /** Whether it needs a storage with a feed of events. */
  needsFeed?: boolean
  /** Whether its response contains the body of an event, which HEAD does not read. */
  hasBody?: boolean
  /** Returns `null` if the record does not exist. */
  run (operations: Operations, given: Arguments<unknown, OwnId>): Promise<unknown>
}

interface SessionRules {
  /** Explains the rules in the OpenAPI document. */
  note?: string
  /** Returns whether the input is forbidden. */
  forbids? (input: unknown): boolean
  /** The schema of the item in an API with portal sessions, with and without bodies. */
  item?: TSchema
  hide? (item: unknown): unknown
}

interface Declared<Input extends TSchema, Operations>
  extends Omit<Operation<Operations, number>, 'input' | 'statusFor' | 'withoutBodies' | 'run'> {
  input?: Input
  statusFor? (input: Static<Input>): number
  withoutBodies?: Omit<SessionRules, 'forbids'> & { forbids? (input: Static<Input>): boolean }
  run (operations: Operations, given: Arguments<Static<Input>, number>): Promise<unknown>
}

export type WebhookOperation = Operation<WebhookOperations, number>

/** Types the input of an operation by its schema. */
export function operation<Input extends TSchema = TSchema, Operations = WebhookOperations> (
  declared: Declared<Input, Operations>
): Operation<Operations, number> {
  return declared as Operation<Operations, number>
}

/** The body of an operation that takes none: absent or `{}`. The document does not show it. */
const NoBody = Type.Object({}, { additionalProperties: false })

/** All webhook operations by their names in `app.recruiting.webhooks`. */
export const webhookOperations = {
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
    resource: 'webhook',
    run: (operations, { tenant, input }) => operations.list(tenant, input)
  }),
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
    withoutBodies: { forbids: ({ filters }) => filters !== undefined && filters !== null },
    returnsSecret: true,
    resource: 'webhook',
    hints: { destructive: false },
    namesTenant: true,
    isAtomic: true,
    run: (operations, { tenant, input, caller, keep }) => operations.create(tenant, input, caller, keep)
  }),
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
    namesTenant: true,
    run: (operations, { tenant, input, caller }) => operations.import(tenant, input, caller)
  }),
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
    resource: 'webhook',
    run: (operations, { tenant, id }) => operations.find(tenant, id)
  }),
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
      note: 'Portal sessions can change `target_url` and `filters` only with the capability `bodies`.',
      forbids: ({ target_url: target, filters }) => target !== undefined || filters !== undefined
    },
    resource: 'webhook',
    hints: { idempotent: true },
    run: (operations, { tenant, id, input }) => operations.update(tenant, id, input)
  }),
  delete: operation({
    operationId: 'deleteWebhook',
    method: 'DELETE',
    path: '/webhooks/:id',
    tag: 'webhooks',
    summary: 'Delete a webhook',
    description: 'Cancels its pending deliveries.',
    shape: 'none',
    results: { 204: 'The webhook was deleted' },
    resource: 'webhook',
    run: async (operations, { tenant, id }) => ((await operations.delete(tenant, id)) ? {} : null)
  }),
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
    isAtomic: true,
    run: (operations, { tenant, id, input, keep }) => operations.rotateSecret(tenant, id, input, keep)
  }),
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
    namesTenant: true,
    run: (operations, { tenant, id, input }) => operations.sendTest(tenant, id, input)
  }),
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
    isAtomic: true,
    run: (operations, { tenant, id, input, keep }) => operations.replay(tenant, id, input, keep)
  }),
  listDeliveries: operation({
    operationId: 'listWebhookDeliveries',
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    tag: 'deliveries',
    summary: 'List the deliveries of a webhook',
    description:
      'Returns the delivery log, newest first unless `sort` is given. It does not contain test notifications.',
    input: DeliveryQuery,
    item: Delivery,
    shape: 'log',
    results: { 200: 'A page of deliveries' },
    resource: 'webhook',
    run: (operations, { tenant, id, input }) => operations.listDeliveries(tenant, id, input)
  }),
  findDelivery: operation({
    operationId: 'getWebhookDelivery',
    method: 'GET',
    path: '/webhooks/:id/deliveries/:delivery_id',
    tag: 'deliveries',
    summary: 'Get a delivery with its body and its attempts',
    description: "Attempts show the beginning of your endpoint's response only if the vendor stores it.",
    item: DeliveryWithAttempts,
    shape: 'one',
    results: { 200: 'The delivery' },
    withoutBodies: { item: DeliveryForSessions, hide: hideBodies },
    resource: 'delivery',
    hasBody: true,
    run: (operations, { tenant, id, deliveryId, omitBody }) =>
      operations.findDelivery(tenant, id, deliveryId, { omitBody })
  }),
  retryDelivery: operation({
    operationId: 'retryWebhookDelivery',
    method: 'POST',
    path: '/webhooks/:id/deliveries/:delivery_id/retry',
    tag: 'deliveries',
    summary: 'Retry a delivery',
    description:
      'Sends a finished delivery again, as a new delivery. A pending delivery becomes due now, and uses an attempt ' +
      'of its schedule. A delivery in flight does not change.',
    input: NoBody,
    item: Delivery,
    shape: 'one',
    results: { 202: 'The delivery that will be attempted' },
    capabilities: ['replay'],
    resource: 'delivery',
    hints: { destructive: false, openWorld: true },
    isAtomic: true,
    run: (operations, { tenant, id, deliveryId, keep }) => operations.retryDelivery(tenant, id, deliveryId, keep)
  }),
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
    needsFeed: true,
    run: (operations, { tenant, input }) => operations.preview(tenant, input)
  })
}

/** Lists the catalogue. Not callable by code, because the host has the catalogue. */
export const listEventTypes = operation({
  operationId: 'listEventTypes',
  method: 'GET',
  path: '/event_types',
  tag: 'events',
  summary: 'List the event types',
  description:
    'Returns the events that a webhook can subscribe to, with the JSON Schema of their `data` and an example.',
  input: EventTypeQuery,
  item: EventType,
  shape: 'page',
  results: { 200: 'A page of event types' },
  run: (operations, { input }) => operations.listEventTypes(input)
})

function hideBodies (item: unknown): Static<typeof DeliveryForSessions> {
  const delivery = item as DeliveryWithAttempts
  const attempts = delivery.attempts.map((attempt) => ({ ...attempt, response_excerpt: null }))
  return { ...delivery, body: null, attempts }
}

/** Returns the names of the ids that an operation takes: none, `id`, or `id` and `deliveryId`. */
export function idsOf ({ path }: Pick<WebhookOperation, 'path'>): ReadonlyArray<'id' | 'deliveryId'> {
  return (['id', 'deliveryId'] as const).slice(0, path.split('/:').length - 1)
}
