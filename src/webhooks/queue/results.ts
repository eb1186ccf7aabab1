import type { AttemptResult, DeliveryStore, HealthRule } from '../../ports/index.js'

/** Holds results of attempts until they are written. */
export interface ResultWriter {
  add (result: AttemptResult): void
  /** The number of new results. */
  readonly size: number
  /** The number of results that could not be written: storage failed, or their delivery is locked. */
  readonly leftOver: number
  /** Writes the new results together. Resolves with whether one of them is a failure. Rejects if storage fails. */
  writeNew (): Promise<boolean>
  /** Writes the results that are left one by one, so that no result blocks the others. Rejects if storage fails. */
  writeLeftOver (): Promise<void>
}

/** Keeps results that cannot be written now. */
export function createResultWriter (deliveries: Pick<DeliveryStore, 'recordAttempts'>, rule: HealthRule): ResultWriter {
  let fresh: AttemptResult[] = []
  let left: AttemptResult[] = []

  /** Writes a batch. Results that could not be written go to the end of `left`. */
  async function write (batch: AttemptResult[]): Promise<void> {
    if (batch.length === 0) return
    try {
      const locked = new Set((await deliveries.recordAttempts(batch, rule)).map(({ deliveryId }) => deliveryId))
      left.push(...batch.filter(({ deliveryId }) => locked.has(deliveryId)))
    } catch (error) {
      left.push(...batch)
      throw error
    }
  }

  return {
    add (result) { fresh.push(result) },
    get size () { return fresh.length },
    get leftOver () { return left.length },

    async writeNew () {
      const batch = fresh
      fresh = []
      await write(batch)
      return batch.some(({ outcome }) => outcome !== 'delivered')
    },

    async writeLeftOver () {
      const batches = left.map((result) => [result])
      left = []
      for (const [index, batch] of batches.entries()) {
        try {
          await write(batch)
        } catch (error) {
          left.unshift(...batches.slice(index + 1).flat())
          throw error
        }
      }
    }
  }
}
