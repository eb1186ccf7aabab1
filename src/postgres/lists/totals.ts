import { LruMap } from '../../shared/lru-map.js'

/** Shares totals between requests for a short time. */
export interface Totals {
  /**
   * Returns the cached total if it is still fresh, otherwise calls `count`. Concurrent requests share one count.
   * `subject` identifies the total; it must be JSON.
   */
  share (subject: unknown, count: () => Promise<number>): Promise<number>
}

const maxTotals = 1000

/** Creates a cache of totals; with a `ttlMs` of 0 it keeps nothing. */
export function createTotals (ttlMs: number): Totals {
  const kept = new LruMap<{ total: Promise<number>, until: number }>(maxTotals)

  return {
    share (subject, count) {
      if (ttlMs === 0) return count()
      const key = JSON.stringify(subject)
      const known = kept.get(key)
      if (known !== undefined && performance.now() < known.until) return known.total

      const entry = { total: count(), until: Number.POSITIVE_INFINITY }
      kept.set(key, entry)
      entry.total.then(
        () => { entry.until = performance.now() + ttlMs },
        // After an error the next request counts again.
        () => { entry.until = 0 }
      )
      return entry.total
    }
  }
}
