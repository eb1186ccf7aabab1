import type {
  Attempt, AttemptDetail, AttemptError, Creator, DeliveryStatus, EventFilters, NewEvent, StoredHeaders, WebhookStatus
} from '../../../core/ports/index.js'
import { SortedQueue } from '../sorting.js'

/** A recorded event. Times in records are milliseconds since the epoch. */
export interface EventRecord {
  /** Erasing its subject replaces the body. */
  event: NewEvent
  tenant: string
  readonly position: number
  readonly recordedAt: number
  deliveries: number
  /** Number of existing deliveries, of any status. */
  deliveriesLeft: number
}

/**
 * - `none`: not claimed, or already completed or released
 * - `held`: counts towards `perEndpoint`, and no other caller can claim the delivery
 * - `stopped`: counts towards `perEndpoint`, but the delivery stopped being pending
 * - `expired`: a result still counts
 */
type LeaseState = 'none' | 'held' | 'stopped' | 'expired'

export interface DeliveryRecord {
  readonly id: number
  readonly event: EventRecord
  readonly webhook: WebhookRecord
  readonly isReplay: boolean
  readonly createdAt: number
  /** Erasing the event's subject removes their excerpts. */
  readonly attempts: Attempt[]
  status: DeliveryStatus
  /** Whether it waits for `nextAttemptAt`. */
  isScheduled: boolean
  /** Valid while the status is `pending`. */
  nextAttemptAt: number
  deliveredAt: number | null
  fence: number
  lease: LeaseState
  /** Valid while the lease is `held` or `stopped`. */
  leaseExpiresAt: number
}

/** The pending deliveries of one webhook that are not leased. */
interface Lanes {
  /** Not due yet, by the time of the next attempt. */
  readonly scheduled: SortedQueue<DeliveryRecord>
  readonly first: SortedQueue<DeliveryRecord>
  readonly retry: SortedQueue<DeliveryRecord>
  readonly replay: SortedQueue<DeliveryRecord>
}

/** What an agent's subscription has besides a webhook. */
interface SubscriptionRecord {
  readonly id: string
  readonly principal: string
  expiresAt: number
  /** `fill` has read the tenant's events up to this position. */
  position: number
  /** When `fill` last queued something. */
  filledAt: number
  verifiedAt: number | null
}

/** A webhook with its secrets, its health and its deliveries. */
export interface WebhookRecord {
  readonly id: number
  tenant: string
  tenantSlug: string
  readonly createdBy: Creator
  readonly createdAt: number
  /** `null` for a webhook. */
  readonly subscription: SubscriptionRecord | null
  name: string
  status: WebhookStatus
  isDeleted: boolean
  targetUrl: string
  eventTypes: readonly string[]
  updatedAt: number
  secret: string
  previousSecret: string | null
  previousSecretExpiresAt: number
  headers: StoredHeaders | null
  filters: EventFilters | null
  changed: readonly string[] | null
  contact: string | null
  /** Time of the first failed attempt since the last success. */
  failingSince: number | null
  failedDeliveries: number
  /** The last failed attempt since the last success. */
  lastFailure: { error: AttemptError | null, detail: AttemptDetail | null, responseStatus: number | null } | null
  disabledReason: 'gone' | 'failing' | null
  isWarned: boolean
  pausedUntil: number
  readonly lanes: Lanes
  leaseCount: number
  /** All deliveries, by ascending id. */
  log: DeliveryRecord[]
  /** The last delivery of each event, by event id. */
  readonly lastDeliveries: Map<string, DeliveryRecord>
}

/** Returns the sequence of a tenant's next event: the microseconds since the epoch, but more than the last one. */
export function nextSequence (last: number, nowMs: number): number {
  return Math.max(last + 1, Math.floor(nowMs * 1000))
}

/** Returns an event with its sequence in its texts. */
export function addSequence (event: NewEvent, sequence: number): NewEvent {
  const { sequenceAt: at = null, body, tombstone } = event
  if (at === null) return event
  const add = (text: string): string => text.slice(0, at) + String(sequence).padStart(16, '0') + text.slice(at)
  return { ...event, body: add(body), tombstone: tombstone === null ? null : add(tombstone) }
}

export function hasSubject ({ event: { subject, otherSubjects = [] } }: EventRecord, wanted: string): boolean {
  return subject === wanted || otherSubjects.includes(wanted)
}

export function createLanes (): Lanes {
  const scheduled = new SortedQueue<DeliveryRecord>((delivery) => delivery.nextAttemptAt)
  return { scheduled, first: createLane(), retry: createLane(), replay: createLane() }
}

export function findLane ({
  webhook: { lanes }, isScheduled, isReplay, attempts
}: DeliveryRecord): SortedQueue<DeliveryRecord> {
  if (isScheduled) return lanes.scheduled
  if (isReplay) return lanes.replay
  return attempts.length === 0 ? lanes.first : lanes.retry
}

/** Returns whether a webhook is failing, or was disabled because it failed. */
export function isFailing ({ status, failingSince }: WebhookRecord): boolean {
  return status === 'disabled' || (status === 'active' && failingSince !== null)
}

/** Returns whether it is a webhook, or a subscription that has not expired. */
export function isLive ({ subscription }: WebhookRecord, now: number): boolean {
  return subscription === null || now < subscription.expiresAt
}

/** Returns whether an event was erased, or erasing it would change nothing. */
export function isErased ({ event: { body, tombstone } }: EventRecord): boolean {
  return body === (tombstone ?? '')
}

export function clearFailures (webhook: WebhookRecord): void {
  webhook.failingSince = null
  webhook.failedDeliveries = 0
  webhook.lastFailure = null
  webhook.isWarned = false
  webhook.pausedUntil = 0
}

/** Returns the secrets that are valid at `now`, newest first. */
export function validSecrets (webhook: WebhookRecord, now: number): string[] {
  const { secret, previousSecret, previousSecretExpiresAt } = webhook
  return previousSecret !== null && now < previousSecretExpiresAt ? [secret, previousSecret] : [secret]
}

function createLane (): SortedQueue<DeliveryRecord> {
  return new SortedQueue(() => 0)
}
