import { setTimeout as sleep } from 'node:timers/promises'
import { type Recruiting, type RecruitingStorage, createRecruiting } from 'fastify-recruiting-api'
import { migrate, postgresStorage } from 'fastify-recruiting-api/postgres'
import { startDatabase } from '../harness/database.js'
import { quantile } from '../harness/fill.js'
import { startHelper } from '../harness/helper.js'

/*
 * How long a quiet tenant's event takes from emit to arrival, against the same on an idle system: while another tenant has 20,000
 * deliveries due to an endpoint that accepts connections and never responds, and while a transaction of
 * the host keeps another tenant's webhook and deliveries locked.
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
const lockedId = await createWebhook(storage, 'locked', dead)
const flooded: Round[] = []
const locked: Round[] = []

await measure(1)
for (let round = 0; round < rounds; round++) {
  flooded.push(await compare(1, startFlood, () => stop('flooding', deadId)))
  locked.push(await compare(2, lock, async (unlock) => {
    await unlock()
    await stop('locked', lockedId)
  }))
}
await emitter.close()
await receiver.stop()
await database.close()
print(`beside ${flood} deliveries due to a dead endpoint`, flooded, 1.2)
print('with two workers, while another tenant and its deliveries are locked', locked, 2)

interface Round { idle: number, busy: number }

/** The 95th percentile without and with other load. */
async function compare<State> (workers: number, begin: () => Promise<State>, end: (state: State) => Promise<unknown>): Promise<Round> {
  const idle = await measure(workers)
  const state = await begin()
  const busy = await measure(workers)
  await end(state)
  return { idle, busy }
}

function print (title: string, figures: readonly Round[], aim: number): void {
  console.log(`\nfairness: emit to arrival at p95, ${title}`)
  console.log(`  time ${quantile(figures.map(({ idle, busy }) => busy / idle)).toFixed(2)} of an idle one, target ${aim} at most (${rounds} rounds)`)
  console.log(`  ${quantile(figures.map(({ busy }) => busy)).toFixed(1)} ms, idle ${quantile(figures.map(({ idle }) => idle)).toFixed(1)} ms`)
}

/** The 95th percentile with new workers, in milliseconds. */
async function measure (count: number): Promise<number> {
  const workers = Array.from({ length: count }, () => createRecruiting({ storage: postgresStorage(database.pool), delivery: { ...target, closeGraceMs: 0 } }))
  await sleep(1500)
  const times: number[] = []
  for (let count = 0; count < events; count++) {
    times.push(await timeOne(emitter))
    await sleep(pauseMs)
  }
  await Promise.all(workers.map((worker) => worker.close()))
  return quantile(times, 0.95)
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
  await emitMany('flooding', flood)
}

/** Locks a webhook and its pending deliveries, like a transaction of the host; returns a function that ends it. */
async function lock (): Promise<() => Promise<void>> {
  await storage.webhooks.update('locked', lockedId, { status: 'active' })
  await emitMany('locked', 200)
  const client = await database.pool.connect()
  await client.query('begin')
  await emitter.erase({ tenantSlug: 'locked', subject: 'candidate:1' }, { transaction: client })
  await client.query('select from recruiting.webhooks where id = $1 for update', [lockedId])
  return async () => {
    await client.query('rollback')
    client.release()
  }
}

async function emitMany (tenantSlug: string, count: number): Promise<void> {
  const counts = Array.from({ length: count }).keys()
  await Promise.all(Array.from({ length: 16 }, async () => {
    for (const number of counts) await emitter.emit({ tenantSlug, type: 'job.created', data: { number }, subject: 'candidate:1' })
  }))
}

function stop (tenantSlug: string, webhookId: number): Promise<unknown> {
  return storage.webhooks.update(tenantSlug, webhookId, { status: 'inactive' })
}

async function createWebhook ({ webhooks }: RecruitingStorage, tenantSlug: string, port: number): Promise<number> {
  const id = await webhooks.nextId(tenantSlug)
  await webhooks.create(tenantSlug, {
    id, tenantSlug, name: tenantSlug, status: 'active', target_url: `http://127.0.0.1:${port}/`, event_types: ['job.created'], secret: `whsec_${Buffer.alloc(32).toString('base64')}`
  }, 1)
  return id
}
