import assert from 'node:assert/strict'
import { migrate } from 'fastify-recruiting-api/postgres'
import { type Comparison, type Sample, addRounds, emptyComparison, printComparison } from '../harness/comparison.js'
import { startDatabase } from '../harness/database.js'
import { type Helper, startHelper } from '../harness/helper.js'
import { type Target, loadServer } from '../harness/load.js'
import { keyOf } from './keys.js'
import { bigTenant, createCandidates, smallTenant } from './tables.js'

interface Variant {
  title: string
  tenantSlug: string
  query: string
  totalsTtlMs?: number
  target: number
  /** Pairs of processes. */
  pairs: number
  /** Rounds with each pair. */
  rounds: number
  roundMs: number
}

// Many short turns reduce the effect of other load on the machine. If the database has little to do, turns are even shorter, and
// new processes start now and then: compilation and memory layout change the speed of a process by some per cent.
const variants: Variant[] = [
  { title: 'pages: page 1 of 1,000,000', tenantSlug: bigTenant, query: '', target: 0.95, pairs: 2, rounds: 12, roundMs: 2000 },
  { title: 'pages: page 1 of 1,000,000, the total kept for 2 s', tenantSlug: bigTenant, query: '', totalsTtlMs: 2000, target: 100, pairs: 1, rounds: 4, roundMs: 4000 },
  { title: 'pages: page 20,000 of 1,000,000', tenantSlug: bigTenant, query: '?page=20000', target: 4, pairs: 1, rounds: 4, roundMs: 8000 },
  { title: 'pages: page 1 of 1,000 beside it', tenantSlug: smallTenant, query: '', target: 0.95, pairs: 12, rounds: 16, roundMs: 250 },
  { title: 'pages: filter[q] in 1,000 beside it', tenantSlug: smallTenant, query: '?filter[q]=ana', target: 0.95, pairs: 12, rounds: 16, roundMs: 250 }
]
const connections = 8
/** A host compiles hot code in its first seconds, and then serves for weeks. */
const warmUpMs = 5000

const database = await startDatabase()
await createCandidates(database.pool)
await migrate(database.pool)
for (const variant of variants) {
  const comparison = emptyComparison()
  for (let pair = 0; pair < variant.pairs; pair++) await compare(variant, comparison)
  printComparison(comparison, { title: variant.title, unit: 'requests', theirs: 'queries by hand', target: variant.target })
}
await database.close()

async function compare ({ tenantSlug, query, totalsTtlMs = 0, rounds, roundMs }: Variant, comparison: Comparison): Promise<void> {
  const module = new URL('server.js', import.meta.url)
  const ours = await startHelper(module, 'ours', database.url, String(totalsTtlMs))
  const plain = await startHelper(module, 'plain', database.url)
  const [ourTarget, plainTarget] = await Promise.all([ours, plain].map(async (server): Promise<Target> => ({
    port: await server.ask<number>('port'),
    path: `/api/v1/public/${tenantSlug}/candidates${query}`,
    headers: { authorization: `Bearer ${keyOf(tenantSlug)}` }
  }))) as [Target, Target]
  assert.deepEqual(await readBody(ourTarget), await readBody(plainTarget))
  for (const target of [ourTarget, plainTarget]) await loadServer(target, { connections, durationMs: warmUpMs })
  await addRounds(comparison, {
    measureOurs: () => measure(ours, ourTarget, roundMs),
    measureTheirs: () => measure(plain, plainTarget, roundMs)
  }, rounds)
  await Promise.all([ours.stop(), plain.stop()])
}

async function readBody ({ port, path, headers }: Target): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
  assert.equal(response.status, 200)
  return response.json()
}

async function measure (server: Helper, target: Target, durationMs: number): Promise<Sample> {
  const before = await server.ask<number>('cpu')
  const load = await loadServer(target, { connections, durationMs })
  const after = await server.ask<number>('cpu')
  return { perSecond: load.requests / load.durationMs * 1000, cpuMicros: (after - before) / load.requests }
}
