import { setTimeout } from 'node:timers/promises'
import type { StorageHarness } from './harness.js'

const kMarginMs = 20
const kPollMs = 5
const kPatienceMs = 5000

/** Lets so much time pass for the storage. */
export async function wait ({ advance }: StorageHarness, ms: number): Promise<void> {
  if (advance === undefined) await setTimeout(ms + kMarginMs)
  else await advance(ms)
}

/** Waits, in real time, for what is not said to happen at once. `false` if it did not happen within 5 s. */
export async function eventually (condition: () => boolean): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < kPatienceMs && !condition(); waitedMs += kPollMs) await setTimeout(kPollMs)
  return condition()
}
