import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { DeliveryStore } from 'fastify-recruiting-api'
import { migrate, postgresStorage } from 'fastify-recruiting-api/postgres'
import { startDatabase } from '../harness/database.js'
import { createEndpoints, printFigure, quantile, queueDeliveries } from '../harness/fill.js'

/*
 * Deliveries at a steady rate next to an open repeatable-read transaction, such as a dump or a report, and at the same
 * time without one, in another database on the same server. BENCH_SECONDS shortens it.
 */
const { BENCH_SECONDS = '600' } = process.env
const seconds = Number(BENCH_SECONDS)
const endpoints = 20
const eventsPerSecond = 800
const stepMs = 50
const rule = { failingForSeconds: 1e9, failedDeliveries: 1e9, warnAfterSeconds: 1e9 }
const record = `
  select recruiting.record_event_v1('tenant_' || id % 5, 'nth_' || nth, 'type.t' || id, '{}', null, null, null, null, '', null, null, null)
  from generate_series($1::bigint, $1::bigint + $2::integer - 1) as nth, lateral (select nth % ${endpoints} + 1 as id) as webhook`

interface Figures {
  claimMs: number[]
  /** From the emit to the end of the delivery. */
  delayMs: number[]
  /** Deleted row versions of the table `marks`. */
  deadMarks: number
}

const database = await startDatabase()
const [held, free] = await Promise.all([run('held', true), run('free', false)])
console.log(`\n${eventsPerSecond} events a second for ${seconds} s, with and without an open snapshot; second half`)
printFigure('rate', held.delayMs.length / free.delayMs.length, 0.98, 'times')
printFigure('claim, p95', quantile(held.claimMs, 0.95) / quantile(free.claimMs, 0.95), 2, 'times')
printFigure('delay of a delivery, p95', quantile(held.delayMs, 0.95) / quantile(free.delayMs, 0.95), 2, 'times')
for (const [name, { claimMs, delayMs, deadMarks }] of [['with', held], ['without', free]] as const) {
  printFigure(`${name}: claim, p50`, quantile(claimMs), null)
  printFigure(`${name}: claim, p95`, quantile(claimMs, 0.95), null)
  printFigure(`${name}: claim, slowest`, Math.max(...claimMs), null)
  printFigure(`${name}: delay, p95`, quantile(delayMs, 0.95), null)
  printFigure(`${name}: delay, slowest`, Math.max(...delayMs), null)
  printFigure(`${name}: dead rows of marks a second`, deadMarks / seconds, 10, '')
}
await database.close()

/** Emits and delivers for `seconds` in a new database, and measures the second half. */
async function run (name: string, hasSnapshot: boolean): Promise<Figures> {
  await database.pool.query(`create database ${name}`)
  const pool = new pg.Pool({
    connectionString: Object.assign(new URL(database.url), { pathname: `/${name}` }).href,
    max: 5
  })
  await migrate(pool)
  await createEndpoints(pool, endpoints)
  // Otherwise PostgreSQL plans statements for empty tables.
  await queueDeliveries(pool, 20_000, endpoints)
  const { deliveries } = postgresStorage(pool, { queryTimeoutMs: 60_000 })
  while (await deliverSome(deliveries) > 0);
  const snapshot = await pool.connect()
  if (hasSnapshot) await snapshot.query('begin isolation level repeatable read; select from recruiting.queue')

  const figures: Figures = { claimMs: [], delayMs: [], deadMarks: 0 }
  const emittedAt: number[] = []
  const startedAt = performance.now()
  const elapsed = (): number => (performance.now() - startedAt) / 1000

  async function emit (): Promise<void> {
    while (elapsed() < seconds) {
      const count = Math.floor(elapsed() * eventsPerSecond) - emittedAt.length
      const first = emittedAt.length
      for (let i = 0; i < count; i++) emittedAt.push(performance.now())
      await pool.query(record, [first, count])
      await sleep(stepMs)
    }
  }

  async function deliver (): Promise<void> {
    while (elapsed() < seconds) {
      const count = await deliverSome(deliveries, (claimMs, eventIds) => {
        if (elapsed() < seconds / 2) return
        figures.claimMs.push(claimMs)
        for (const id of eventIds) figures.delayMs.push(performance.now() - Number(emittedAt[Number(id.slice(4))]))
      })
      if (count === 0) await sleep(10)
    }
  }

  await Promise.all([emit(), deliver()])
  await sleep(1000)
  const { rows } = await pool.query(
    "select (n_tup_upd + n_tup_del)::int as dead from pg_stat_user_tables where relname = 'marks'"
  )
  figures.deadMarks = rows[0].dead
  await snapshot.query('rollback')
  snapshot.release()
  await pool.end()
  return figures
}

/** Claims and completes once. Returns the number of deliveries. */
async function deliverSome (
  deliveries: DeliveryStore,
  onDelivered = (_claimMs: number, _eventIds: string[]): void => {}
): Promise<number> {
  const claimedAt = performance.now()
  const claimed = await deliveries.claimDue({ limit: 64, perEndpoint: 16, leaseMs: 60_000 })
  const claimMs = performance.now() - claimedAt
  if (claimed.length > 0) {
    await deliveries.recordAttempts(
      claimed.map(({ webhookId, deliveryId, fence, targetUrl }) => ({
        webhookId,
        deliveryId,
        fence,
        targetUrl,
        outcome: 'delivered',
        durationMs: 5,
        responseStatus: 200,
        error: null,
        responseExcerpt: null
      })),
      rule
    )
  }
  onDelivered(
    claimMs,
    claimed.map(({ eventId }) => eventId)
  )
  return claimed.length
}
