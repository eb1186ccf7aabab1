import { randomBytes } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { type RecruitingStorage, createRecruiting } from 'fastify-recruiting-api'
import { readCpuMicros, serveQuestions } from '../harness/helper.js'
import { openStorage } from './own-storage.js'
import { type Done, type Work, createEventData, eventType } from './work.js'

const tenants = 5
const emitsAtOnce = 8

serveQuestions({ send: (work) => deliver(work as Work) })

/** Records everything first, then lets a worker loose on it. The clock runs from there until nothing is left to do. */
async function deliver (work: Work): Promise<Done> {
  const { storage, close } = await openStorage(work.databaseUrl)
  const events = Object.fromEntries(work.ports.map((_, endpoint) => [eventType(endpoint), Type.Object({})]))
  await createWebhooks(storage, work.ports)
  await record(storage, events, work)

  globalThis.gc?.()
  const worker = createRecruiting({
    storage,
    events,
    delivery: {
      concurrency: work.concurrency,
      perEndpoint: work.perEndpoint,
      allowHttp: true,
      allowNetworks: ['127.0.0.0/8']
    }
  })
  const cpuBefore = readCpuMicros()
  const startedAt = performance.now()
  await worker.drain()
  const done = { durationMs: performance.now() - startedAt, cpuMicros: readCpuMicros() - cpuBefore }
  await worker.close()
  await close()
  return done
}

/** One for each endpoint, the endpoints shared out among the tenants. */
async function createWebhooks ({ webhooks }: RecruitingStorage, ports: readonly number[]): Promise<void> {
  for (const [endpoint, port] of ports.entries()) {
    const tenantSlug = tenantOf(endpoint)
    await webhooks.create(tenantSlug, {
      id: await webhooks.nextId(tenantSlug),
      name: `Endpoint ${endpoint}`,
      target_url: `http://127.0.0.1:${port}/hooks`,
      event_types: [eventType(endpoint)],
      status: 'active',
      secret: `whsec_${randomBytes(32).toString('base64')}`
    }, ports.length)
  }
}

async function record (storage: RecruitingStorage, events: Record<string, ReturnType<typeof Type.Object>>, work: Work): Promise<void> {
  const emitter = createRecruiting({ storage, events, delivery: false })
  const ids = Array.from({ length: work.events }, (_, id) => id).values()
  await Promise.all(Array.from({ length: emitsAtOnce }, async () => {
    for (const id of ids) {
      const endpoint = id % work.ports.length
      await emitter.emit({ tenantSlug: tenantOf(endpoint), type: eventType(endpoint), data: createEventData(id) })
    }
  }))
  await emitter.close()
}

function tenantOf (endpoint: number): string {
  return `tenant_${endpoint % tenants}`
}
