import type { Static, TSchema } from '@sinclair/typebox'
import type { Delivery, DeliveryWithAttempts, FailingWebhook, Webhook } from '../../ports/index.js'
import type { Page } from '../../shared/paging.js'
import type { TenantArgument } from '../../shared/tenants.js'
import type { DeliveryQuery } from '../schemas/delivery.js'
import type {
  CreateWebhook,
  CreatedWebhook,
  DispatchTest,
  FailingQuery,
  ImportWebhook,
  PreviewWebhook,
  Replay,
  ReplayResult,
  RotateSecret,
  RotatedWebhook,
  TestResult,
  UpdateWebhook,
  WebhookPreview,
  WebhookQuery,
  WebhookWithHealth
} from '../schemas/webhook.js'

/** The input of an operation, without the fields that have a default. */
type WithDefaults<Schema extends TSchema, Name extends keyof Static<Schema>> = Omit<Static<Schema>, Name> &
  Partial<Pick<Static<Schema>, Name>>

/** The parameters of a list of webhooks: `page`, `per_page`, `sort`, `filter[status]`. */
export type ListWebhooksQuery = Partial<Static<typeof WebhookQuery>>
/**
 * The parameters of a delivery log: `page`, `per_page`, `sort`, `filter[status]`, `filter[event_type]`,
 * `filter[event_id]`.
 */
export type ListDeliveriesQuery = Partial<Static<typeof DeliveryQuery>>
/** A webhook to create. */
export type CreateWebhookInput = WithDefaults<typeof CreateWebhook, 'status'>
/** A webhook to create, with its secret. */
export type ImportWebhookInput = WithDefaults<typeof ImportWebhook, 'status'>
/** The fields to change, at least one. */
export type UpdateWebhookInput = Static<typeof UpdateWebhook>
/** How long the previous secret stays valid. */
export type RotateSecretInput = Partial<Static<typeof RotateSecret>>
/** The event type of a test. */
export type SendTestInput = Static<typeof DispatchTest>
/** Selects the events to replay. */
export type ReplayInput = WithDefaults<typeof Replay, 'include' | 'dry_run'>

/** The event types and filters of a webhook. */
export type PreviewWebhookInput = Static<typeof PreviewWebhook>

/** How many webhooks to list. */
export type ListFailingQuery = Partial<Static<typeof FailingQuery>>

/**
 * Offers the operations of the API to code, for example for the vendor's settings page or support tools. Input and
 * results have the fields of the API, without the envelope `data`, and the same rules hold. The first argument is the
 * tenant: its slug, `{ tenantSlug }` or `{ tenantId }`.
 *
 * Throws `invalid_input`, whose `field` is the argument or the field in it, `not_found` if the webhook or delivery
 * does not exist, and `closed`.
 */
export interface RecruitingWebhooks {
  /** Lists the webhooks of a tenant, as `GET /webhooks`. */
  list (tenant: TenantArgument, query?: ListWebhooksQuery): Promise<Page<Webhook>>
  /**
   * Returns a webhook with its health and the end of its grace period, as `GET /webhooks/:id`; `null` if it does not
   * exist.
   */
  find (tenant: TenantArgument, id: number): Promise<WebhookWithHealth | null>
  /** Creates a webhook and returns it with its secret, as `POST /webhooks`. */
  create (tenant: TenantArgument, input: CreateWebhookInput): Promise<Static<typeof CreatedWebhook>>
  /**
   * Creates a webhook with a secret that its receiver already knows: `whsec_` and 24 to 64 bytes in base64. A webhook
   * of the tenant with the same address and secret is returned instead, unchanged, so an import can be repeated. For
   * the vendor alone.
   */
  import (tenant: TenantArgument, input: ImportWebhookInput): Promise<Webhook>
  /** Changes a webhook, as `PATCH /webhooks/:id`. */
  update (tenant: TenantArgument, id: number, changes: UpdateWebhookInput): Promise<Webhook>
  /** Deletes a webhook, as `DELETE /webhooks/:id`. */
  delete (tenant: TenantArgument, id: number): Promise<void>
  /** Gives a webhook a new secret and returns it, as `POST /webhooks/:id/rotate_secret`. */
  rotateSecret (tenant: TenantArgument, id: number, input?: RotateSecretInput): Promise<Static<typeof RotatedWebhook>>
  /** Sends a test notification from this process, as `POST /webhooks/:id/dispatch_test`. */
  sendTest (tenant: TenantArgument, id: number, input?: SendTestInput): Promise<Static<typeof TestResult>>
  /** Queues past events again, as `POST /webhooks/:id/replay`; with `dry_run`, only counts them. */
  replay (tenant: TenantArgument, id: number, input?: ReplayInput): Promise<Static<typeof ReplayResult>>
  /**
   * Counts up to 100 of the latest events of these types, and those that match the filters, as `POST
   * /webhooks/preview`. Throws `invalid_option` if the storage has no feed.
   */
  preview (tenant: TenantArgument, input: PreviewWebhookInput): Promise<Static<typeof WebhookPreview>>
  /**
   * Lists the deliveries of a webhook, as `GET /webhooks/:id/deliveries`. Throws `not_found` for an unknown webhook.
   */
  listDeliveries (tenant: TenantArgument, id: number, query?: ListDeliveriesQuery): Promise<Page<Delivery>>
  /**
   * Returns a delivery with its attempts, as `GET /webhooks/:id/deliveries/:delivery_id`; `null` if it does not
   * exist.
   */
  findDelivery (tenant: TenantArgument, id: number, deliveryId: number): Promise<DeliveryWithAttempts | null>
  /** Retries a delivery, as `POST /webhooks/:id/deliveries/:delivery_id/retry`. */
  retryDelivery (tenant: TenantArgument, id: number, deliveryId: number): Promise<Delivery>
  /**
   * Lists webhooks of all tenants that are failing or disabled, the longest failing first: since when, the last
   * error, and how many deliveries wait, counted up to 1,000. `limit` is 1 to 1,000, by default 100. For the vendor
   * only.
   */
  failing (options?: ListFailingQuery): Promise<FailingWebhook[]>
}

/** The calls that are operations of a tenant. */
export type WebhookCall = Exclude<keyof RecruitingWebhooks, 'failing'>
