import type { AttemptError } from './delivery.js'
import type { ListSource } from './list-source.js'

/** `disabled` is set only by the service, when the endpoint failed for too long or answered 410. */
export type WebhookStatus = 'active' | 'inactive' | 'disabled'

/** A webhook as clients see it. It never contains a secret. */
export interface Webhook {
  id: number
  name: string
  status: WebhookStatus
  target_url: string
  /** In the order given by the client. */
  event_types: string[]
  created_at: string
  updated_at: string
}

/** Selects webhooks. */
export interface WebhookFilter {
  /** Only webhooks with this status. */
  status?: WebhookStatus
}

/** Fields to sort webhooks by. */
export type WebhookSortField = 'id' | 'name' | 'created_at' | 'updated_at'

/** A webhook to store. */
export interface NewWebhook {
  /** Returned by `nextId`. */
  id: number
  /** 1 to 255 characters. */
  name: string
  status: 'active' | 'inactive'
  /** An absolute URL of at most 2048 characters. */
  target_url: string
  /** 1 to 100 event types, stored in this order. */
  event_types: readonly string[]
  /** Opaque text, stored as it is; it may be sealed. */
  secret: string
}

/** Fields to change; absent fields keep their values. */
export interface WebhookChanges {
  name?: string
  status?: 'active' | 'inactive'
  target_url?: string
  event_types?: readonly string[]
}

/** A new secret, and how long the previous one stays valid. */
export interface SecretRotation {
  /** Opaque text, stored as it is; it may be sealed. */
  secret: string
  /** Seconds for which the previous secret stays valid, 0 or more; at 0 it is dropped at once. */
  gracePeriodSeconds: number
}

/** The stored secrets of one webhook. */
export interface StoredSecrets {
  tenantSlug: string
  webhookId: number
  /** Those that are valid now, newest first. */
  secrets: string[]
}

/** A webhook after its secret was rotated. */
export interface RotatedWebhook extends Webhook {
  /** When the previous secret expires; `null` if it was dropped at once. */
  previous_secret_expires_at: string | null
}

/** The health of a webhook. */
export interface WebhookHealth {
  /** Time of the first failed attempt since the last success; `null` if there is none. */
  failing_since: string | null
  /** Failed deliveries since then. */
  failed_deliveries: number
  /** When its pause ends; `null` unless it is active and paused now. */
  paused_until: string | null
  /** Why it is disabled: its endpoint is gone, or failed for too long. `null` unless it is disabled. */
  disabled_reason: 'gone' | 'failing' | null
}

/** A webhook that is failing or disabled. */
export interface FailingWebhook {
  tenantSlug: string
  webhook: Webhook
  health: WebhookHealth
  /** Error of the last failed attempt; `null` without one since the record of failures was cleared. */
  lastError: AttemptError | null
  /** Of the same attempt; `null` without a response. */
  lastResponseStatus: number | null
  /** Pending deliveries. Counting stops at `maxPending`. */
  pending: number
}

/** How a tenant is renamed. */
export interface RenameOptions {
  /** Converts a stored secret for the new name. */
  reseal: (secret: string, webhookId: number) => string
  /** The host's own open transaction. */
  transaction?: unknown
}

/** Stores the webhooks of all tenants. A webhook of another tenant is treated as if it did not exist. */
export interface WebhookStore extends ListSource<Webhook, WebhookFilter, WebhookSortField> {
  /** Returns one webhook of the tenant; `null` if there is none with this id. */
  find (tenantSlug: string, id: number): Promise<Webhook | null>

  /**
   * Returns the health of a webhook; `null` if it does not exist. A webhook that is disabled or made inactive keeps its
   * record of failures.
   */
  findHealth (tenantSlug: string, id: number): Promise<WebhookHealth | null>

  /**
   * Lists at most `limit` webhooks of all tenants that are disabled, or active with a failed attempt since their last
   * success. The one that has been failing for longest comes first, those without a record of failures last; otherwise
   * by ascending id.
   */
  listFailing (options: { limit: number, maxPending: number }): Promise<FailingWebhook[]>

  /** Returns a positive integer up to 2^53-1, never reused, across all tenants. */
  nextId (tenantSlug: string): Promise<number>

  /**
   * Stores a webhook, with `created_at` and `updated_at` set to now. Returns `null` and stores nothing if the tenant
   * already has `maxPerTenant` webhooks. Of several concurrent calls for the last free place, exactly one succeeds.
   * Rejects if a webhook of any tenant already has this id.
   */
  create (tenantSlug: string, webhook: NewWebhook, maxPerTenant: number): Promise<Webhook | null>

  /**
   * Changes a webhook and sets `updated_at` to now. Returns `null` if it does not exist. Setting the status to `active`
   * clears the record of failures and ends a pause; so does a different `target_url`. Setting the status to `inactive`
   * makes its pending deliveries `skipped`: once this has resolved, none of them is claimed, though the log may show
   * the change a little later. Deliveries recorded after the webhook is active again are never skipped.
   */
  update (tenantSlug: string, id: number, changes: WebhookChanges): Promise<Webhook | null>

  /**
   * Deletes a webhook. Its pending deliveries become `cancelled` and are never claimed again. Returns `false` if there
   * was no such webhook.
   */
  delete (tenantSlug: string, id: number): Promise<boolean>

  /**
   * Sets the current secret; the old one becomes the previous one and stays valid for the grace period. Any older
   * secret is dropped at once. Sets `updated_at` to now. Returns `null` if the webhook does not exist.
   */
  rotateSecret (tenantSlug: string, id: number, rotation: SecretRotation): Promise<RotatedWebhook | null>

  /**
   * Returns the secrets that are valid now, newest first: one, or two during a grace period. Returns `null` if the
   * webhook does not exist.
   */
  findSecrets (tenantSlug: string, id: number): Promise<string[] | null>

  /** Lists the secrets of at most `limit` webhooks of all tenants with ids above `afterId`, by ascending id. */
  listSecrets (options: { afterId: number, limit: number }): Promise<StoredSecrets[]>

  /**
   * Replaces a stored secret, current or previous, with another text and changes nothing else. Returns `false` if the
   * webhook has no such secret.
   */
  replaceSecret (tenantSlug: string, id: number, change: { from: string, to: string }): Promise<boolean>

  /**
   * Renames the tenant `from` to `to`: its webhooks with their deliveries and notices, its events with their subjects
   * and idempotency keys, and its changes. Replaces each stored secret with the result of `reseal`. Returns the number
   * of webhooks. Returns `null` and changes nothing if `to` has a webhook or an event, and possibly if it had one earlier.
   * Attempts in flight count as before. All or nothing. With `transaction`, the host's own, it takes effect once that
   * commits. Rejects and changes nothing if `transaction` is not open. A storage without transactions rejects any
   * `transaction`.
   */
  renameTenant (from: string, to: string, options: RenameOptions): Promise<number | null>

  /**
   * Removes a tenant: its webhooks with their notices at once, so that none of its deliveries is claimed again, and at
   * most `limit` of its events with their deliveries. Returns the number of events of removed tenants that are left;
   * further calls remove them, and so does `prune`. A new tenant may use the same name at once and sees none of them.
   * The first step is all or nothing. With `transaction`, the host's own, it takes effect once that commits. Rejects
   * and changes nothing if `transaction` is not open. A storage without transactions rejects any `transaction`.
   */
  removeTenant (tenantSlug: string, options: { limit: number, transaction?: unknown }): Promise<number>
}
