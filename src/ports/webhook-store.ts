import type { ListSource } from './list-source.js'

/** `disabled` is set by the service alone: the endpoint failed for too long, or answered 410. */
export type WebhookStatus = 'active' | 'inactive' | 'disabled'

/** A webhook as it is shown. Secrets are no part of it. */
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

/** Which webhooks. */
export interface WebhookFilter {
  /** Only webhooks of this status. */
  status?: WebhookStatus
}

/** What webhooks are sorted by. */
export type WebhookSortField = 'id' | 'name' | 'created_at' | 'updated_at'

/** A webhook to store. */
export interface NewWebhook {
  /** Given by `nextId`. */
  id: number
  /** 1 to 255 characters. */
  name: string
  status: 'active' | 'inactive'
  /** An absolute URL of at most 2048 characters. */
  target_url: string
  /** 1 to 100 event types, to be kept in this order. */
  event_types: readonly string[]
  /** Opaque text, kept as it is; it may be sealed. */
  secret: string
}

/** The fields to change; absent ones stay. */
export interface WebhookChanges {
  name?: string
  status?: 'active' | 'inactive'
  target_url?: string
  event_types?: readonly string[]
}

/** A secret that takes the place of another. */
export interface SecretRotation {
  /** Opaque text, kept as it is; it may be sealed. */
  secret: string
  /** Seconds for which the secret of before stays valid, 0 or more; at 0 it is dropped at once. */
  gracePeriodSeconds: number
}

/** The secrets of one webhook as they are stored. */
export interface StoredSecrets {
  tenantSlug: string
  webhookId: number
  /** Those that are valid now, the newest first. */
  secrets: string[]
}

/** A webhook whose secret was rotated. */
export interface RotatedWebhook extends Webhook {
  /** When the secret of before ceases to be valid; `null` when it was dropped at once. */
  previous_secret_expires_at: string | null
}

/** Keeps the webhooks of every tenant. A webhook of another tenant is treated as one that does not exist. */
export interface WebhookStore extends ListSource<Webhook, WebhookFilter, WebhookSortField> {
  /** One webhook of the tenant; `null` if there is none of this id. */
  find (tenantSlug: string, id: number): Promise<Webhook | null>

  /** A positive integer up to 2^53-1 that was never given out before, to nobody, and never will be again. */
  nextId (tenantSlug: string): Promise<number>

  /**
   * Stores a webhook; `created_at` and `updated_at` are now. `null`, and nothing stored, if the tenant has
   * `maxPerTenant` webhooks already. Of several at once for the last free place, exactly one succeeds. Rejects for an id
   * that a webhook has already, whoever's it is.
   */
  create (tenantSlug: string, webhook: NewWebhook, maxPerTenant: number): Promise<Webhook | null>

  /**
   * Changes a webhook and sets `updated_at` to now; `null` if there is none. Made `active`, it starts with a clean record
   * of failures and is no longer paused; so it does with another `target_url`. Made anything else, its pending deliveries
   * become `skipped`: none of them is claimed once this has resolved, though the log may show many a little later. What is
   * recorded after the webhook was made active again is never skipped.
   */
  update (tenantSlug: string, id: number, changes: WebhookChanges): Promise<Webhook | null>

  /** Removes a webhook; its pending deliveries become `cancelled`, and are never claimed again. `false` if there was none. */
  delete (tenantSlug: string, id: number): Promise<boolean>

  /**
   * Makes `secret` the secret, and the one of before the previous one, which expires after the grace period. A previous
   * one that was still valid is dropped at once. Sets `updated_at` to now. `null` if there is no such webhook.
   */
  rotateSecret (tenantSlug: string, id: number, rotation: SecretRotation): Promise<RotatedWebhook | null>

  /** The secrets that are valid now, the newest first: one, or two during a grace period. `null` without the webhook. */
  findSecrets (tenantSlug: string, id: number): Promise<string[] | null>

  /** The secrets of the webhooks of all tenants with ids above `afterId`, by ascending id, `limit` at most. */
  listSecrets (options: { afterId: number, limit: number }): Promise<StoredSecrets[]>

  /**
   * Puts another text in the place of a stored secret, which may be the previous one, and changes nothing else. `false`
   * if the webhook has no such secret.
   */
  replaceSecret (tenantSlug: string, id: number, change: { from: string, to: string }): Promise<boolean>
}
