import { type RecruitingStorage, createRecruiting } from 'fastify-recruiting-api'
import { readCpuMicros } from '../harness/helper.js'
import type { Done, Work } from './work.js'

/** Starts a worker on the recorded deliveries, and measures the time until none is left. */
export async function drain (storage: RecruitingStorage, { concurrency, perEndpoint }: Work): Promise<Done> {
  globalThis.gc?.()
  const worker = createRecruiting({
    storage,
    // A single tenant uses half of the places.
    delivery: { concurrency: 2 * concurrency, perEndpoint, allowHttp: true, allowNetworks: ['127.0.0.0/8'] }
  })
  const cpuBefore = readCpuMicros()
  const startedAt = performance.now()
  await worker.drain()
  const done = { durationMs: performance.now() - startedAt, cpuMicros: readCpuMicros() - cpuBefore }
  await worker.close()
  return done
}
