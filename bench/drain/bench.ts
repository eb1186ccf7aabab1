import assert from 'node:assert/strict'
import { type Sample, addRounds, emptyComparison, printComparison } from '../harness/comparison.js'
import { startDatabase } from '../harness/database.js'
import { type Helper, startHelper } from '../harness/helper.js'
import type { Done, Work } from '../deliver/work.js'

const fewEvents = 20_000
const manyEvents = 100_000
// Several pairs of processes: compilation and memory layout change a process's speed by a few per cent.
const pairs = 2
const rounds = 3

const database = await startDatabase()
const receiver = await startHelper(new URL('../deliver/receiver.js', import.meta.url))
const ports = await receiver.ask<number[]>('open', 20)
const commits: number[] = []

const work: Work = { ports, events: fewEvents, concurrency: 64, perEndpoint: 4 }
const againstBare = emptyComparison()
for (let pair = 0; pair < pairs; pair++) {
  const bare = await startHelper(new URL('../deliver/bare-sender.js', import.meta.url))
  const worker = await startOwn()
  const contest = { measureOurs: () => drain(worker, work), measureTheirs: () => measure(bare, work) }
  // The first run warms up.
  await addRounds(emptyComparison(), contest, 1)
  await addRounds(againstBare, contest, rounds)
  await Promise.all([bare.stop(), worker.stop()])
}

const laterWorker = await startOwn()
const againstFew = emptyComparison()
await drain(laterWorker, work)
await addRounds(againstFew, {
  measureOurs: () => drain(laterWorker, { ...work, events: manyEvents }),
  measureTheirs: () => drain(laterWorker, work)
}, 2)
const memoryBytes = await laterWorker.ask<number>('memory')

await Promise.all([laterWorker.stop(), receiver.stop()])
await database.close()
printComparison(againstBare, {
  title: `drain: ${fewEvents} recorded deliveries from PostgreSQL`,
  unit: 'deliveries',
  theirs: 'bare undici loop',
  target: 0.5
})
printComparison(againstFew, {
  title: `drain: ${manyEvents} pending against ${fewEvents}`,
  unit: 'deliveries',
  theirs: 'same with fewer',
  target: 1
})
console.log(`\n  commits per delivery ${(Math.max(...commits)).toFixed(3)} at most, target 0.05`)
console.log(`  memory of the worker with up to ${manyEvents} pending ${Math.round(memoryBytes / 1e6)} MB, target 130`)

/** Records in a separate process, so that the worker's memory does not include the recording. */
async function drain (worker: Helper, asked: Work): Promise<Sample> {
  const recorder = await startOwn()
  await recorder.ask('record', asked)
  await recorder.stop()
  const before = await database.commits()
  const sample = await measure(worker, asked)
  commits.push((await database.commits() - before) / asked.events)
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
