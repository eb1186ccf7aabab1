import type { AttemptDetail, AttemptError } from './deliveries.js'
import type { EventFilters } from './event-filters.js'
import type { ListSource } from './lists.js'
import type { Creator, Tenant, TenantState } from './ids.js'
import type { AnswerToStore, StoresAnswers } from './idempotency.js'

/** Only the service sets `disabled`, when the endpoint failed for too long or returned 410. */
export type WebhookStatus = 'active' | 'inactive' | 'disabled'

/** A webhook as clients see it. It never contains a secret. */
export interface Webhook {
  id: number
  name: string
  status: WebhookStatus
  target_url: string
  /** In the order given by the client. */
  event_types: string[]
  /** The names of its headers, each with `null`; `null` if it has none. */
  headers: Record<string, null> | null
  /** As given by the client; `null` if it has none. */
  filters: EventFilters | null
  /** As given by the client; `null` if it accepts all changes. */
  changed: string[] | null
  /** The email address of whom to tell about failures; `null` without one. */
  contact: string | null
  created_by: Creator
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
  /** The tenant's current name, for claimed deliveries, notices and failing webhooks. */
  tenantSlug: string
  /** 1 to 255 characters. */
  name: string
  status: 'active' | 'inactive'
  /** An absolute URL of at most 2048 characters. */
  target_url: string
  /** 1 to 100 event types, stored in this order. */
  event_types: readonly string[]
  /** Opaque text, stored unchanged; it may be sealed. */
  secret: string
  /** Its headers. @default none */
  headers?: StoredHeaders | null
  /** Its filters. @default none */
  filters?: EventFilters | null
  /**
   * 1 to 50 names of fields: it receives only events whose body has one of them in the array `changed`.
   * @default null: all events
   */
  changed?: readonly string[] | null
  /** An email address of at most 254 characters. @default none */
  contact?: string | null
  /** @default the vendor's code, without an id */
  created_by?: Creator
}

/** The additional headers of a webhook's notifications. */
export interface StoredHeaders {
  /** At most 10 names. Without any, the webhook shows no headers, but keeps the text. */
  names: readonly string[]
  /** Opaque text with the names and values, stored unchanged; it may be sealed. */
  sealed: string
}

/** Fields to change; absent fields keep their values. */
export interface WebhookChanges {
  name?: string
  status?: 'active' | 'inactive'
  target_url?: string
  event_types?: readonly string[]
  /** `null` removes the headers. */
  headers?: StoredHeaders | null
  /**
   * Replaces all filters; `null` removes them. They apply to events recorded from now on: existing deliveries do not
   * change.
   */
  filters?: EventFilters | null
  /** Replaces the names; `null` removes them. They apply as filters do. */
  changed?: readonly string[] | null
  /** `null` removes the address. */
  contact?: string | null
}

/** A new secret, and how long the previous one stays valid. */
export interface SecretRotation {
  /** Opaque text, stored unchanged; it may be sealed. */
  secret: string
  /** Seconds for which the previous secret stays valid, 0 or more; with 0 it is dropped immediately. */
  gracePeriodSeconds: number
}

/** The stored secrets of one webhook. */
export interface StoredSecrets {
  /** The tenant's id; without the option `tenantId`, its slug. */
  tenantId: string
  webhookId: number
  /** The valid secrets, newest first. */
  secrets: string[]
  /** The sealed headers; `null` without any. */
  headers: string | null
}

/** A webhook after its secret was rotated. */
export interface RotatedWebhook extends Webhook {
  /** When the previous secret expires; `null` if it was dropped immediately. */
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
  /** The tenant's id; without the option `tenantId`, its slug. */
  tenantId: string
  /** The tenant's name when the webhook was created or the tenant was renamed. */
  tenantSlug: string
  webhook: Webhook
  health: WebhookHealth
  /** Error of the last failed attempt; `null` if there was none since the failure record was cleared. */
  lastError: AttemptError | null
  /** Its cause; `null` if it is unknown. */
  lastDetail: AttemptDetail | null
  /** Of the same attempt; `null` without a response. */
  lastResponseStatus: number | null
  /** Pending deliveries. Counting stops at `maxPending`. */
  pending: number
}

