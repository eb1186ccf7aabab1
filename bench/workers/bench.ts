import assert from 'node:assert/strict'
import type { Work } from '../deliver/work.js'
import { startDatabase } from '../harness/database.js'
import { quantile } from '../harness/fill.js'
import { type Helper, startHelper } from '../harness/helper.js'

/*
 * The gain from more workers when receivers are slow: deliveries per second of 8 workers against 1, each in its own process.
 */
const many = 8
const rounds = 3
const eventsEach = 1000
const endpoints = 128
const answerMs = 200

const database = await startDatabase()
const receiver = await startHelper(new URL('../deliver/receiver.js', import.meta.url))
const ports = await receiver.ask<number[]>('open', endpoints)
await receiver.ask('delay', answerMs)
const workers = await Promise.all(Array.from({ length: many }, () => startHelper(new URL('../drain/own-worker.js', import.meta.url), database.url)))
const recorder = await startHelper(new URL('../drain/own-worker.js', import.meta.url), database.url)

const rates: Array<{ one: number, all: number }> = []
for (let round = 0; round < rounds; round++) {
  rates.push({ one: await measure(workers.slice(0, 1)), all: await measure(workers) })
}
await Promise.all([...workers, recorder, receiver].map((helper) => helper.stop()))
await database.close()
console.log(`\nworkers: ${many} against 1, receivers that take ${answerMs} ms, concurrency 32 each`)
console.log(`  rate ${quantile(rates.map(({ one, all }) => all / one)).toFixed(2)} times, target 7 (${rounds} rounds)`)
console.log(`  ${many} workers ${quantile(rates.map(({ all }) => all)).toFixed(0)} deliveries/s, 1 worker ${quantile(rates.map(({ one }) => one)).toFixed(0)}`)

/** Deliveries per second of several workers together. */
async function measure (some: readonly Helper[]): Promise<number> {
  const work: Work = { ports, events: eventsEach * some.length, concurrency: 32, perEndpoint: 4 }
  await recorder.ask('record', work)
  await receiver.ask('count')
  const startedAt = performance.now()
  await Promise.all(some.map((worker) => worker.ask('send', work)))
  const durationMs = performance.now() - startedAt
  assert.equal(await receiver.ask('count'), work.events)
  return work.events / durationMs * 1000
}
