import type pg from 'pg'
import { type RecruitingStorage, createRecruiting } from 'fastify-recruiting-api'
import { migrate, postgresStorage } from 'fastify-recruiting-api/postgres'
import { createEventData } from '../deliver/work.js'
import { startDatabase } from '../harness/database.js'

/*
 * What an emit adds to a transaction of the host's, against inserting one row there: the time of that one statement,
 * the transaction being open before and after, with a row of the host's in it, as an event is about one.
 */
const rounds = 40
const perRound = 200
const type = 'application.created'

const database = await startDatabase()
await database.pool.query('create table applications (id bigint generated always as identity primary key, tenant_slug text, data text, created_at timestamptz)')
await migrate(database.pool)
const storage = postgresStorage(database.pool)
await createWebhook(storage)
const recruiting = createRecruiting({ storage, delivery: false })
const data = createEventData(1)

for (const atOnce of [1, 20]) {
  const clients = await Promise.all(Array.from({ length: atOnce }, () => database.pool.connect()))
  await measure(clients, emit)
  await measure(clients, insert)
  const ratios: number[] = []
  const medians = { emit: [] as number[], insert: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    const emitMs = await measure(clients, emit)
    const insertMs = await measure(clients, insert)
    ratios.push(emitMs / insertMs)
    medians.emit.push(emitMs)
    medians.insert.push(insertMs)
  }
  for (const client of clients) client.release()
  console.log(`\nemit: ${atOnce} at once, to one endpoint, within open transactions`)
  console.log(`  time ${median(ratios).toFixed(2)} of a bare insert at p50, target ${atOnce === 1 ? 1.8 : 2} at most (${rounds} rounds)`)
  console.log(`  emit ${median(medians.emit).toFixed(3)} ms, insert ${median(medians.insert).toFixed(3)} ms`)
}
await recruiting.close()
await database.close()

async function emit (client: pg.PoolClient): Promise<void> {
  await recruiting.emit({ tenantSlug: 'acme', type, data }, { transaction: client })
}

async function insert (client: pg.PoolClient): Promise<void> {
  await client.query('insert into applications (tenant_slug, data, created_at) values ($1, $2, now())', ['acme', JSON.stringify(data)])
}

/** The median time of one call in milliseconds. */
async function measure (clients: readonly pg.PoolClient[], call: (client: pg.PoolClient) => Promise<void>): Promise<number> {
  const times: number[] = []
  await Promise.all(clients.map(async (client) => {
    for (let count = 0; count < perRound / clients.length; count++) {
      await client.query('begin')
      await insert(client)
      const startedAt = performance.now()
      await call(client)
      times.push(performance.now() - startedAt)
      await client.query('commit')
    }
  }))
  return median(times)
}

async function createWebhook ({ webhooks }: RecruitingStorage): Promise<void> {
  await webhooks.create('acme', {
    id: await webhooks.nextId('acme'), name: 'CRM', status: 'active', target_url: 'https://example.com/', event_types: [type], secret: 'x'
  }, 1)
}

function median (values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
