import assert from 'node:assert/strict'
import { type Sample, addRounds, emptyComparison, printComparison } from '../harness/comparison.js'
import { type Helper, startHelper } from '../harness/helper.js'
import type { Done, Work } from './work.js'

interface Variant {
  title: string
  endpoints: number
  concurrency: number
  perEndpoint: number
  /** Rounds with each pair of processes. */
  rounds: number
  target?: number
}

const events = 10_000
const variants: Variant[] = [
  {
    title: 'deliver: 10,000 events to 20 endpoints',
    endpoints: 20,
    concurrency: 64,
    perEndpoint: 4,
    rounds: 5,
    target: 0.6
  },
  {
    title: 'deliver: 10,000 events to one endpoint, 4 at once',
    endpoints: 1,
    concurrency: 4,
    perEndpoint: 4,
    rounds: 2
  },
  {
    title: 'deliver: 10,000 events to one endpoint, 64 at once',
    endpoints: 1,
    concurrency: 64,
    perEndpoint: 64,
    rounds: 2
  }
]

/** Pairs of processes: compilation and memory layout change a process's speed by a few per cent. */
const generations = 3

const receiver = await startHelper(new URL('receiver.js', import.meta.url))
const entries = variants.map((variant) => ({ variant, comparison: emptyComparison() }))
for (let generation = 0; generation < generations; generation++) {
  const ours = await startHelper(new URL('own-sender.js', import.meta.url))
  const bare = await startHelper(new URL('bare-sender.js', import.meta.url))
  for (const { variant: { endpoints, concurrency, perEndpoint, rounds }, comparison } of entries) {
    const work: Work = { ports: await receiver.ask('open', endpoints), events, concurrency, perEndpoint }
    const contest = { measureOurs: () => measure(ours, work), measureTheirs: () => measure(bare, work) }
    // The first run warms up.
    await addRounds(emptyComparison(), contest, 1)
    await addRounds(comparison, contest, rounds)
  }
  await Promise.all([ours.stop(), bare.stop()])
}
await receiver.stop()
for (const { variant: { title, target = null }, comparison } of entries) {
  printComparison(comparison, { title, unit: 'deliveries', theirs: 'bare undici loop', target })
}

async function measure (sender: Helper, work: Work): Promise<Sample> {
  await receiver.ask('count')
  const { durationMs, cpuMicros } = await sender.ask<Done>('send', work)
  assert.equal(await receiver.ask('count'), events)
  return { perSecond: events / durationMs * 1000, cpuMicros: cpuMicros / events }
}
