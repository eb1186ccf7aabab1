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

/** A delivery as the log shows it. */
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
  /** `null` without a response. */
  response_status: number | null
  /** `null` if it succeeded. */
  error: AttemptError | null
  /** The beginning of the response; `null` if it was not kept, or was erased. */
  response_excerpt: string | null
}

/** A delivery with its body and all its attempts. */
export interface DeliveryWithAttempts extends Delivery {
  /** The body to send: as recorded, byte for byte, or the event's tombstone. */
  body: string
  /** In the order they were made. */
  attempts: Attempt[]
}

/** Selects deliveries of a webhook; all conditions given must hold. */
export interface DeliveryFilter {
  /** Only deliveries with this status. */
  status?: DeliveryStatus
  /** Only deliveries of events of exactly this type. */
  eventType?: string
  /** Only deliveries of this event. */
  eventId?: string
}

/** Fields to sort deliveries by. Both give the order of creation, because ids are assigned in that order. */
export type DeliverySortField = 'id' | 'created_at'

/** How many deliveries to claim, and for how long. */
export interface ClaimOptions {
  /** Maximum number of deliveries to claim, 1 or more. */
  limit: number
  /**
   * Maximum number of leases of one webhook at the same time, over all workers. A delivery that stopped being pending
   * during its attempt does not count.
   */
  perEndpoint: number
  /** Duration of the lease, in milliseconds. */
  leaseMs: number
  /** The option `delivery.environment` of the worker. @default none */
  environment?: string | null
}

/** Identifies a claim. */
export interface Lease {
  webhookId: number
  deliveryId: number
  /** Grows with every claim of the delivery. */
  fence: number
}

/** A delivery with everything needed to attempt it. */
export interface ClaimedDelivery extends Lease {
  /** The tenant's id: its slug without the option `tenantId`. */
  tenantId: string
  /** The tenant's name when the webhook was created or the tenant was renamed. */
  tenantSlug: string
  /** The current address, not the one at the time of recording. */
  targetUrl: string
  /** The secrets that are valid now, newest first. */
  secrets: string[]
  /** The sealed headers of the webhook; `null` without any. */
  headers: string | null
  eventId: string
  eventType: string
  /** The recorded body, byte for byte, or the event's tombstone. */
  body: string
  /** As recorded with the event; `null` without one. */
  traceParent: string | null
  /** Attempts made before this one. */
  attemptCount: number
  /** Whether an attempt to the webhook has failed since its last success. */
  isFailing: boolean
}

interface AttemptOutcome extends Lease {
  /** The address of the claim. The attempt affects its webhook only while this is still its address. */
  targetUrl: string
  durationMs: number
  /** `null` without a response. */
  responseStatus: number | null
  /** Logged as given. `null` for a success; notices show `http_status` for a failure without one. */
  error: AttemptError | null
  /** Logged as given: well-formed text without NUL. `null` if it is not kept. */
  responseExcerpt: string | null
}

/** The result of an attempt, and what follows. */
export type AttemptResult =
  | AttemptOutcome & { outcome: 'delivered' }
  | AttemptOutcome & {
    outcome: 'retry'
    /** Milliseconds from now to the next attempt. */
    retryInMs: number
    /** Milliseconds to pause the webhook for; 0 does not pause it. */
    pauseMs: number
  }
  | AttemptOutcome & {
    outcome: 'failed'
    /** Whether the endpoint is gone, which makes the webhook `disabled` at once. */
    isGone: boolean
  }
