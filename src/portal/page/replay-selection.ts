import type { Replay } from './api.js'

/** The periods to choose from. */
export const ranges = ['hour', 'day', 'week', 'own'] as const

type Range = typeof ranges[number]

/** The input of the dialog. */
export interface Choice {
  range: Range
  /** Local times as `<input type=datetime-local>` gives them; empty if there is none. */
  since: string
  until: string
  include: 'undelivered' | 'all'
  eventTypes: readonly string[]
}

export type SinceError = 'since' | 'order'

const hourMs = 3_600_000
const lengths: Record<Exclude<Range, 'own'>, number> = { hour: hourMs, day: 24 * hourMs, week: 7 * 24 * hourMs }

/** Returns the error of a custom range; `null` if it is valid. */
export function findSinceError ({ range, since, until }: Choice): SinceError | null {
  if (range !== 'own') return null
  if (Number.isNaN(Date.parse(since))) return 'since'
  return until !== '' && Date.parse(since) >= Date.parse(until) ? 'order' : null
}

/** Returns the body of the replay. Times are in the user's time zone. */
export function toReplay ({ range, since, until, include, eventTypes }: Choice, now: number): Replay {
  const from = range === 'own' ? Date.parse(since) : now - lengths[range]
  return {
    since: new Date(from).toISOString(),
    ...(range === 'own' && until !== '' ? { until: new Date(until).toISOString() } : {}),
    include,
    ...(eventTypes.length > 0 ? { event_types: [...eventTypes] } : {})
  }
}

/** A local time for `<input type=datetime-local>`, to the minute. */
export function toLocalInput (ms: number): string {
  const date = new Date(ms)
  return new Date(ms - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
