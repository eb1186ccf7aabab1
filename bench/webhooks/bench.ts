import { migrate, postgresStorage } from 'fastify-recruiting-api/postgres'
import { startDatabase } from '../harness/database.js'
import { createEndpoints, printFigure, quantile, queueDeliveries, time } from '../harness/fill.js'

/*
 * The cost of a worker and a health check with few and many registered webhooks: each call should cost only what it
 * returns or changes.
 */
const few = 100
const many = 100_000
const rounds = 50

const database = await startDatabase()
await migrate(database.pool)
const { deliveries } = postgresStorage(database.pool, { queryTimeoutMs: 60_000 })
const claim = () => deliveries.claimDue({ limit: 64, perEndpoint: 4, leaseMs: 60_000 })
const calls = {
  'stats and health': () => deliveries.stats(),
  drain: () => deliveries.hasPending(0),
  claim,
  retention: () => deliveries.prune({ retentionDays: 30, limit: 1000 })
}

console.log(`\n${many} webhooks compared with ${few}`)
await compare('with an empty queue', async () => {})
await compare(`with ${few} retries in an hour`, () =>
  queueDeliveries(database.pool, few, few, { lane: null, dueInSeconds: 3600 })
)
await compare('all paused, with deliveries', async (count) => {
  await queueDeliveries(database.pool, count, count)
  await database.pool.query(`
    insert into recruiting.webhook_health (webhook_id, revision, failing_since, failed_deliveries, is_warned, paused_until)
    select id, 1, now(), 0, false, now() + interval '1 hour' from recruiting.webhooks where id > 1`)
  const foundMs = await time(async () => {
    while ((await claim()).length === 0);
  })
  printFigure(`the only one of ${count} that is not paused is found`, foundMs, null)
  while ((await database.pool.query('select from recruiting.queue where lane > 0 limit 1')).rows.length > 0) {
    await claim()
  }
  await database.pool.query('vacuum analyze')
})
await database.close()

/** Measures each call with few webhooks, then with many. */
async function compare (name: string, prepare: (count: number) => Promise<void>): Promise<void> {
  const measured: number[][] = []
  for (const count of [few, many]) {
    await createEndpoints(database.pool, count)
    await database.pool.query('truncate recruiting.paused_webhooks, recruiting.stopped_webhooks')
    await database.pool.query('vacuum analyze')
    await prepare(count)
    // Writing the prepared data to disk would distort the figures.
    await database.pool.query('checkpoint')
    const medians: number[] = []
    for (const call of Object.values(calls)) medians.push(await measure(call))
    measured.push(medians)
  }
  for (const [index, call] of Object.keys(calls).entries()) {
    const [before = Number.NaN, after = Number.NaN] = measured.map((medians) => medians[index] ?? Number.NaN)
    printFigure(`${name}, ${call}: ${before.toPrecision(3)} and ${after.toPrecision(3)} ms`, after / before, 2, 'times')
  }
}

async function measure (call: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) times.push(await time(call))
  return quantile(times)
}
