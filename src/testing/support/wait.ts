import { setTimeout } from 'node:timers/promises'
import type { StorageHarness } from './harness.js'

const marginMs = 20
const pollMs = 5
const patienceMs = 5000

/** Lets so much time pass for the storage. */
export async function wait ({ advance }: StorageHarness, ms: number): Promise<void> {
  if (advance === undefined) await setTimeout(ms + marginMs)
  else await advance(ms)
}

/** Waits, in real time, for what is not said to happen at once. `false` if it did not happen within 5 s. */
export async function eventually (condition: () => Promise<boolean> | boolean): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < patienceMs && !await condition(); waitedMs += pollMs) await setTimeout(pollMs)
  return condition()
}
