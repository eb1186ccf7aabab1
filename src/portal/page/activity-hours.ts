import type { Delivery, Page } from './api.js'

const hourMs = 3_600_000
const hoursShown = 24

/** The results of the deliveries recorded within an hour. */
export interface Hour {
  /** Milliseconds since 1970. */
  begin: number
  delivered: number
  failed: number
}

/** The results of the newest deliveries of the last 24 hours. */
export interface ActivityCounts {
  /** Oldest first. */
  hours: Hour[]
  delivered: number
  failed: number
  pending: number
  /** Of those that were delivered or given up; `null` without any. Never rounded up. */
  share: number | null
  /** Whether there are more in this time than the page has. */
  isPartial: boolean
}

/** Counts a page of deliveries, newest first. */
export function countActivity ({ data, meta }: Page<Delivery>, now: number): ActivityCounts {
  const hours = Array.from({ length: hoursShown }, (_, index): Hour => ({
    begin: now - (hoursShown - index) * hourMs,
    delivered: 0,
    failed: 0
  }))
  const counts = { delivered: 0, failed: 0, pending: 0 }
  const since = now - hoursShown * hourMs
  const recent = data.filter(({ created_at: at }) => Date.parse(at) > since)
  for (const { created_at: at, status } of recent) {
    const hour = hours[Math.min(hoursShown - 1, Math.floor((Date.parse(at) - since) / hourMs))]
    if (status !== 'delivered' && status !== 'failed' && status !== 'pending') continue
    counts[status] += 1
    if (status !== 'pending' && hour !== undefined) hour[status] += 1
  }
  const ended = counts.delivered + counts.failed
  return {
    ...counts,
    hours,
    share: ended === 0 ? null : Math.floor(counts.delivered / ended * 1000) / 1000,
    isPartial: recent.length === data.length && meta.total > data.length
  }
}
