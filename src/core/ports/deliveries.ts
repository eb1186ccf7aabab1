import type { ListQuery } from './lists.js'
import type { EventFilters } from './event-filters.js'
import type { AnswerToStore, StoresAnswers } from './idempotency.js'

/**
 * - `pending`: waiting for its next attempt
 * - `delivered`: the endpoint returned 2xx
 * - `failed`: given up, no further attempts
 * - `skipped`: the webhook was not active
 * - `cancelled`: the webhook was deleted or the subject erased
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'skipped' | 'cancelled'

/** Why an attempt failed. `http_status`: a response status outside 200..299. */
export type AttemptError = 'timeout' | 'connection' | 'tls' | 'blocked' | 'http_status'

/** The known causes of the errors `tls` and `connection`. docs/webhooks.md has their remedies. */
export type AttemptDetail =
  | 'certificate_expired' | 'certificate_not_yet_valid' | 'certificate_wrong_name' | 'certificate_self_signed'
  | 'certificate_incomplete' | 'certificate_untrusted' | 'client_certificate_required'
  | 'tls_version' | 'tls_rejected' | 'tls_missing' | 'http2_only'
  | 'unknown_host' | 'refused' | 'reset' | 'unreachable' | 'invalid_response'

/** A delivery in the log. */
export interface Delivery {
  id: number
  event_id: string
  event_type: string
  status: DeliveryStatus
  /** Attempts made so far. */
  attempt_count: number
  /** Of the last attempt; `null` without an attempt or a response. */
  response_status: number | null
  /** Of the last attempt; `null` without an attempt or after a success. */
  error: AttemptError | null
  /** The cause of that error; `null` if it is unknown. */
  detail: AttemptDetail | null
  /** `null` unless the delivery is pending. */
  next_attempt_at: string | null
  created_at: string
  /** `null` unless the delivery is delivered. */
  delivered_at: string | null
}

/** An attempt in the log. */
export interface Attempt {
  started_at: string
  duration_ms: number
  /** `null` without a response. */
  response_status: number | null
  /** `null` if it succeeded. */
  error: AttemptError | null
  /** The cause of the error; `null` if it is unknown. */
  detail: AttemptDetail | null
  /** The beginning of the response; `null` if it was not stored, or was erased. */
  response_excerpt: string | null
}

/** A delivery with its body and all its attempts. */
export interface DeliveryWithAttempts extends Delivery {
  /** The body to send: as recorded, byte for byte, or the event's tombstone. */
  body: string
  /** In the order they were made. */
  attempts: Attempt[]
}

/** Selects deliveries of a webhook; all given conditions must match. */
export interface DeliveryFilter {
  /** Only deliveries with this status. */
  status?: DeliveryStatus
  /** Only deliveries of events of exactly this type. */
  eventType?: string
  /** Only deliveries of this event. */
  eventId?: string
}

/** Fields to sort deliveries by. Both sort by creation, because ids are assigned in that order. */
export type DeliverySortField = 'id' | 'created_at'

/** How many deliveries to claim, and for how long. */
export interface ClaimOptions {
  /** Maximum number of deliveries to claim, 1 or more. */
  limit: number
  /**
   * Maximum number of concurrent leases per webhook, across all workers. The lease of a delivery that stops being
   * pending counts until its attempt is recorded, or until it expires.
   */
  perEndpoint: number
  /**
   * Maximum number of leases of a webhook of which no other caller has a lease. The caller itself sends to at most
   * `perEndpoint` at a time. @default perEndpoint
   */
  aheadPerEndpoint?: number
  /** The caller's open leases, which do not belong to another caller. @default none */
  leases?: readonly Lease[]
  /**
   * Shares places between tenants: a tenant gets a lease only while more places are free than it holds. Each lease
   * takes one. @default no shares
   */
  places?: { free: number, heldBy: ReadonlyMap<string, number> }
  /** Duration of the lease, in milliseconds. */
  leaseMs: number
  /** The worker's option `delivery.environment`. @default none */
  environment?: string | null
}

