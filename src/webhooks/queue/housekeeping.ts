import type { Clock, EventStorage } from '../../ports/index.js'
import type { Logger } from '../../observe/logger.js'
import { waitUpTo } from '../../shared/clock.js'
import type { Runtime } from '../runtime.js'

const batchSize = 1000
const intervalMs = 60 * 60 * 1000
// Random, so that processes that start together do not prune together.
const longestStartDelayMs = 10 * 60 * 1000

/** How long things are kept, in days. */
export interface Retention {
  retentionDays: number
  changesRetentionDays: number
}

/** Deletes old rows, in the background and when the host asks. */
export interface Pruner {
  /** Begins to prune within ten minutes, then once an hour. */
  start (): void
  /** Deletes what is older than its retention, in batches, until it is stopped. Returns the number of deleted rows. */
  prune (): Promise<number>
  /** Starts no further batch, and waits up to `graceMs` for those under way. */
  stop (graceMs: number): Promise<void>
}

export function createPruner (
  { deliveries, changes }: EventStorage,
  { retentionDays, changesRetentionDays }: Retention,
  { clock, runtime, log }: { clock: Clock, runtime: Runtime, log: Logger }
): Pruner {
  let timer: unknown
  let isStopped = false
  const underWay = new Set<Promise<number>>()

  async function pruneAll (pruneBatch: () => Promise<number>): Promise<number> {
    let total = 0
    while (!isStopped) {
      const count = await pruneBatch()
      if (count === 0) break
      total += count
      // A storage in memory answers at once.
      await runtime.nextTick()
    }
    return total
  }

  async function pruneBoth (): Promise<number> {
    const deleted = await pruneAll(() => deliveries.prune({ retentionDays, limit: batchSize }))
    if (changes === undefined) return deleted
    return deleted + await pruneAll(() => changes.prune({ retentionDays: changesRetentionDays, limit: batchSize }))
  }

  async function prune (): Promise<number> {
    const pruning = pruneBoth()
    underWay.add(pruning)
    return pruning.finally(() => underWay.delete(pruning))
  }

  function run (): void {
    prune()
      .catch((err: unknown) => log.error({ err }, 'pruning failed, will retry in an hour'))
      .then(() => { if (!isStopped) timer = clock.setTimeout(run, intervalMs) })
  }

  return {
    start () {
      timer = clock.setTimeout(run, runtime.random() * longestStartDelayMs)
    },
    prune,
    async stop (graceMs) {
      isStopped = true
      clock.clearTimeout(timer)
      if (underWay.size > 0) await waitUpTo(Promise.allSettled(underWay), graceMs, clock)
    }
  }
}
