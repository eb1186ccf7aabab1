import type { Clock, DeliveryStore } from '../../ports/index.js'
import type { Logger } from '../../observe/logger.js'

const batchSize = 1000
const intervalMs = 60 * 60 * 1000
// Random, so that processes that start together do not prune together.
const longestStartDelayMs = 10 * 60 * 1000

/** Deletes events and deliveries older than the retention in batches. Returns the number of deleted rows. */
export async function prune (deliveries: DeliveryStore, retentionDays: number): Promise<number> {
  let total = 0
  for (;;) {
    const count = await deliveries.prune({ retentionDays, limit: batchSize })
    if (count === 0) return total
    total += count
  }
}

/** Prunes within ten minutes, then once an hour. Returns a function that stops it. */
export function keepPruning (deliveries: DeliveryStore, retentionDays: number, { clock, log }: { clock: Clock, log: Logger }): () => void {
  let timer = clock.setTimeout(run, Math.random() * longestStartDelayMs)
  let isStopped = false

  function run (): void {
    prune(deliveries, retentionDays)
      .catch((err: unknown) => log.error({ err }, 'pruning failed, it is tried again in an hour'))
      .then(() => { if (!isStopped) timer = clock.setTimeout(run, intervalMs) })
  }

  return () => {
    isStopped = true
    clock.clearTimeout(timer)
  }
}
