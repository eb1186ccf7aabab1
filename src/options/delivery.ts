import type { Clock, DisableRule } from '../ports/index.js'

/** How deliveries are made. */
export interface DeliveryOptions {
  /**
   * Whether this process delivers. Without it events are recorded here and delivered by another process.
   * @default true
   */
  worker?: boolean
  /**
   * Attempts in flight at most in this process, 1 to 10,000. Tests count; where this process delivers they take three
   * quarters at most.
   * @default 64
   */
  concurrency?: number
  /**
   * Attempts in flight at most to one webhook, 1 to 1,000: deliveries of all processes, and tests of the same process.
   * @default 4
   */
  perEndpoint?: number
  /**
   * The deadline of an attempt in milliseconds, over lookup, connection, TLS and answer together, 100 to 120,000.
   * @default 15000
   */
  timeoutMs?: number
  /**
   * How long a worker holds a delivery it has claimed, in milliseconds: at least `timeoutMs` and 5,000 more. A worker
   * that dies delays its deliveries by so much.
   * @default 60000, or twice `timeoutMs` if that is more
   */
  leaseMs?: number
  /**
   * Seconds before each attempt, counted from the one before: 1 to 100 numbers of 0 or more, the first for the first
   * attempt. A delivery is given up after the last.
   * @default [0, 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400]
   */
  retrySchedule?: readonly number[]
  /**
   * How often the storage is asked for due deliveries when nothing tells of them, in milliseconds, 10 to 60,000.
   * @default 1000
   */
  pollMs?: number
  /**
   * How long closing waits for attempts in flight, in milliseconds, 0 to 120,000.
   * @default 10000
   */
  closeGraceMs?: number
  /**
   * Lets webhooks have `http:` addresses. For development.
   * @default false
   */
  allowHttp?: boolean
  /**
   * Networks that are not public and may be sent to nevertheless, as CIDRs: for development, and for receivers in the
   * vendor's own network. Link-local addresses and metadata services must be named exactly, as a /32 or /128.
   * @default []
   */
  allowNetworks?: readonly string[]
  /**
   * Networks that are never sent to, as CIDRs, such as the vendor's own public addresses. They win over `allowNetworks`.
   * @default []
   */
  denyNetworks?: readonly string[]
  /**
   * When a webhook that keeps failing is disabled.
   * @default { failingForSeconds: 432000, failedDeliveries: 10 }
   */
  disableAfter?: DisableRule
  /**
   * Days for which deliveries that ended and their events are kept, 1 to 3,650.
   * @default 30
   */
  retentionDays?: number
  /**
   * Time, for tests.
   * @default the system's
   */
  clock?: Clock
}

/** `DeliveryOptions` with every default in place. */
export type DeliverySettings = Required<DeliveryOptions>
