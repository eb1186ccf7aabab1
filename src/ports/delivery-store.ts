import type {
  AttemptResult, ClaimOptions, ClaimedDelivery, Delivery, DeliveryFilter, DeliverySortField, DeliveryWithAttempts, Lease
} from './delivery.js'
import type { HealthNotice, HealthRule } from './health.js'
import type { ListQuery } from './list-source.js'

/** An event to record. */
export interface NewEvent {
  /** Unique over all tenants; the `webhook-id` of every delivery. */
  id: string
  type: string
  /** The exact text to sign and send, JSON. It comes back from `claimDue` byte for byte. */
  body: string
  /** What the event is about, such as `candidate:42`, or `null`. */
  subject: string | null
  /** The text that takes the place of `body` when the subject is erased; `null` without a subject. */
  tombstone: string | null
  /** Unique for the tenant, or `null`. */
  idempotencyKey: string | null
  /** A digest of what the host asked to emit, to tell a repeated event from another one; empty without a key. */
  fingerprint: string
}

/** An event that is on record. */
export interface RecordedEvent {
  /** Another than that of the event given, if its idempotency key was used before. */
  id: string
  /** How many deliveries were made for it, skipped ones not counted. */
  deliveries: number
  /** As it was recorded. */
  fingerprint: string
}

/** Which events to deliver once more. */
export interface ReplaySelection {
  /** `undelivered`: events whose last delivery to this webhook failed or was skipped. `all`: every event. */
  include: 'undelivered' | 'all'
  /** Only events of these types, out of those that the webhook subscribes to; `null` for all of these. */
  eventTypes: readonly string[] | null
  /** Only these events; `null` for no such limit. */
  eventIds: readonly string[] | null
  /** Only events recorded at this time or later; `null` for no such limit. */
  since: string | null
  /** Only events recorded at this time or earlier; `null` for no such limit. */
  until: string | null
  /** Events to queue at most; the oldest come first. */
  limit: number
}

/** What a replay has queued. */
export interface ReplayResult {
  /** New deliveries. */
  queued: number
  /** More events matched than `limit`. */
  truncated: boolean
}

/** How the queue stands. */
export interface DeliveryStats {
  /** Deliveries that wait for an attempt, now or later, leased and held back ones included. */
  pending: number
  /** Deliveries that could be attempted now, leased ones included; those held back are not. */
  due: number
  /** Deliveries that a worker holds. */
  leased: number
  /** How long the oldest due delivery has been due, in milliseconds; 0 if none is. */
  oldestDueMs: number
}

/**
 * Records events and keeps their deliveries, which are the queue. All times are those of the storage's own clock. A
 * delivery or webhook of another tenant is treated as one that does not exist.
 */
export interface DeliveryStore {
  /**
   * Records an event and, for every webhook of the tenant that subscribes to its type, one delivery: `pending` and due
   * now if the webhook is active, `skipped` otherwise. All or nothing, and kept once the promise resolves; with
   * `transaction`, the host's own, once that commits. An idempotency key that the tenant has used before records
   * nothing: the result is that of the first time, its fingerprint included. Of several at once with the same key,
   * exactly one records. Rejects for an event id that is taken, whoever's it is, and for a `transaction` that is not open,
   * which is any in a storage without transactions; nothing is recorded then.
   */
  record (tenantSlug: string, event: NewEvent, transaction?: unknown): Promise<RecordedEvent>

  /**
   * Claims pending deliveries that are due, of active webhooks that are not held back, across tenants. A delivery is
   * leased to one caller at a time; once its lease has run out, anybody may claim it again, with a greater fence.
   * Fair: endpoints take turns, and a webhook with many due deliveries does not delay another's. Of one webhook, first
   * attempts come before later ones, and both before replays; among equals the one due for longest comes first, then the
   * one recorded first. They are returned in this order.
   */
  claimDue (options: ClaimOptions): Promise<ClaimedDelivery[]>

  /**
   * Records attempts, which ended now, and moves their deliveries on. A result changes nothing if its lease was lost,
   * completed or given back. A lease is lost when somebody else claims the delivery, not when it runs out. A delivery
   * that stopped being pending under way keeps its status, unless the attempt delivered it.
   *
   * The webhook counts as failing from its first failed attempt until something is delivered, which also ends its being
   * held back. Health is judged once, after all results: by `rule`, or at once when it is gone, an active webhook becomes
   * `disabled`, with `updated_at` now, and its pending deliveries `skipped`. One that is not active is left as it is.
   * Something delivered in the same call saves a webhook from the rule, not from being gone. Returns a notice for each
   * webhook disabled by this call, and for each that has been failing for `warnAfterSeconds`, once until something is
   * delivered or it is made active.
   */
  complete (results: readonly AttemptResult[], rule: HealthRule): Promise<HealthNotice[]>

  /**
   * Gives leases back: their deliveries are due at once and no attempt is counted. One that was lost, completed or given
   * back is passed over.
   */
  release (leases: readonly Lease[]): Promise<void>

  /**
   * Whether a pending delivery of an active webhook is leased, or can be attempted within this time from now: it falls
   * due by then, and its webhook is no longer held back.
   */
  hasPending (withinMs: number): Promise<boolean>

  /** Pages through the log of one webhook; `[]` if there is no such webhook. */
  list (tenantSlug: string, webhookId: number, query: ListQuery<DeliveryFilter, DeliverySortField>): Promise<Delivery[]>
  /** How many deliveries of the webhook pass the filter; 0 if there is no such webhook. */
  count (tenantSlug: string, webhookId: number, filter: DeliveryFilter): Promise<number>
  /** One delivery of the webhook; `null` if it has none of this id. */
  find (tenantSlug: string, webhookId: number, id: number): Promise<DeliveryWithAttempts | null>

  /**
   * Queues events to a webhook once more, as new deliveries of the same events, due now. Events that are still pending
   * for this webhook are passed over. Of several replays at once, one queues an event. `null`, and nothing queued, if the
   * webhook does not exist or is not active.
   */
  replay (tenantSlug: string, webhookId: number, selection: ReplaySelection): Promise<ReplayResult | null>

  /**
   * Deletes up to `limit` deliveries that ended and were made more than `retentionDays` ago, with their attempts, then up
   * to `limit` events of that age that no delivery is left of, with their idempotency keys. Never a pending one. Returns
   * how many deliveries and events went; 0 means that nothing is left to delete.
   */
  prune (options: { retentionDays: number, limit: number }): Promise<number>

  /**
   * Erases what is kept about a subject: the body of each event of the tenant recorded with it becomes its tombstone,
   * and the event's pending deliveries become `cancelled`. All or nothing, and with `transaction`, the host's own, once
   * that commits. Returns how many events have that subject; a repeated call returns the same and changes nothing but
   * deliveries queued since. Rejects for a `transaction` that is not open, which is any in a storage without transactions,
   * and erases nothing then.
   */
  erase (tenantSlug: string, subject: string, transaction?: unknown): Promise<number>

  /** Tells what waits, what is due and what is leased, over all tenants. */
  stats (): Promise<DeliveryStats>

  /**
   * Calls `listener` when deliveries may have fallen due, also those recorded by another process where the storage can
   * tell. A hint alone: workers poll as well. Returns what ends it, which may be called twice.
   */
  onDue (listener: () => void): () => void
}
