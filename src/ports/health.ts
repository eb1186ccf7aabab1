import type { AttemptError } from './delivery.js'

/** When a webhook that keeps failing becomes `disabled`. Both must hold, with nothing delivered in between. */
export interface DisableRule {
  /** Seconds since the first failed attempt. */
  failingForSeconds: number
  /** Deliveries given up. */
  failedDeliveries: number
}

/** The disable rule, and when to warn that it draws near. */
export interface HealthRule extends DisableRule {
  /** Seconds since the first failed attempt, fewer than `failingForSeconds`. */
  warnAfterSeconds: number
}

/** What the host wants to know of a webhook's health. */
export interface HealthNotice {
  /** `failing`: it will be disabled if this goes on. `disabled`: it was, by the rule. `gone`: it was, as it asked for. */
  kind: 'failing' | 'disabled' | 'gone'
  tenantSlug: string
  webhookId: number
  /** When the first attempt failed since something was delivered; now if something was delivered in the same call. */
  failingSince: string
  /** Deliveries given up since then. */
  failedDeliveries: number
  /** Of the last failed attempt, or of the one that says the endpoint is gone; `http_status` where that gave none. */
  lastError: AttemptError
  /** Of the same attempt; `null` if no answer came. */
  lastResponseStatus: number | null
}

/** A notice for the host, which stays until it is confirmed. */
export interface ClaimedNotice {
  noticeId: number
  notice: HealthNotice
}
