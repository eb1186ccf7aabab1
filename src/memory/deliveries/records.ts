import type { AttemptError, DeliveryStatus, NewEvent, WebhookStatus } from '../../ports/index.js'
import { SortedQueue } from './sorted-queue.js'

/** Times in records are milliseconds since the epoch; they become text when they are shown. */
export interface EventRecord {
  /** Its body is replaced when its subject is erased. */
  event: NewEvent
  readonly tenantSlug: string
  readonly recordedAt: number
  /** Pending deliveries made when it was recorded. */
  deliveries: number
  /** Deliveries that exist, of whatever status. */
  deliveriesLeft: number
}

/** An attempt that was made. */
export interface AttemptRecord {
  readonly startedAt: number
  readonly durationMs: number
  readonly responseStatus: number | null
  readonly error: AttemptError | null
}

/**
 * - `none`: never claimed, completed or given back
 * - `held`: counts against its webhook, nobody else may claim it
 * - `expired`: its time is over or the delivery stopped being pending; a result for it still counts
 */
export type LeaseState = 'none' | 'held' | 'expired'

/** A delivery, and who holds it. */
export interface DeliveryRecord {
  readonly id: number
  readonly event: EventRecord
  readonly webhook: WebhookRecord
  readonly isReplay: boolean
  readonly createdAt: number
  readonly attempts: AttemptRecord[]
  status: DeliveryStatus
  /** Whether it waits for `nextAttemptAt`. */
  isScheduled: boolean
  /** Means something while the status is `pending`. */
  nextAttemptAt: number
  deliveredAt: number | null
  fence: number
  lease: LeaseState
  /** Means something while the lease is `held`. */
  leaseExpiresAt: number
}

/** The pending deliveries of one webhook that nobody holds. */
export interface Lanes {
  /** By the time of their next attempt. */
  readonly scheduled: SortedQueue<DeliveryRecord>
  readonly first: SortedQueue<DeliveryRecord>
  readonly retry: SortedQueue<DeliveryRecord>
  readonly replay: SortedQueue<DeliveryRecord>
}

/** A webhook with its secrets, its health and its deliveries. */
export interface WebhookRecord {
  readonly id: number
  readonly tenantSlug: string
  readonly createdAt: number
  name: string
  status: WebhookStatus
  isDeleted: boolean
  targetUrl: string
  eventTypes: readonly string[]
  updatedAt: number
  secret: string
  previousSecret: string | null
  previousSecretExpiresAt: number
  /** When an attempt failed first since something was delivered. */
  failingSince: number | null
  /** Deliveries given up since something was delivered. */
  failedDeliveries: number
  /** Whether the host was told that it is failing. */
  isWarned: boolean
  pausedUntil: number
  readonly lanes: Lanes
  /** Leases held. */
  leaseCount: number
  /** All deliveries, by ascending id. */
  log: DeliveryRecord[]
  /** The last delivery of each event, by event id. */
  readonly lastDeliveries: Map<string, DeliveryRecord>
}

/** The lanes of a webhook that has no deliveries yet. */
export function createLanes (): Lanes {
  const scheduled = new SortedQueue<DeliveryRecord>((delivery) => delivery.nextAttemptAt)
  return { scheduled, first: createLane(), retry: createLane(), replay: createLane() }
}

/** The lane in which a delivery waits. */
export function findLane ({ webhook: { lanes }, isScheduled, isReplay, attempts }: DeliveryRecord): SortedQueue<DeliveryRecord> {
  if (isScheduled) return lanes.scheduled
  if (isReplay) return lanes.replay
  return attempts.length === 0 ? lanes.first : lanes.retry
}

/** Forgets that the webhook has been failing. */
export function clearFailures (webhook: WebhookRecord): void {
  webhook.failingSince = null
  webhook.failedDeliveries = 0
  webhook.isWarned = false
  webhook.pausedUntil = 0
}

/** The secrets that are valid at `now`, the newest first. */
export function validSecrets (webhook: WebhookRecord, now: number): string[] {
  const { secret, previousSecret, previousSecretExpiresAt } = webhook
  return previousSecret !== null && now < previousSecretExpiresAt ? [secret, previousSecret] : [secret]
}

function createLane (): SortedQueue<DeliveryRecord> {
  return new SortedQueue(() => 0)
}