/** Identifies a claim. */
export interface Lease {
  webhookId: number
  deliveryId: number
  /** Increases with every claim of the delivery. */
  fence: number
}

/** A delivery with everything needed to attempt it. */
export interface ClaimedDelivery extends Lease {
  /** The tenant's id; without the option `tenantId`, its slug. */
  tenantId: string
  /** The tenant's name when the webhook was created or the tenant was renamed. */
  tenantSlug: string
  /** The current address, not the one at the time of recording. */
  targetUrl: string
  /** The valid secrets, newest first. */
  secrets: string[]
  /** The sealed headers of the webhook; `null` without any. */
  headers: string | null
  eventId: string
  eventType: string
  /** The recorded body, byte for byte, or the event's tombstone. */
  body: string
  /** As recorded with the event; `null` without one. */
  traceParent: string | null
  /**
   * For an agent's subscription: its id and filters, and its watermark as a position in the tenant's feed, as of the
   * claim. @default a webhook
   */
  subscription?: { id: string, position: string, filters: EventFilters | null } | null
  /** Attempts made before this one. */
  attemptCount: number
  /** Whether an attempt to the webhook has failed since its last success. */
  isFailing: boolean
  /**
   * The storage's time when it returned the delivery, in milliseconds since the epoch. A worker whose clock differs by
   * more than a minute signs with the storage's time. @default the worker's time
   */
  claimedAt?: number
}

interface AttemptOutcome extends Lease {
  /** The claim's address. The attempt affects its webhook only if the webhook still has this address. */
  targetUrl: string
  durationMs: number
  /** `null` without a response. */
  responseStatus: number | null
  /** Stored in the log as given. `null` for a success; notices show `http_status` for a failure without an error. */
  error: AttemptError | null
  /** The cause of the error, stored in the log as given. @default unknown */
  detail?: AttemptDetail | null
  /** Stored in the log as given: well-formed text without NUL. `null` for none. */
  responseExcerpt: string | null
}

/** The result of an attempt, and the next step. */
export type AttemptResult =
  | AttemptOutcome & {
    outcome: 'delivered'
    /** As for a failure. The webhook then has been failing since now. @default false */
    isGone?: boolean
  }
  | AttemptOutcome & {
    outcome: 'retry'
    /** Milliseconds from now to the next attempt. */
    retryInMs: number
    /** Milliseconds to pause the webhook for; 0 does not pause it. */
    pauseMs: number
  }
  | AttemptOutcome & {
    outcome: 'failed'
    /** Whether the endpoint is gone or asked for no more events, which disables the webhook immediately. */
    isGone: boolean
  }
  | AttemptOutcome & {
    /** This process could reach no endpoint, for example because its proxy is down. The attempt is not recorded. */
    outcome: 'postponed'
    /** Milliseconds from now until the delivery is due again. */
    retryInMs: number
  }

/** Called when deliveries may have become due. Resolves to whether it then claimed everything that was due. */
export type DueListener = () => void | Promise<boolean>

/** The result of recording attempts and claiming. */
export interface RecordedAndClaimed {
  /** The leases whose results were not applied, as of `recordAttempts`. */
  later: Lease[]
  /** As of `claimDue`. */
  claimed: ClaimedDelivery[]
}

/** When a failing webhook becomes `disabled`. Both limits must be reached, without a successful delivery in between. */
export interface DisableRule {
  /** Seconds since the first failed attempt. */
  failingForSeconds: number
  /** Number of failed deliveries. */
  failedDeliveries: number
}

/** The disable rule, and when to warn before it applies. */
export interface HealthRule extends DisableRule {
  /** Seconds since the first failed attempt, less than `failingForSeconds`. */
  warnAfterSeconds: number
  /** The types of events to record about the health of webhooks. @default none */
  eventTypes?: readonly HealthEventType[]
}

