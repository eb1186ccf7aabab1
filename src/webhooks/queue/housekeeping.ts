import type { Clock, EventStorage } from '../../ports/index.js'
import type { Logger } from '../../observe/logger.js'

const batchSize = 1000
const intervalMs = 60 * 60 * 1000
// Random, so that processes that start together do not prune together.
const longestStartDelayMs = 10 * 60 * 1000

/** How long things are kept, in days. */
export interface Retention {
  retentionDays: number
  changesRetentionDays: number
}

/** Deletes what is older than its retention, in batches. Returns the number of deleted rows. */
export async function prune ({ deliveries, changes }: EventStorage, { retentionDays, changesRetentionDays }: Retention): Promise<number> {
  const deleted = await pruneAll(() => deliveries.prune({ retentionDays, limit: batchSize }))
  if (changes === undefined) return deleted
  return deleted + await pruneAll(() => changes.prune({ retentionDays: changesRetentionDays, limit: batchSize }))
}

async function pruneAll (pruneBatch: () => Promise<number>): Promise<number> {
  let total = 0
  for (;;) {
    const count = await pruneBatch()
    if (count === 0) return total
    total += count
  }
}

/** Prunes within ten minutes, then once an hour. Returns a function that stops it. */
export function keepPruning (storage: EventStorage, retention: Retention, { clock, log }: { clock: Clock, log: Logger }): () => void {
  let timer = clock.setTimeout(run, Math.random() * longestStartDelayMs)
  let isStopped = false

  function run (): void {
    prune(storage, retention)
      .catch((err: unknown) => log.error({ err }, 'pruning failed, it is tried again in an hour'))
      .then(() => { if (!isStopped) timer = clock.setTimeout(run, intervalMs) })
  }

  return () => {
    isStopped = true
    clock.clearTimeout(timer)
  }
}
