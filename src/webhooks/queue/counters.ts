import type { AttemptError } from '../../ports/index.js'

/** Upper bounds in milliseconds. */
const bounds = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 15_000]

/** Attempts of this process since it started. */
export interface AttemptCounts {
  attempts: Record<'delivered' | AttemptError, number>
  /** Durations as a cumulative histogram. */
  durationMs: {
    /** The number of attempts up to each bound in milliseconds. */
    buckets: Array<{ upTo: number, count: number }>
    sum: number
    count: number
  }
}

export interface Counters {
  add (attempt: { error: AttemptError | null, durationMs: number }): void
  read (): AttemptCounts
}

export function createCounters (): Counters {
  const attempts = { delivered: 0, timeout: 0, connection: 0, tls: 0, blocked: 0, http_status: 0 }
  const buckets = bounds.map((upTo) => ({ upTo, count: 0 }))
  let sum = 0
  let count = 0
  return {
    add ({ error, durationMs }) {
      attempts[error ?? 'delivered']++
      for (const bucket of buckets) if (durationMs <= bucket.upTo) bucket.count++
      sum += durationMs
      count++
    },
    read: () => ({
      attempts: { ...attempts },
      durationMs: { buckets: buckets.map((bucket) => ({ ...bucket })), sum, count }
    })
  }
}