/** An event about the health of a webhook, whose `data` is `{ webhook_id }`. */
export type HealthEventType = 'webhook.failing' | 'webhook.disabled'

/** A change in the health of a webhook, reported to the host. */
export interface HealthNotice {
  /**
   * `failing`: will be disabled if it keeps failing. `disabled`: disabled by the rule. `gone`: disabled because the
   * endpoint is gone or asked for it.
   */
  kind: 'failing' | 'disabled' | 'gone'
  /** The tenant's id; without the option `tenantId`, its slug. */
  tenantId: string
  /** The tenant's name when the webhook was created or the tenant was renamed. */
  tenantSlug: string
  webhookId: number
  /** Time of the first failed attempt since the last success; the current time if the same call also has a success. */
  failingSince: string
  /** Failed deliveries since then. */
  failedDeliveries: number
  /** Error of the last failed attempt, or of the one that reported the endpoint gone; `http_status` if it has none. */
  lastError: AttemptError
  /** Its cause, of the same attempt; `null` if it is unknown. */
  lastDetail: AttemptDetail | null
  /** Of the same attempt; `null` without a response. */
  lastResponseStatus: number | null
  /** The webhook's contact at that time; `null` without one. */
  contact: string | null
}

/** A notice for the host, kept until it is confirmed. */
export interface ClaimedNotice {
  noticeId: number
  notice: HealthNotice
}

/** An event to record. */
export interface NewEvent {
  /** Unique across all tenants; sent as `webhook-id` with every delivery. */
  id: string
  type: string
  /** The exact JSON text to sign and send, but for its sequence. `claimDue` returns it byte for byte. */
  body: string
  /**
   * Where to insert the event's sequence into `body` and `tombstone`: after so many characters, which are the same in
   * both. A sequence has 16 digits and is greater than that of each of the tenant's earlier events in the order of the
   * feed. It reveals nothing about other tenants.
   * @default nothing is inserted
   */
  sequenceAt?: number | null
  /** The first subject of the event, such as `candidate:42`, or `null`. */
  subject: string | null
  /** Its further subjects, without duplicates. @default none */
  otherSubjects?: readonly string[]
  /** Replaces `body` when the subject is erased; `null` without a subject. */
  tombstone: string | null
  /** Unique within the tenant, or `null`. */
  idempotencyKey: string | null
  /** The W3C `traceparent` of the emit, opaque text of at most 100 characters. @default none */
  traceParent?: string | null
  /** A digest of the emitted event, to detect a different event with the same key; empty without a key. */
  fingerprint: string
}

/** A recorded event. */
export interface RecordedEvent {
  /** The id of the first event if the idempotency key was used before. */
  id: string
  /** Number of deliveries created for it, excluding skipped ones. */
  deliveries: number
  /** As recorded. */
  fingerprint: string
}

/** An event about a subject, with its deliveries. */
export interface SubjectEvent {
  /** Its position in the storage: a positive integer that increases with each event. */
  position: number
  eventId: string
  eventType: string
  recordedAt: string
  /** Whether a subject of the event was erased. */
  isErased: boolean
  /** Its deliveries, by ascending id. */
  deliveries: SubjectDelivery[]
}

/** A delivery of an event about a subject. */
export interface SubjectDelivery {
  deliveryId: number
  webhookId: number
  /** The current name; `null` if the webhook was deleted. */
  webhookName: string | null
  /** The current address; `null` if the webhook was deleted. */
  targetUrl: string | null
  status: DeliveryStatus
  /** `null` unless the delivery is delivered. */
  deliveredAt: string | null
  /** In the order they were made. An endpoint that did not return 2xx may still have received the event. */
  attempts: SubjectAttempt[]
}

/** An attempt to send an event about a subject. */
export interface SubjectAttempt {
  startedAt: string
  /** `null` without a response. */
  responseStatus: number | null
  /** `null` if it succeeded. */
  error: AttemptError | null
}

