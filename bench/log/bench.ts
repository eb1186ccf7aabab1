import assert from 'node:assert/strict'
import type pg from 'pg'
import { migrate, postgresStorage } from 'fastify-recruiting-api/postgres'
import { startDatabase } from '../harness/database.js'
import { createEndpoints, printFigure, quantile, time } from '../harness/fill.js'

/*
 * The cost of a tenant's history: pages and totals of the delivery log, and the count of a replay. Each should cost the
 * same with 10,000 deliveries and with 1,000,000.
 */
const sizes = [10_000, 1_000_000]
/** More than the 200,000 that a dry run reads. */
const storedEvents = [250_000, 500_000]
const rounds = 5

const database = await startDatabase()
const { pool } = database
await migrate(pool)
const { deliveries } = postgresStorage(pool, { queryTimeoutMs: 60_000 })

const sort = [{ field: 'id', direction: 'desc' }] as const
const list = (filter: object) => deliveries.list('tenant_1', 1, { filter, sort, offset: 0, limit: 25 })
const count = (filter: object) => deliveries.count('tenant_1', 1, filter, { limit: 10_001 })
const calls = {
  'page 1': () => list({}),
  'page 1 of a rare type': () => list({ eventType: 'type.rare' }),
  'page 1 of a rare status': () => list({ status: 'cancelled' }),
  'page 1 of a type without a match': () => list({ eventType: 'type.t2' }),
  'page 1 of a common type and a rare status': () => list({ eventType: 'type.t1', status: 'failed' }),
  'page 1 of a rare type that is pending': () => list({ eventType: 'type.rare', status: 'pending' }),
  total: () => count({}),
  'total of a common type': () => count({ eventType: 'type.t1' }),
  'total of a rare type': () => count({ eventType: 'type.rare' })
}

console.log('\ndry run of a replay whose filter matches no event')
const dryRuns: number[] = []
for (const events of storedEvents) {
  const ms = await measureDryRun(events)
  dryRuns.push(ms)
  printFigure(`of ${events} events`, ms, null)
}
const [fewer = Number.NaN, more = Number.NaN] = dryRuns
printFigure('  more against fewer', more / fewer, 2, 'times')

const figures = new Map<string, number[]>()
for (const size of sizes) {
  await fill(pool, size)
  for (const [name, call] of Object.entries(calls)) {
    await call()
    const times: number[] = []
    for (let round = 0; round < rounds; round++) times.push(await time(call))
    figures.set(name, [...figures.get(name) ?? [], quantile(times)])
  }
}

console.log(`\nlog of ${sizes.join(' and of ')} deliveries`)
for (const [name, [small = Number.NaN, large = Number.NaN]] of figures) {
  printFigure(`${name}, with fewer`, small, null)
  printFigure(`${name}, with more`, large, null)
  printFigure('  more against fewer', large / small, 2, 'times')
}
await database.close()

async function measureDryRun (events: number): Promise<number> {
  await createEndpoints(pool, 1)
  await pool.query('update recruiting.webhooks set filter_path = \'$.data.stage == "hired"\'')
  await pool.query(
    `
    insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
    select 'evt_' || n, 'tenant_1', 'type.t1', '{"data":{"stage":"offer"}}', '', now() - n * interval '1 second'
    from generate_series(1, $1::integer) as n`,
    [events]
  )
  await pool.query('vacuum analyze')
  const selection = {
    include: 'all',
    eventTypes: null,
    eventIds: null,
    since: null,
    until: null,
    limit: 10_000
  } as const
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    times.push(await time(async () => {
      assert.deepEqual(await deliveries.countReplay('tenant_1', 1, selection), { queued: 0, truncated: true })
    }))
  }
  return quantile(times)
}

/**
 * Creates this many finished deliveries and as many pending ones for webhook 1. Ten of each have a rare type, and ten
 * finished ones a rare status. Webhook 2 has as many of one type.
 */
async function fill (pool: pg.Pool, size: number): Promise<void> {
  await createEndpoints(pool, 2)
  for (const webhook of [1, 2]) {
    await pool.query(`
      with made as (
        insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
        select 'evt_' || $2 || '_' || n, 'tenant_' || $2,
          case when $2 = 1 and n % ($1 / 10) = 0 then 'type.rare' else 'type.t' || $2 end,
          '{"data":{"stage":"offer"}}', '', now() - (2 * $1 - n) * interval '1 second'
        from generate_series(1, 2 * $1) as n
        returning seq, id, type, recorded_at
      ), numbered as (
        select *, split_part(id, '_', 3)::integer as n from made
      ), queued as (
        insert into recruiting.queue (event_seq, webhook_id, event_type, lane, due_at, created_at)
        select seq, $2, type, 1, recorded_at, recorded_at from numbered where n > $1
      )
      insert into recruiting.deliveries (
        webhook_id, id, event_seq, event_type, status, created_at, ended_at, duration_ms, response_status
      )
      select $2, nextval('recruiting.delivery_ids'), seq, type,
        case n % ($1 / 10) when 1 then 'failed' when 3 then 'cancelled' else 'delivered' end,
        recorded_at, recorded_at, 5, 200
      from numbered where n <= $1 order by n`.replaceAll('$1', String(size)).replaceAll('$2', String(webhook)))
  }
  await pool.query('vacuum analyze')
}
