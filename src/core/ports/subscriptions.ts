import type { AttemptError } from './deliveries.js'
import type { ListSource } from './lists.js'
import type { EventFilters } from './event-filters.js'

/**
 * An agent's subscription to events of one type. It is live until it ends or expires. A refresh before then changes
 * its end, not its id.
 */
export interface Subscription {
  /**
   * Derived from its principal, address, event type and filters: 1 to 64 visible ASCII characters. A tenant has at most
   * one live subscription with this id.
   */
  id: string
  /** From `webhooks.nextId`, for its secrets and its log. A new subscription with the same `id` has another one. */
  webhook_id: number
  /** The subscriber: the id of an API key or of an OAuth client's grant, 1 to 255 characters. */
  principal: string
  event_type: string
  /** Only events that match; `null` for all events of the type. */
  filters: EventFilters | null
  /** The callback's address. It can contain a token: show only its host. */
  target_url: string
  created_at: string
  /** When it ends unless it is refreshed. */
  expires_at: string
  /** Time of the last successful delivery; `null` without one. */
  last_delivered_at: string | null
  /** Time of the first failed attempt since the last success; `null` if there is none. */
  failing_since: string | null
  /** Error of the last failed attempt since the last success; `null` if there is none. */
  last_error: AttemptError | null
  /** The status of the same attempt's response; `null` without a response. */
  last_response_status: number | null
  /** When its pause ends; `null` unless it is paused now. */
  paused_until: string | null
}

/** A subscription with everything needed to notify its callback. */
export interface StoredSubscription {
  /** The tenant's id; without the option `tenantId`, its slug. */
  tenantId: string
  /** The tenant's name when the subscription was created or the tenant was renamed. */
  tenantSlug: string
  subscription: Subscription
  /** The valid secrets, newest first, as of `put`. */
  secrets: string[]
  /**
   * The watermark, a position in the tenant's feed: the callback acknowledged each matching event at or before it, or
   * the event was given up. It is before the oldest pending event; without one, the end of what `fill` has read.
   */
  position: string
}

/**
 * Why a subscription ended:
 *
 * - `unsubscribed`: by its principal
 * - `expired`: not refreshed in time
 * - `revoked`: its API key was revoked, expired or is unknown
 * - `removed`: its event type is no longer in the catalogue
 * - `disconnected`: in the portal, over the API or by the vendor
 */
export type EndReason = 'unsubscribed' | 'expired' | 'revoked' | 'removed' | 'disconnected'

/** A subscription to create, or the changes of a refresh. */
export interface NewSubscription {
  id: string
  /** That of the live subscription; without one, a new id from `webhooks.nextId`. */
  webhookId: number
  /** The tenant's current name. */
  tenantSlug: string
  principal: string
  targetUrl: string
  eventType: string
  filters: EventFilters | null
  /** Opaque text, stored unchanged; it may be sealed. A live subscription keeps its secret with `null`. */
  secret: string | null
  /** Seconds for which a replaced secret of a live subscription stays valid, 0 or more. An older one is dropped. */
  gracePeriodSeconds: number
  /** It ends this many seconds from now, from 1. */
  ttlSeconds: number
  /**
   * A position in the tenant's feed after which deliveries begin; `null` to refresh only. A live subscription keeps its
   * own.
   */
  position: string | null
  /** Whether the callback has just confirmed its address. */
  isVerified: boolean
}

/** How many live subscriptions there can be. */
export interface SubscriptionLimits {
  perTenant: number
  perPrincipal: number
}

/** Selects subscriptions. */
export interface SubscriptionFilter {
  /** Only subscriptions of this principal. */
  principal?: string
}

/** Fields to sort subscriptions by. */
export type SubscriptionSortField = 'id' | 'created_at' | 'expires_at'

