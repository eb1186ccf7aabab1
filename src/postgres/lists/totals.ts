/** Shares totals between requests for a short time. */
export interface Totals {
  /**
   * The total of before if it is young enough, or what `count` gives; requests at once share one count. `subject` is
   * what is counted, as JSON can tell it.
   */
  share (subject: unknown, count: () => Promise<number>): Promise<number>
}

const maxTotals = 1000

/** Keeps nothing at a `ttlMs` of 0. */
export function createTotals (ttlMs: number): Totals {
  const kept = new Map<string, { total: Promise<number>, until: number }>()

  function forgetOldest (): void {
    const [oldest] = kept.keys()
    if (kept.size > maxTotals && oldest !== undefined) kept.delete(oldest)
  }

  return {
    share (subject, count) {
      if (ttlMs === 0) return count()
      const key = JSON.stringify(subject)
      const known = kept.get(key)
      if (known !== undefined && performance.now() < known.until) return known.total

      const entry = { total: count(), until: Number.POSITIVE_INFINITY }
      kept.delete(key)
      kept.set(key, entry)
      forgetOldest()
      entry.total.then(
        () => { entry.until = performance.now() + ttlMs },
        // The next request counts anew.
        () => { entry.until = 0 }
      )
      return entry.total
    }
  }
}
