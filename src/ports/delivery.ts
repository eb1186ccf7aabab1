/**
 * - `pending`: waits for its next attempt
 * - `delivered`: answered with 2xx
 * - `failed`: given up
 * - `skipped`: the webhook was not active
 * - `cancelled`: the webhook was deleted
 */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'skipped' | 'cancelled'

/** Why an attempt failed. `http_status` stands for every answer outside 200..299. */
export type AttemptError = 'timeout' | 'connection' | 'tls' | 'blocked' | 'http_status'

/** A delivery as its log shows it. */
export interface Delivery {
  id: number
  event_id: string
  event_type: string
  status: DeliveryStatus
  /** Attempts made so far. */
  attempt_count: number
  /** Of the last attempt; `null` if there was none or no answer came. */
  response_status: number | null
  /** Of the last attempt; `null` if there was none or it succeeded. */
  error: AttemptError | null
  /** `null` unless the delivery is pending. */
  next_attempt_at: string | null
  created_at: string
  /** `null` unless the delivery is delivered. */
  delivered_at: string | null
}

/** An attempt as the log shows it. */
export interface Attempt {
  started_at: string
  duration_ms: number
  /** `null` if no answer came. */
  response_status: number | null
  /** `null` if it succeeded. */
  error: AttemptError | null
}

/** A delivery with all that was tried. */
export interface DeliveryWithAttempts extends Delivery {
  /** In the order they were made. */
  attempts: Attempt[]
}

/** Which deliveries of a webhook; all of what is given must hold. */
export interface DeliveryFilter {
  /** Only deliveries of this status. */
  status?: DeliveryStatus
  /** Only deliveries of events of exactly this type. */
  eventType?: string
  /** Only deliveries of this event. */
  eventId?: string
}

/** What deliveries are sorted by. Both stand for the order in which deliveries were created, which is that of their ids. */
export type DeliverySortField = 'id' | 'created_at'

/** How much to claim, and for how long. */
export interface ClaimOptions {
  /** Deliveries to claim at most, 1 or more. */
  limit: number
  /**
   * Deliveries of one webhook that may be leased at once, over all workers. One that stopped being pending under way is
   * not counted.
   */
  perEndpoint: number
  /** How long the lease lasts, in milliseconds. */
  leaseMs: number
}

/** Names a claim. */
export interface Lease {
  webhookId: number
  deliveryId: number
  /** Grows with every claim of the delivery. */
  fence: number
}

/** A delivery with all that is needed to attempt it. */
export interface ClaimedDelivery extends Lease {
  tenantSlug: string
  /** As it is now, not as it was when the event was recorded. */
  targetUrl: string
  /** The secrets that are valid now, the newest first. */
  secrets: string[]
  eventId: string
  eventType: string
  /** As recorded, byte for byte, or the event's tombstone. */
  body: string
  /** Attempts made before this one. */
  attemptCount: number
  /** Whether an attempt to the webhook has failed since something was delivered to it last. */
  isFailing: boolean
}

interface AttemptOutcome extends Lease {
  /** Of the claim: what the attempt says of its webhook counts while this is its address. */
  targetUrl: string
  durationMs: number
  /** `null` if no answer came. */
  responseStatus: number | null
  /** Logged as given. `null` for what was delivered; of a failure, it stands for `http_status` in notices. */
  error: AttemptError | null
}

/** How an attempt ended, and what follows. */
export type AttemptResult =
  | AttemptOutcome & { outcome: 'delivered' }
  | AttemptOutcome & {
    outcome: 'retry'
    /** From now to the next attempt. */
    retryInMs: number
    /** Pauses the webhook for so long; 0 for not at all. */
    pauseMs: number
  }
  | AttemptOutcome & {
    outcome: 'failed'
    /** The endpoint says that it is gone: the webhook becomes `disabled` at once. */
    isGone: boolean
  }
