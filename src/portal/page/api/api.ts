import type { Send } from './client.js'
import type { Result } from './failure.js'
import type {
  CreateWebhook, CreatedWebhook, Delivery, DeliveryStatus, DeliveryWithAttempts, EventType, Page, Replay, ReplayResult, RotatedWebhook, TestResult, UpdateWebhook, Webhook, WebhookWithHealth
} from './types.js'

/** Filters of the delivery log. */
export interface DeliveryQuery {
  page?: number
  per_page?: number
  sort?: string
  'filter[status]'?: DeliveryStatus | undefined
  'filter[event_type]'?: string | undefined
  'filter[event_id]'?: string | undefined
}

type Data<Value> = Promise<Result<{ data: Value }>>

/** The operations of the API that the portal uses. */
export type Api = ReturnType<typeof createApi>

export function createApi (send: Send) {
  return {
    listWebhooks: (query: { page?: number, per_page?: number, sort?: string }, signal?: AbortSignal) =>
      send<Page<Webhook>>({ method: 'GET', path: 'webhooks', query, signal }),
    findWebhook: (id: number, signal?: AbortSignal): Data<WebhookWithHealth> =>
      send({ method: 'GET', path: `webhooks/${id}`, signal }),
    createWebhook: (body: CreateWebhook): Data<CreatedWebhook> =>
      send({ method: 'POST', path: 'webhooks', body }),
    updateWebhook: (id: number, body: UpdateWebhook): Data<Webhook> =>
      send({ method: 'PATCH', path: `webhooks/${id}`, body }),
    deleteWebhook: (id: number): Promise<Result<null>> =>
      send({ method: 'DELETE', path: `webhooks/${id}` }),
    rotateSecret: (id: number, gracePeriodSeconds: number): Data<RotatedWebhook> =>
      send({ method: 'POST', path: `webhooks/${id}/rotate_secret`, body: { grace_period_seconds: gracePeriodSeconds } }),
    dispatchTest: (id: number, body: { event_type?: string }): Data<TestResult> =>
      send({ method: 'POST', path: `webhooks/${id}/dispatch_test`, body }),
    replay: (id: number, body: Replay & { dry_run?: boolean }): Data<ReplayResult> =>
      send({ method: 'POST', path: `webhooks/${id}/replay`, body }),
    listDeliveries: (id: number, query: DeliveryQuery, signal?: AbortSignal) =>
      send<Page<Delivery>>({ method: 'GET', path: `webhooks/${id}/deliveries`, query: { ...query }, signal }),
    findDelivery: (id: number, deliveryId: number, signal?: AbortSignal): Data<DeliveryWithAttempts> =>
      send({ method: 'GET', path: `webhooks/${id}/deliveries/${deliveryId}`, signal }),
    retryDelivery: (id: number, deliveryId: number): Data<Delivery> =>
      send({ method: 'POST', path: `webhooks/${id}/deliveries/${deliveryId}/retry` }),
    listEventTypes: (query: { page?: number, per_page?: number }, signal?: AbortSignal) =>
      send<Page<EventType>>({ method: 'GET', path: 'event_types', query, signal })
  }
}
