import type { LogFilter } from './filter.js'
import type { LogRows } from './rows.js'

/** A log as it was left for one of its deliveries. */
export interface LogPlace {
  webhookId: number
  filter: LogFilter
  log: LogRows
  deliveryId: number
}

/** Returns the place of a webhook's log, once. */
export function takePlace (kept: { current: LogPlace | null }, webhookId: number): LogPlace | null {
  const place = kept.current
  kept.current = null
  return place?.webhookId === webhookId ? place : null
}
