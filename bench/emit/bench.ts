import type pg from 'pg'
import { type EventFilters, type RecruitingStorage, createRecruiting } from 'fastify-recruiting-api'
import { migrate, postgresStorage } from 'fastify-recruiting-api/postgres'
import { createEventData } from '../deliver/work.js'
import { startDatabase } from '../harness/database.js'

/*
 * The time that an emit adds to the host's transaction, compared with one insert: one statement in an open transaction
 * that has already written a host's row.
 */
const rounds = 40
const perRound = 200
const type = 'application.created'

const database = await startDatabase()
await database.pool.query(
  'create table applications (id bigint generated always as identity primary key, tenant_slug text, data text, created_at timestamptz)'
)
await migrate(database.pool)
const storage = postgresStorage(database.pool)
await createWebhooks(storage, 'acme', 1, null)
await createWebhooks(storage, 'plain', 10, null)
await createWebhooks(storage, 'filtered', 10, { 'data.job_id': [1, 2], 'data.stage': ['applied', null] })
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
  const filtered: number[] = []
  for (let round = 0; round < rounds; round++) {
    const [plainMs, filteredMs] = [await measure(clients, emitTo('plain')), await measure(clients, emitTo('filtered'))]
    filtered.push(filteredMs / plainMs)
  }
  for (const client of clients) client.release()
  console.log(`\nemit: ${atOnce} at once, to one endpoint, within open transactions`)
  console.log(
    `  time ${median(ratios).toFixed(2)} of a bare insert at p50, target ${atOnce === 1 ? 1.8 : 2} at most (${rounds} rounds)`
  )
  console.log(`  emit ${median(medians.emit).toFixed(3)} ms, insert ${median(medians.insert).toFixed(3)} ms`)
  console.log(
    `  to ten endpoints whose filters match ${median(filtered).toFixed(2)} of ten without filters, target 1.2 at most`
  )
}
await recruiting.close()
await database.close()

async function emit (client: pg.PoolClient): Promise<void> {
  await recruiting.emit({ tenantSlug: 'acme', type, data }, { transaction: client })
}

function emitTo (tenantSlug: string): (client: pg.PoolClient) => Promise<void> {
  return async (client) => {
    const { deliveries } = await recruiting.emit(
      { tenantSlug, type, data: { ...data, job_id: 1 } },
      { transaction: client }
    )
    if (deliveries !== 10) throw new Error(`${deliveries} deliveries of 10`)
  }
}

async function insert (client: pg.PoolClient): Promise<void> {
  await client.query('insert into applications (tenant_slug, data, created_at) values ($1, $2, now())', [
    'acme',
    JSON.stringify(data)
  ])
}

/** Returns the median time of one call in milliseconds. */
async function measure (
  clients: readonly pg.PoolClient[],
  call: (client: pg.PoolClient) => Promise<void>
): Promise<number> {
  const times: number[] = []
  await Promise.all(
    clients.map(async (client) => {
      for (let count = 0; count < perRound / clients.length; count++) {
        await client.query('begin')
        await insert(client)
        const startedAt = performance.now()
        await call(client)
        times.push(performance.now() - startedAt)
        await client.query('commit')
      }
    })
  )
  return median(times)
}

async function createWebhooks (
  { webhooks }: RecruitingStorage,
  tenant: string,
  count: number,
  filters: EventFilters | null
): Promise<void> {
  for (let index = 0; index < count; index++) {
    await webhooks.create(
      tenant,
      {
        id: await webhooks.nextId(tenant),
        tenantSlug: tenant,
        name: 'CRM',
        status: 'active',
        target_url: 'https://example.com/',
        event_types: [type],
        secret: 'x',
        filters
      },
      { maxPerTenant: count }
    )
  }
}

function median (values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
