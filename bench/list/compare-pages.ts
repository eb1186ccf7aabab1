import assert from 'node:assert/strict'
import { type Comparison, type Sample, addRounds } from '../harness/comparison.js'
import { type Helper, startHelper } from '../harness/helper.js'
import { type Target, loadServer } from '../harness/load.js'
import { apiKey, tenantSlug } from './candidates.js'

/** A server to start: its module, and its name in `server.ts`. */
export interface Contestant {
  module: URL
  name: string
}

export interface PageContest {
  servers: readonly [measured: Contestant, yardstick: Contestant]
  query: string
  logging: 'silent' | 'logging'
  rounds: number
  /** The URL of the database. */
  url: string
}

const connections = 32
const warmUpMs = 1000
const roundMs = 750

/** Adds rounds of pages by two new processes to a comparison. Both must send the same bytes. */
export async function comparePages (
  comparison: Comparison,
  { servers, query, logging, rounds, url }: PageContest
): Promise<void> {
  const [ours, theirs] = [await start(servers[0], logging, url), await start(servers[1], logging, url)]
  const ourTarget = await targetOf(ours, query)
  const theirTarget = await targetOf(theirs, query)
  const [ourAnswer, theirAnswer] = [await readAnswer(ourTarget), await readAnswer(theirTarget)]
  assert.deepEqual(ourAnswer, theirAnswer)
  for (const target of [ourTarget, theirTarget]) await loadServer(target, { connections, durationMs: warmUpMs })
  await addRounds(
    comparison,
    {
      measureOurs: () => measure(ours, ourTarget),
      measureTheirs: () => measure(theirs, theirTarget)
    },
    rounds
  )
  await Promise.all([ours.stop(), theirs.stop()])
}

function start ({ module, name }: Contestant, logging: PageContest['logging'], url: string): Promise<Helper> {
  return startHelper(module, name, logging, url)
}

async function targetOf (server: Helper, query: string): Promise<Target> {
  const port = await server.ask<number>('port')
  return {
    port,
    path: `/api/v1/public/${tenantSlug}/candidates${query}`,
    headers: { authorization: `Bearer ${apiKey}` }
  }
}

/** Returns the parts of a response that must be equal for both. */
async function readAnswer ({ port, path, headers }: Target): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
  const answerHeaders = Object.fromEntries(response.headers)
  assert.match(answerHeaders['x-request-id'] ?? '', /^req_[0-9a-f]{32}$/)
  return {
    status: response.status,
    headers: { ...answerHeaders, date: '', 'x-request-id': '' },
    body: await response.text()
  }
}

async function measure (server: Helper, target: Target): Promise<Sample> {
  const before = await server.ask<number>('cpu')
  const { requests, durationMs } = await loadServer(target, { connections, durationMs: roundMs })
  const after = await server.ask<number>('cpu')
  return { perSecond: requests / durationMs * 1000, cpuMicros: (after - before) / requests }
}