/** Options of `renameTenant`. */
export interface RenameOptions {
  /**
   * Converts a stored secret, or stored headers, for the new id. Not called if the id stays the same. If it throws, the
   * rename changes nothing and can be repeated, even in the same transaction. A KMS seals secrets this way, one per
   * call.
   */
  reseal: (secret: string, webhookId: number) => string
  /** Seconds for which the previous id rests, 0 or more. @default 0 */
  restSeconds?: number
  /** The host's open transaction. */
  transaction?: unknown
}

/** Options of `removeTenant`. */
export interface RemoveOptions {
  /** Maximum number of events to remove, 1 or more. */
  limit: number
  /** Seconds for which the tenant rests, 0 or more. @default 0 */
  restSeconds?: number
  /** The host's open transaction. */
  transaction?: unknown
}

/** Options of `create`. */
export interface CreateOptions {
  /** Maximum number of webhooks of the tenant. */
  maxPerTenant: number
  /** Maximum number with the same `created_by`. @default no limit */
  maxPerCreator?: number | null
  /** Never with `transaction`. */
  answer?: AnswerToStore<Webhook> | undefined
  /** The host's open transaction. */
  transaction?: unknown
}

/** Options of `resumeTenant`. */
export interface ResumeOptions {
  /** What happens to the pending deliveries: `skip` makes them `skipped`. */
  pending: 'deliver' | 'skip'
  /** The host's open transaction. */
  transaction?: unknown
}

/** Stores the webhooks of all tenants. A webhook of another tenant is treated as if it did not exist. */
export interface WebhookStore extends ListSource<Webhook, WebhookFilter, WebhookSortField>, StoresAnswers {
  /** Returns one webhook of the tenant; `null` if there is none with this id. */
  find (tenant: string, id: number): Promise<Webhook | null>

  /**
   * Returns the health of a webhook; `null` if it does not exist. A disabled or inactive webhook keeps its failure
   * record.
   */
  findHealth (tenant: string, id: number): Promise<WebhookHealth | null>

  /**
   * Lists at most `limit` webhooks of all tenants that are disabled, or active with a failed attempt since their last
   * success. The longest failing webhook comes first, those without a failure record come last; otherwise by ascending
   * id.
   */
  listFailing (options: { limit: number, maxPending: number }): Promise<FailingWebhook[]>

  /**
   * Returns a positive integer up to 2^53-1, never reused, across all tenants. With the host's `transaction`, uses only
   * its connection.
   */
  nextId (tenant: string, transaction?: unknown): Promise<number>

  /**
   * Stores a webhook, with `created_at` and `updated_at` set to now. Returns `null` and stores nothing if the tenant
   * already has `maxPerTenant` webhooks, or `maxPerCreator` with this `created_by`. Of several concurrent calls for the
   * last free place, exactly one succeeds.
   * Rejects if a webhook of any tenant already has this id, and with `tenant_resting` while the tenant rests. A call
   * that waits for another one of the tenant holds no connection. It rejects after some seconds with
   * `RecruitingApiError` (`busy`). With the host's `transaction`, the webhook exists once that commits; until then,
   * other creates of the tenant wait. Rejects and stores nothing if `transaction` is not open. A storage without
   * transactions rejects any `transaction`.
   */
  create (tenant: string, webhook: NewWebhook, options: CreateOptions): Promise<Webhook | null>

  /**
   * Changes a webhook and sets `updated_at` to now. Returns `null` if it does not exist. Setting the status to `active`
   * clears the failure record and ends a pause; so does a different `target_url`. Setting the status to `inactive`
   * makes its pending deliveries `skipped`: once this has resolved, none of them is claimed, though the log may show
   * the change a little later. Deliveries recorded after the webhook is active again are never skipped.
   */
  update (tenant: string, id: number, changes: WebhookChanges): Promise<Webhook | null>

  /**
   * Deletes a webhook. Its pending deliveries become `cancelled` and are never claimed again. Returns `false` if there
   * was no such webhook.
   */
  delete (tenant: string, id: number): Promise<boolean>

  /**
   * Sets the current secret; the old one becomes the previous one and stays valid for the grace period. Any older
   * secret is dropped immediately. Sets `updated_at` to now. Returns `null` if the webhook does not exist.
   */
  rotateSecret (
    tenant: string, id: number, rotation: SecretRotation, answer?: AnswerToStore<RotatedWebhook>
  ): Promise<RotatedWebhook | null>

