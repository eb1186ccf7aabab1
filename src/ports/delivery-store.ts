import type {
  AttemptResult, ClaimOptions, ClaimedDelivery, Delivery, DeliveryFilter, DeliverySortField, DeliveryWithAttempts, Lease
} from './delivery.js'
import type { ClaimedNotice, HealthRule } from './health.js'
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
  /** Deliveries that wait for an attempt, now or later, leased and paused ones included. */
  pending: number
  /** Deliveries that could be attempted now, leased ones included; those of paused webhooks are not. */
  due: number
  /** Deliveries that a worker holds. */
  leased: number
  /** How long the oldest due delivery has been due, in milliseconds; 0 if none is. */
  oldestDueMs: number
  /** Whether there are more than the figure says, because counting stopped there; not below 10,000. */
  atLeast: { pending: boolean, due: boolean }
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
   * Claims pending deliveries that are due, of active webhooks that are not paused, across tenants. A delivery is
   * leased to one caller at a time; once its lease has expired, anybody may claim it again, with a greater fence.
   * Fair: endpoints take turns, and a webhook with many due deliveries does not delay another's. Of one webhook, first
   * attempts come before later ones, and both before replays; among equals the one recorded first comes first. They are
   * returned in this order. Deliveries that another transaction has locked are passed over.
   */
  claimDue (options: ClaimOptions): Promise<ClaimedDelivery[]>

  /**
   * Records attempts, which ended now, and moves their deliveries on. A result changes nothing if its lease was lost,
   * completed or given back. A lease is lost when somebody else claims the delivery, not when it expires. A delivery
   * that stopped being pending under way keeps its status, unless the attempt delivered it. Waits for nobody: a result
   * whose delivery another transaction has locked changes nothing yet, and its lease is returned, to be told again.
   *
   * The webhook counts as failing from its first failed attempt until something is delivered, which also ends its
   * pause. Health is judged once, after all results: by `rule`, or at once when it is gone, an active webhook becomes
   * `disabled`, with `updated_at` now, and its pending deliveries `skipped`. One that is not active is left as it is.
   * Something delivered in the same call saves a webhook from the rule, not from being gone. An attempt says nothing of
   * a webhook whose `target_url` is another one now. There is a notice for each webhook disabled by this call, and for
   * each that has been failing for `warnAfterSeconds`, once until something is delivered or it is made active.
   */
  complete (results: readonly AttemptResult[], rule: HealthRule): Promise<Lease[]>

  /**
   * Claims notices, the oldest first. One belongs to the caller for `leaseMs`; until it is confirmed, it can then be claimed
   * again.
   */
  claimNotices (options: { limit: number, leaseMs: number }): Promise<ClaimedNotice[]>

  /** Ends a notice, which the host has received. Nothing happens if it has ended. */
  confirmNotice (noticeId: number): Promise<void>

  /**
   * Gives leases back: their deliveries are due at once and no attempt is counted. One that was lost, completed or given
   * back is passed over.
   */
  release (leases: readonly Lease[]): Promise<void>

  /**
   * Whether a pending delivery of an active webhook is leased, or can be attempted within this time from now: it falls
   * due by then, and its webhook is no longer paused.
   */
  hasPending (withinMs: number): Promise<boolean>

  /**
   * Pages through the log of one webhook; `[]` if there is no such webhook. Of several sort items the first one decides:
   * no two deliveries have the same id.
   */
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
   * Deletes deliveries that ended and were made more than `retentionDays` ago, with their attempts, and the events of that
   * age that no delivery is left of, with their idempotency keys: those of some `limit` events at a time. Never a pending
   * delivery. Returns how many deliveries and events went; 0 means that nothing is left to delete.
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
   * tell. A hint alone: workers poll as well. Calls `onFault` when hints of other processes may be missed until the
   * storage has mended it by itself. Returns what ends it, which may be called twice. Throws if it can never work.
   */
  onDue (listener: () => void, onFault?: (error: unknown) => void): () => void
}