/** Selects the events to replay. */
export interface ReplaySelection {
  /** `undelivered`: events whose last delivery to this webhook failed or was skipped. `all`: every event. */
  include: 'undelivered' | 'all'
  /** Only events of these types, among those that the webhook subscribes to; `null` for all of them. */
  eventTypes: readonly string[] | null
  /** Only these events; `null` for all events. */
  eventIds: readonly string[] | null
  /** Only events recorded at this time or later; `null` for no limit. */
  since: string | null
  /** Only events recorded at this time or earlier; `null` for no limit. */
  until: string | null
  /** Maximum number of events to queue, oldest first. */
  limit: number
}

/** The result of a replay. */
export interface ReplayResult {
  /** Number of new deliveries. */
  queued: number
  /** Whether more events matched than `limit`. */
  truncated: boolean
}

/** The result of erasing a subject. */
export interface ErasedEvents {
  /** Number of events with the subject. */
  events: number
  /** Whether other events with the subject still have to be erased. */
  truncated: boolean
}

/** The state of the queue. */
export interface DeliveryStats {
  /** Deliveries waiting for an attempt, now or later, including leased, paused and suspended ones. */
  pending: number
  /** Deliveries that could be attempted now, including leased ones, without those of paused and suspended webhooks. */
  due: number
  /** Deliveries leased by a worker. */
  leased: number
  /** Milliseconds since the oldest due delivery became due; 0 if none is due. */
  oldestDueMs: number
  /** Whether the real number is higher, because counting stopped there. Counting never stops below 10,000. */
  atLeast: { pending: boolean, due: boolean }
  /** Suspended tenants, whose deliveries wait until they are resumed. */
  suspendedTenants: number
}

/** The state of the deliveries of one tenant. */
export interface TenantDeliveryStats {
  /** Deliveries waiting for an attempt, now or later, including leased, paused and suspended ones. */
  pending: number
  /** Milliseconds since the oldest due delivery became due, without paused and suspended ones; 0 if none is due. */
  oldestDueMs: number
  /** Webhooks that are failing, or that the service disabled. */
  failing: number
  /** Deliveries delivered in the last hour. */
  delivered: number
  /** Deliveries that failed in the last hour. */
  failed: number
  /** Whether the real number is higher, because counting stopped there. Counting never stops below 10,000. */
  atLeast: { pending: boolean, delivered: boolean, failed: boolean }
  /** When the tenant was suspended, as RFC 3339; `null` if it is not. */
  suspendedSince: string | null
}

/**
 * Records events and stores their deliveries, which are the queue. All times come from the storage's own clock. A
 * delivery or webhook of another tenant is treated as if it did not exist.
 */
export interface DeliveryStore extends StoresAnswers {
  /**
   * Records an event and one delivery for every webhook of the tenant that subscribes to its type and whose filters and
   * `changed` it matches: `pending` and due now if the webhook is active, otherwise `skipped`. All or nothing, and
   * durable once the promise resolves. With the host's `transaction`, it is durable once that commits. If the tenant
   * used the idempotency key before, records nothing and returns the first result, including its fingerprint. Of
   * several concurrent calls with the same key, exactly one records. Rejects and records nothing if an event of any
   * tenant already has this id, if `transaction` is not open, and with `tenant_resting` while the tenant rests. A
   * storage without transactions rejects any `transaction`.
   */
  record(tenant: string, event: NewEvent, transaction?: unknown): Promise<RecordedEvent>

  /**
   * Claims due deliveries of active webhooks that are not paused, across all tenants that are not suspended. A delivery
   * is leased to one caller at a time; once its lease has expired, any caller may claim it again, with a greater fence.
   * After a pause, a webhook has at most one lease until its next success. Fair: tenants take turns, then the webhooks
   * of each tenant, and a webhook with many due deliveries does not delay others. For one webhook, first attempts come
   * before retries, and both before replays; otherwise the delivery recorded first comes first. The result is in this
   * order. Deliveries locked by another transaction are not claimed. Rejects with `held` if the storage has `holds` and
   * must not send for this worker. A storage without an environment takes that of the first claim that passes one.
   */
  claimDue(options: ClaimOptions): Promise<ClaimedDelivery[]>

