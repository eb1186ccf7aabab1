import { setTimeout as sleep } from 'node:timers/promises'
import { type Recruiting, type RecruitingStorage, createRecruiting } from 'fastify-recruiting-api'
import { migrate, postgresStorage } from 'fastify-recruiting-api/postgres'
import { startDatabase } from '../harness/database.js'
import { startHelper } from '../harness/helper.js'

/*
 * How long a quiet tenant's event takes from emit to arrival, while another tenant has 20,000 deliveries due to an
 * endpoint that accepts connections and never answers, against the same without that.
 */
const rounds = 4
const events = 100
const pauseMs = 20
const flood = 20_000
const target = { allowHttp: true, allowNetworks: ['127.0.0.0/8'] }

const database = await startDatabase()
const receiver = await startHelper(new URL('receiver.js', import.meta.url))
const { alive, dead } = await receiver.ask<{ alive: number, dead: number }>('open')
await migrate(database.pool)
const storage = postgresStorage(database.pool)
await createWebhook(storage, 'quiet', alive)
const deadId = await createWebhook(storage, 'flooding', dead)
const emitter = createRecruiting({ storage, delivery: false })
const ratios: number[] = []
const idle: number[] = []
const busy: number[] = []

await measure()
for (let round = 0; round < rounds; round++) {
  idle.push(await measure())
  await startFlood()
  busy.push(await measure())
  await storage.webhooks.update('flooding', deadId, { status: 'inactive' })
  ratios.push((busy.at(-1) ?? 0) / (idle.at(-1) ?? 0))
}
await emitter.close()
await receiver.stop()
await database.close()
console.log(`\nfairness: emit to arrival at p95, beside ${flood} deliveries due to a dead endpoint`)
console.log(`  time ${median(ratios).toFixed(2)} of an idle one, target 2 at most (${rounds} rounds)`)
console.log(`  beside the flood ${median(busy).toFixed(1)} ms, idle ${median(idle).toFixed(1)} ms`)

/** The 95th percentile of what a new worker needs, in milliseconds. */
async function measure (): Promise<number> {
  const worker = createRecruiting({ storage, delivery: { ...target, closeGraceMs: 0 } })
  await sleep(1500)
  const times: number[] = []
  for (let count = 0; count < events; count++) {
    times.push(await timeOne(emitter))
    await sleep(pauseMs)
  }
  await worker.close()
  return times.toSorted((a, b) => a - b)[Math.floor(events * 0.95)] ?? Number.NaN
}

async function timeOne (recruiting: Recruiting): Promise<number> {
  const arrival = receiver.ask('arrival')
  const startedAt = performance.now()
  await recruiting.emit({ tenantSlug: 'quiet', type: 'job.created', data: {} })
  await arrival
  return performance.now() - startedAt
}

async function startFlood (): Promise<void> {
  await storage.webhooks.update('flooding', deadId, { status: 'active' })
  const counts = Array.from({ length: flood }).keys()
  await Promise.all(Array.from({ length: 16 }, async () => {
    for (const count of counts) await emitter.emit({ tenantSlug: 'flooding', type: 'job.created', data: { count } })
  }))
}

async function createWebhook ({ webhooks }: RecruitingStorage, tenantSlug: string, port: number): Promise<number> {
  const id = await webhooks.nextId(tenantSlug)
  await webhooks.create(tenantSlug, {
    id, name: tenantSlug, status: 'active', target_url: `http://127.0.0.1:${port}/`, event_types: ['job.created'], secret: `whsec_${Buffer.alloc(32).toString('base64')}`
  }, 1)
  return id
}

function median (values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
