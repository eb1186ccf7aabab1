import assert from 'node:assert/strict'
import pg from 'pg'
import { startPostgres } from '../../test/fixtures/postgres-server.js'
import { type Sample, addRounds, emptyComparison, printComparison } from '../harness/comparison.js'
import { type Helper, startHelper } from '../harness/helper.js'
import type { Done, Work } from '../deliver/work.js'

const events = 20_000
const closers: Array<() => Promise<unknown>> = []
const server = await startPostgres({ teardown: (close) => { closers.unshift(close) } }, { settings: [] })
const pool = new pg.Pool({ connectionString: server.url })
const receiver = await startHelper(new URL('../deliver/receiver.js', import.meta.url))
const work: Work = { ports: await receiver.ask('open', 20), events, concurrency: 64, perEndpoint: 4, databaseUrl: server.url }
const ours = await startHelper(new URL('../deliver/own-sender.js', import.meta.url))
const bare = await startHelper(new URL('../deliver/bare-sender.js', import.meta.url))
const comparison = emptyComparison()
const contest = { measureOurs: () => measure(ours), measureTheirs: () => measure(bare) }
await addRounds(emptyComparison(), contest, 1)
await addRounds(comparison, contest, Number(process.env.ROUNDS ?? 4))
printComparison(comparison, { title: 'drain', unit: 'deliveries', theirs: 'bare undici loop', target: 0.5 })
await Promise.all([ours.stop(), bare.stop(), receiver.stop(), pool.end()])
for (const close of closers) await close()

async function measure (sender: Helper): Promise<Sample> {
  await receiver.ask('count')
  const { durationMs, cpuMicros } = await sender.ask<Done>('send', work)
  assert.equal(await receiver.ask('count'), events)
  console.log(sender === ours ? 'ours' : 'bare', Math.round(durationMs), cpuMicros / events)
  return { perSecond: events / durationMs * 1000, cpuMicros: cpuMicros / events }
}
