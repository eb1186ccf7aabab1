import assert from 'node:assert/strict'
import { type Comparison, type Sample, addRounds, emptyComparison, printComparison } from '../harness/comparison.js'
import { type Helper, startHelper } from '../harness/helper.js'
import { type Target, loadServer } from '../harness/load.js'
import { apiKey, tenantSlug } from './candidates.js'

interface Variant {
  title: string
  /** What is compared. @default the plugin and a route written by hand */
  servers?: [measured: string, yardstick: string, title: string]
  query: string
  logging: 'silent' | 'logging'
  /** Rounds with each pair of processes. */
  rounds: number
  target?: number
}

const variants: Variant[] = [
  { title: 'list: 25 of 1,000 candidates', query: '', logging: 'silent', rounds: 3, target: 0.95 },
  { title: 'list: the same, with a logger', query: '', logging: 'logging', rounds: 1 },
  {
    title: 'list: the third page of a search, sorted',
    query: '?page=3&per_page=25&sort=-full_name&filter[q]=an',
    logging: 'silent',
    rounds: 1
  },
  { title: 'list: 25 of 1,000 candidates with uuids', servers: ['ours-uuids', 'plain-uuids', 'hand-written route'], query: '', logging: 'silent', rounds: 3, target: 0.95 },
  // A page with uuids has half as many bytes again, which costs the hand-written route as much.
  { title: 'list: uuids in the place of integers', servers: ['ours-uuids', 'ours', 'integers'], query: '', logging: 'silent', rounds: 3 },
  { title: 'list: the same, written by hand', servers: ['plain-uuids', 'plain', 'integers'], query: '', logging: 'silent', rounds: 3 }
]

const byHand: NonNullable<Variant['servers']> = ['ours', 'plain', 'hand-written route']

/** New processes now and then: how a process happens to be compiled and laid out moves its speed by some per cent. */
const generations = 6
const connections = 32
const warmUpMs = 1000
const roundMs = 750

const module = new URL('server.js', import.meta.url)
const entries = variants.map((variant) => ({ variant, comparison: emptyComparison() }))
for (let generation = 0; generation < generations; generation++) {
  for (const { variant, comparison } of entries) await compare(variant, comparison)
}
for (const { variant: { title, servers: [, , theirs] = byHand, target = null }, comparison } of entries) {
  printComparison(comparison, { title, unit: 'requests', theirs, target })
}

async function compare ({ servers = byHand, query, logging, rounds }: Variant, comparison: Comparison): Promise<void> {
  const ours = await startHelper(module, servers[0], logging)
  const theirs = await startHelper(module, servers[1], logging)
  const ourTarget = await targetOf(ours, query)
  const theirTarget = await targetOf(theirs, query)
  const [ourAnswer, theirAnswer] = [await readAnswer(ourTarget), await readAnswer(theirTarget)]
  if (servers[2] === byHand[2]) assert.deepEqual(ourAnswer, theirAnswer)
  for (const target of [ourTarget, theirTarget]) await loadServer(target, { connections, durationMs: warmUpMs })
  await addRounds(comparison, {
    measureOurs: () => measure(ours, ourTarget),
    measureTheirs: () => measure(theirs, theirTarget)
  }, rounds)
  await Promise.all([ours.stop(), theirs.stop()])
}

async function targetOf (server: Helper, query: string): Promise<Target> {
  const port = await server.ask<number>('port')
  return { port, path: `/api/v1/public/${tenantSlug}/candidates${query}`, headers: { authorization: `Bearer ${apiKey}` } }
}

/** All of an answer that must be the same from both. */
async function readAnswer ({ port, path, headers }: Target): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
  const answerHeaders = Object.fromEntries(response.headers)
  assert.match(answerHeaders['x-request-id'] ?? '', /^req_[0-9a-f]{32}$/)
  return { status: response.status, headers: { ...answerHeaders, date: '', 'x-request-id': '' }, body: await response.text() }
}

async function measure (server: Helper, target: Target): Promise<Sample> {
  const before = await server.ask<number>('cpu')
  const { requests, durationMs } = await loadServer(target, { connections, durationMs: roundMs })
  const after = await server.ask<number>('cpu')
  return { perSecond: requests / durationMs * 1000, cpuMicros: (after - before) / requests }
}
