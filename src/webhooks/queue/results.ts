import type { AttemptResult, DeliveryStore, HealthRule } from '../../ports/index.js'

/** Results of attempts, until they are written. */
export interface ResultWriter {
  add (result: AttemptResult): void
  /** Results that are new. */
  readonly size: number
  /** Results that could not be written: storage failed, or their delivery is locked. */
  readonly leftOver: number
  /** Writes the new ones together. Resolves with whether there are failures among them, rejects if storage fails. */
  writeNew (): Promise<boolean>
  /** Writes the left ones one by one, so that none of them keeps the others from being written. Rejects if storage fails. */
  writeLeftOver (): Promise<void>
}

/** Keeps what cannot be written now for later. */
export function createResultWriter (deliveries: Pick<DeliveryStore, 'complete'>, rule: HealthRule): ResultWriter {
  let fresh: AttemptResult[] = []
  let left: AttemptResult[] = []

  /** Writes some; those that are left go to the end. */
  async function write (batch: AttemptResult[]): Promise<void> {
    if (batch.length === 0) return
    try {
      const locked = new Set((await deliveries.complete(batch, rule)).map(({ deliveryId }) => deliveryId))
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