  /**
   * Records attempts that have just finished, and updates their deliveries. A result is ignored if its lease was lost,
   * completed or released. A lease is lost when another caller claims the delivery, not when it expires; if the tenant
   * is suspended, an expired lease may be lost. A delivery that stopped being pending during its attempt keeps its
   * status, unless the attempt delivered it. If it was cancelled, the response excerpt is not stored, because the
   * subject may have been erased. Never waits for a lock: if another transaction has locked a delivery, its result is
   * not applied, and its lease is returned so that the caller can try again. `postponed` ends the lease without an
   * attempt: only the time at which the delivery is due changes, and it then waits among the retries.
   *
   * A webhook counts as failing from its first failed attempt until its next success, which also ends its pause. Health
   * is evaluated once, after all results: an active webhook becomes `disabled` by `rule`, or immediately if it is gone;
   * its `updated_at` is set to now and its pending deliveries become `skipped`. A webhook that is not active does not
   * change. A success in the same call keeps the rule from applying, but a webhook that is gone is still disabled. An
   * attempt to an old `target_url` does not affect the webhook. Creates a notice for each webhook that this call
   * disables, and for each that has been failing for `warnAfterSeconds`, once until its next success or until it is
   * made active. With each notice, atomically, it records an event of its tenant if `rule.eventTypes` has its type:
   * `webhook.failing`, otherwise `webhook.disabled`. The event has no subject. It is never delivered to the webhook
   * that it is about, and no `replay` to that webhook includes it.
   */
  recordAttempts(results: readonly AttemptResult[], rule: HealthRule): Promise<Lease[]>

  /**
   * Records attempts, then claims, like the two methods above, in one round trip if the storage can. Records even if it
   * must not send, and then claims nothing. If it rejects, any part of it may have happened.
   */
  recordAndClaim(
    results: readonly AttemptResult[], rule: HealthRule, options: ClaimOptions
  ): Promise<RecordedAndClaimed>

  /**
   * Claims notices, oldest first. A notice is leased to the caller for `leaseMs`; after that it can be claimed again,
   * unless it was confirmed. Returns `[]` if the storage has `holds` and must not send for this process.
   */
  claimNotices(options: {
    limit: number
    leaseMs: number
    environment?: string | null
    /** As in `HealthRule`, for webhooks that `recordAttempts` left to this call. @default none */
    eventTypes?: readonly HealthEventType[]
  }): Promise<ClaimedNotice[]>

  /** Confirms a notice that the host has received. Does nothing if it was already confirmed or dropped. */
  confirmNotice(noticeId: number): Promise<void>

  /**
   * Releases leases: their deliveries are due immediately, and no attempt is counted. Ignores leases that were lost,
   * completed or released.
   */
  release(leases: readonly Lease[]): Promise<void>

  /**
   * Returns whether a pending delivery of an active webhook is leased, or can be attempted within this time: it is due
   * by then, its webhook is not paused, and its tenant is not suspended.
   */
  hasPending(withinMs: number): Promise<boolean>

  /**
   * Pages through the log of one webhook; `[]` if the webhook does not exist. Only the first sort item matters, because
   * ids are unique.
   */
  list(tenant: string, webhookId: number, query: ListQuery<DeliveryFilter, DeliverySortField>): Promise<Delivery[]>
  /**
   * Counts the deliveries of the webhook that pass the filter; 0 if the webhook does not exist. Counting may stop at
   * `limit`.
   */
  count(tenant: string, webhookId: number, filter: DeliveryFilter, options?: { limit?: number }): Promise<number>
  /**
   * Returns one delivery of the webhook; `null` if it has none with this id. With `omitBody`, `body` is `''`: it is not
   * read.
   */
  find(
    tenant: string, webhookId: number, id: number, options?: { omitBody?: boolean }
  ): Promise<DeliveryWithAttempts | null>