  /**
   * Returns the valid secrets, newest first: one, or two during a grace period. Returns `null` if the webhook does not
   * exist.
   */
  findSecrets (tenant: string, id: number): Promise<string[] | null>

  /** Returns the sealed headers; `null` if the webhook has none or does not exist. */
  findHeaders (tenant: string, id: number): Promise<string | null>

  /** Returns when the previous secret expires; `null` if none is valid or the webhook does not exist. */
  findGraceEnd (tenantSlug: string, id: number): Promise<string | null>

  /**
   * Lists the secrets and headers of at most `limit` webhooks of all tenants with ids above `afterId`, by ascending
   * id.
   */
  listSecrets (options: { afterId: number, limit: number }): Promise<StoredSecrets[]>

  /**
   * Replaces a stored secret, current or previous, or the sealed headers with another text and changes nothing else.
   * Returns `false` if the webhook has no such text.
   */
  replaceSecret (tenant: string, id: number, change: { from: string, to: string }): Promise<boolean>

  /**
   * Moves everything of the tenant `from` to the tenant `to`: webhooks with their deliveries and notices, and events
   * with their subjects and idempotency keys. Invalidates the positions in the changes and events of both. Replaces
   * each valid secret and the sealed headers with the result of `reseal`, and drops expired secrets. If both have the
   * same id, only the name in webhooks and notices changes. Returns the number of webhooks. Returns `null` and changes
   * nothing if `to` has a different id that has a webhook or an event, or rests. A storage may also return `null` if
   * that id had one earlier. Attempts in flight still count. The previous id rests for `restSeconds`. All or nothing:
   * if `reseal` throws, rejects and changes nothing. With the host's `transaction`, it takes effect once that commits.
   * Rejects and changes nothing if `transaction` is not open. A storage without transactions rejects any `transaction`.
   */
  renameTenant (from: Tenant, to: Tenant, options: RenameOptions): Promise<number | null>

  /**
   * Removes a tenant: its webhooks with their notices immediately, so that none of its deliveries is claimed again, and
   * at most `limit` of its events with their deliveries. Deletes its changes, and invalidates the positions in them and
   * in its events. Returns the number of events of removed tenants that are left, or `limit` if there are more; further
   * calls remove them, and so does `prune`. The tenant rests for `restSeconds`; with 0, a new tenant can use the same
   * id immediately and sees none of them. The first step is all or nothing. With the host's `transaction`, it takes
   * effect once that commits. Rejects and changes nothing if `transaction` is not open. A storage without transactions
   * rejects any `transaction`.
   */
  removeTenant (tenant: string, options: RemoveOptions): Promise<number>

  /**
   * Suspends a tenant, with or without data. Once this has resolved, none of its deliveries is claimed, including those
   * recorded later. Leases end as usual, but an expired one may be lost. Changes nothing else: everything can still be
   * created, recorded and read. Renaming the tenant keeps its state, removing it ends it. Returns when the
   * suspension began, as RFC 3339, also if it did earlier. With the host's `transaction`, it takes effect once that
   * commits. Rejects and changes nothing if `transaction` is not open. A storage without transactions rejects any
   * `transaction`.
   */
  suspendTenant (tenant: string, options?: { transaction?: unknown }): Promise<string>

  /**
   * Ends a tenant's suspension. Its active webhooks start without failures and pauses. Pending deliveries are claimed
   * in their usual order, or with `skip` become `skipped`, though the log may show that a little later. Returns when
   * the suspension began; `null`, and changes nothing, if the tenant was not suspended. A `transaction` is as for
   * `suspendTenant`.
   */
  resumeTenant (tenant: string, options: ResumeOptions): Promise<string | null>

  /**
   * Lists the resting tenants, for which nothing can be created or recorded yet, the suspended ones, and those renamed
   * or removed in the last hour, which caches forget.
   */
  listStates (): Promise<TenantState[]>

  /**
   * Lists at most `limit` tenants that have a webhook or a stored key and whose id equals its `tenantSlug`, by
   * ascending id. With the option `tenantId`, the engine looks up their ids at startup, and logs an error if their data
   * is stored by slug.
   */
  listIdsLikeSlugs? (limit: number): Promise<string[]>
}