/** The result of moving events from the feed to the queue. */
export interface Filled {
  /** Number of new deliveries. */
  queued: number
  /** Whether another call would move or end more now. */
  hasMore: boolean
  /** Subscriptions that may miss events, because some after their positions were pruned. They continue after those. */
  gaps: StoredSubscription[]
  /** Subscriptions that this call ended: `expired`, `revoked` or `removed`. */
  ended: Array<StoredSubscription & { reason: EndReason }>
}

/** The state of the subscriptions of all tenants. */
export interface SubscriptionStats {
  /** Live subscriptions. */
  live: number
  /** Live subscriptions whose last attempt failed. */
  failing: number
  /**
   * Milliseconds since the oldest event was recorded that `fill` has not read for a live subscription without pending
   * deliveries; 0 if there is none.
   */
  lagMs: number
}

/**
 * Stores agents' subscriptions. A subscription is a consumer of the feed with a position, so `record` ignores it:
 * `fill` moves events from the feed to the queue of `deliveries`, which claims and records their attempts like those of
 * webhooks. Erasing a subject, renaming, suspending and removing a tenant, and resealing apply to subscriptions too.
 * Merging tenants ends theirs, and `adopt` with `discard` ends all. The other methods of `webhooks` ignore them. A
 * subscription is never disabled. After it has ended, none of its deliveries is claimed.
 *
 * `list` and `count` see live subscriptions only. A subscription of another tenant is treated as if it did not exist.
 * The principal is often the id of an API key in the same storage. Such a subscription is no longer live once the key
 * is revoked, expires, or is deleted.
 */
export interface SubscriptionStore extends ListSource<Subscription, SubscriptionFilter, SubscriptionSortField> {
  /** Returns the tenant's live subscription with this id; `null` if there is none. */
  find (tenant: string, id: string): Promise<StoredSubscription | null>

  /**
   * Creates a subscription, or refreshes a live one: that sets its end and secret, and ends its pause, so that its
   * pending deliveries are due. An ended or expired one does not come back: its place is taken by a new one. Returns
   * the name of a limit that the tenant or the principal has reached, and `replaced` if the live subscription has
   * another `webhookId`, or there is none and no secret or position to create it; then nothing has changed. A refresh
   * reaches no limit. Of several concurrent calls with the same id, one creates; of several for the last free place,
   * exactly one succeeds.
   * Rejects with `tenant_resting` while the tenant rests.
   */
  put (tenant: string, subscription: NewSubscription, limits: SubscriptionLimits):
  Promise<StoredSubscription | keyof SubscriptionLimits | 'replaced'>

  /**
   * Returns whether the callback confirmed this address for this principal in the last `withinSeconds`, for any of its
   * live subscriptions. Only a refresh with `isVerified` extends this time.
   */
  isVerified (tenant: string, principal: string, url: string, withinSeconds: number): Promise<boolean>

  /**
   * Ends the live subscription with this id, or all of this principal: their pending deliveries become `cancelled`,
   * their secrets are erased, and once this has resolved, none is claimed. Returns those that this call ended, with
   * their secrets; `[]` if there is none.
   */
  end (
    tenant: string, which: { id: string } | { principal: string }, reason: EndReason
  ): Promise<StoredSubscription[]>

  /**
   * Reads the feeds of live subscriptions after their positions, and queues one delivery for each event of their type
   * and filters that is not erased, due now and in the order of the feed. Moves each position past the events that were
   * read, in the same transaction: each event is queued once. A subscription has at most `window` pending deliveries;
   * the rest waits in the feed. Queues at most `limit` deliveries in all, and reads a limited number of events;
   * subscriptions take turns. Concurrent calls do not wait for each other. Ends subscriptions that have expired or
   * whose keys are no longer valid, and those to other types than `eventTypes`. A suspended tenant's subscriptions
   * wait, also for their end; resuming with `skip` also skips what was not read. Does nothing if the storage has
   * `holds` and must not send for this worker.
   */
  fill (options: {
    limit: number, window: number, environment?: string | null, eventTypes?: readonly string[]
  }): Promise<Filled>

  /** Counts the live subscriptions of all tenants. */
  stats (): Promise<SubscriptionStats>
}
