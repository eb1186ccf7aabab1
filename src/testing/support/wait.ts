import { setTimeout } from 'node:timers/promises'
import type { StorageHarness } from './harness.js'

const marginMs = 20
const pollMs = 5
const patienceMs = 5000

/** Lets time pass on the storage's clock; in real time if the harness cannot advance it. */
export async function wait ({ advance }: StorageHarness, ms: number): Promise<void> {
  if (advance === undefined) await setTimeout(ms + marginMs)
  else await advance(ms)
}

/** Waits in real time until the condition holds. Returns `false` if it does not hold within 5 s. */
export async function eventually (condition: () => Promise<boolean> | boolean): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < patienceMs && !await condition(); waitedMs += pollMs) await setTimeout(pollMs)
  return condition()
}

/** Returns a committed transaction and one rolled back; `[]` for a storage without transactions. */
export async function endedTransactions (harness: StorageHarness): Promise<unknown[]> {
  if (harness.begin === undefined) return []
  const committed = await harness.begin()
  await committed.commit()
  const rolledBack = await harness.begin()
  await rolledBack.rollback()
  return [committed.transaction, rolledBack.transaction]
}
