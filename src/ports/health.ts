import type { AttemptError } from './delivery.js'

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
}

/** A change in the health of a webhook, reported to the host. */
export interface HealthNotice {
  /**
   * `failing`: will be disabled if this continues. `disabled`: by the rule. `gone`: disabled because the endpoint is
   * gone.
   */
  kind: 'failing' | 'disabled' | 'gone'
  /** The tenant's id: its slug without the option `tenantId`. */
  tenantId: string
  /** The tenant's name when the webhook was created or the tenant was renamed. */
  tenantSlug: string
  webhookId: number
  /** Time of the first failed attempt since the last success; now if the same call also had a success. */
  failingSince: string
  /** Failed deliveries since then. */
  failedDeliveries: number
  /** Error of the last failed attempt, or of the one that reported the endpoint gone; `http_status` if it has none. */
  lastError: AttemptError
  /** Of the same attempt; `null` without a response. */
  lastResponseStatus: number | null
}

/** A notice for the host, kept until it is confirmed. */
export interface ClaimedNotice {
  noticeId: number
  notice: HealthNotice
}