  /**
   * Queues events for a webhook again, as new deliveries of the same events, due now. Does not queue events that are
   * still pending for this webhook, nor events that do not match its current filters and `changed`. Of several
   * concurrent replays, only one queues an event. Returns `null` and queues nothing if the webhook does not exist or is
   * not active.
   */
  replay(
    tenant: string, webhookId: number, selection: ReplaySelection, answer?: AnswerToStore<ReplayResult>
  ): Promise<ReplayResult | null>
  /** Returns what `replay` would return now, and changes nothing. */
  countReplay(tenant: string, webhookId: number, selection: ReplaySelection): Promise<ReplayResult | null>

  /**
   * Retries a delivery of the webhook, and returns the delivery that will be attempted. A pending delivery becomes due
   * now, and its next attempt counts as usual; one that is already due, leased or locked by another transaction does
   * not change. A finished delivery does not change: its event is queued again, as by `replay`, even if the webhook no
   * longer subscribes to its type or the event does not match its filters; if the event is already pending for this
   * webhook, that delivery is retried. Of several concurrent calls, only one queues an event. Returns `null` and
   * changes nothing if the webhook is not active or has no delivery with this id.
   */
  retry(
    tenant: string, webhookId: number, id: number, answer?: AnswerToStore<Delivery>
  ): Promise<Delivery | null>

  /**
   * Deletes finished deliveries created more than `retentionDays` ago, with their attempts, and events of that age
   * without deliveries, with their idempotency keys. Handles about `limit` events per call. Deletes a pending delivery
   * only if its tenant is suspended. A storage that also keeps API keys deletes those that ended over a year ago,
   * unless a webhook names them as its creator. Returns the number of deleted rows; 0 means there is nothing left to
   * delete.
   */
  prune(options: { retentionDays: number; limit: number }): Promise<number>

  /**
   * Erases a subject. Each of the tenant's events with this subject, first or further, gets its tombstone as its body,
   * and its pending deliveries become `cancelled`. The response excerpts of all its deliveries are erased too, because
   * they may repeat the body. All or nothing. With the host's `transaction`, it takes effect once that commits. A
   * repeated call returns the same number and changes only deliveries queued since. A call can stop at a limit, such as
   * 200,000 events. It starts with events that are not erased or have pending deliveries, oldest first, and the next
   * call continues. Rejects and erases nothing if `transaction` is not open. A storage without transactions rejects any
   * `transaction`.
   */
  erase(tenant: string, subject: string, transaction?: unknown): Promise<ErasedEvents>

  /**
   * Lists at most `limit` of the tenant's events with this subject, first or further, whose position is greater than
   * `after`, by ascending position. Includes erased events and deliveries of deleted webhooks until they are pruned.
   */
  listSubjectEvents(tenant: string, subject: string, options: { after: number; limit: number }): Promise<SubjectEvent[]>

  /** Counts pending, due and leased deliveries of all tenants. */
  stats(): Promise<DeliveryStats>
  /**
   * Counts the pending deliveries of a tenant, its failing webhooks, and the deliveries finished in the last hour.
   * Deleted webhooks do not count. Everything is 0 for an unknown tenant.
   */
  tenantStats(tenant: string): Promise<TenantDeliveryStats>

  /**
   * Calls `listener` when deliveries may have become due, including those recorded by another process if the storage
   * can detect them. A hint only: workers also poll. If the listener resolves to `true`, it has then claimed everything
   * that was due, and the storage need not call others. Calls `onFault` when hints from other processes may be missed
   * until the storage has recovered. Returns a function that stops listening, which can be called twice. Throws if it
   * can never work.
   */
  onDue(listener: DueListener, onFault?: (error: unknown) => void): () => void
}
