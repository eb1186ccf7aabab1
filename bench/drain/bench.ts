import assert from 'node:assert/strict'
import { type Sample, addRounds, emptyComparison, printComparison } from '../harness/comparison.js'
import { startDatabase } from '../harness/database.js'
import { type Helper, startHelper } from '../harness/helper.js'
import type { Done, Work } from '../deliver/work.js'

const fewEvents = 20_000
const manyEvents = 100_000
const rounds = 4

const database = await startDatabase()
const receiver = await startHelper(new URL('../deliver/receiver.js', import.meta.url))
const ports = await receiver.ask<number[]>('open', 20)
const commits: number[] = []

const work: Work = { ports, events: fewEvents, concurrency: 64, perEndpoint: 4 }
const bare = await startHelper(new URL('../deliver/bare-sender.js', import.meta.url))
const againstBare = emptyComparison()
const contest = { measureOurs: () => drain(work), measureTheirs: () => measure(bare, work) }
await addRounds(emptyComparison(), contest, 1)
await addRounds(againstBare, contest, rounds)
await bare.stop()

const againstFew = emptyComparison()
let memoryBytes = 0
await addRounds(againstFew, {
  measureOurs: () => drain({ ...work, events: manyEvents }),
  measureTheirs: () => drain(work)
}, 2)

await receiver.stop()
await database.close()
printComparison(againstBare, { title: `drain: ${fewEvents} recorded deliveries from PostgreSQL`, unit: 'deliveries', theirs: 'bare undici loop', target: 0.5 })
printComparison(againstFew, { title: `drain: ${manyEvents} pending against ${fewEvents}`, unit: 'deliveries', theirs: 'same with fewer', target: 1 })
console.log(`\n  commits per delivery ${(Math.max(...commits)).toFixed(3)} at most, target 0.1`)
console.log(`  memory of the worker with ${manyEvents} pending ${Math.round(memoryBytes / 1e6)} MB, target 150`)

/** By a process of its own, so that nothing of the recording is in its memory. */
async function drain (asked: Work): Promise<Sample> {
  const recorder = await startOwn()
  await recorder.ask('record', asked)
  await recorder.stop()
  const worker = await startOwn()
  const before = await database.commits()
  const sample = await measure(worker, asked)
  commits.push((await database.commits() - before) / asked.events)
  if (asked.events === manyEvents) memoryBytes = Math.max(memoryBytes, await worker.ask('memory'))
  await worker.stop()
  return sample
}

function startOwn (): Promise<Helper> {
  return startHelper(new URL('own-worker.js', import.meta.url), database.url)
}

async function measure (sender: Helper, asked: Work): Promise<Sample> {
  await receiver.ask('count')
  const { durationMs, cpuMicros } = await sender.ask<Done>('send', asked)
  assert.equal(await receiver.ask('count'), asked.events)
  return { perSecond: asked.events / durationMs * 1000, cpuMicros: cpuMicros / asked.events }
}
