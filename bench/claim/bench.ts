import { migrate, postgresStorage } from 'fastify-recruiting-api/postgres'
import { startDatabase } from '../harness/database.js'
import { createEndpoints, printFigure, quantile, queueDeliveries, time } from '../harness/fill.js'

/*
 * The cost of a claim next to many rows that it must not read: endpoints that wait for a retry, ready endpoints, and
 * rows of finished deliveries that vacuum cannot remove because of an old snapshot.
 */
const many = 20_000
const ended = 500_000
const rule = { failingForSeconds: 1e9, failedDeliveries: 1e9, warnAfterSeconds: 1e9 }

const database = await startDatabase()
await migrate(database.pool)
const { deliveries } = postgresStorage(database.pool, { queryTimeoutMs: 60_000 })
const claim = (limit = 64) => deliveries.claimDue({ limit, perEndpoint: 4, leaseMs: 60_000 })

console.log('\nclaim of 64')
await createEndpoints(database.pool, 20)
const none = await measureClaims(1, 60)
await createEndpoints(database.pool, many)
await queueDeliveries(database.pool, many, many, { lane: null, dueInSeconds: 18_000 })
const waiting = await measureClaims(1, 60)
printFigure(`${many} endpoints wait for a retry, against none`, waiting / none, 2, 'times')
printFigure('the same, in milliseconds', waiting, null)
printFigure('the same, 8 at once', await measureClaims(8, 20), 20)
await createEndpoints(database.pool, many)
await queueDeliveries(database.pool, many * 3, many)
printFigure(`${many} endpoints ready`, await measureClaims(1, 60), 5)
printFigure('the same, 8 at once', await measureClaims(8, 20), null)

const fresh = await measureDrain(null)
const old = await measureDrain(ended)
printFigure(`under an old snapshot with ${ended} ended, against none`, old.middle / fresh.middle, 5, 'times')
printFigure('the same, in milliseconds', old.middle, null)
printFigure('the same, the slowest', old.slowest, null)
await database.close()

/** Returns the median duration of claims by this many concurrent callers. */
async function measureClaims (callers: number, rounds: number): Promise<number> {
  const times: number[] = []
  await Promise.all(Array.from({ length: callers }, () => claim()))
  await Promise.all(Array.from({ length: callers }, async () => {
    for (let round = 0; round < rounds; round++) times.push(await time(() => claim()))
  }))
  return quantile(times)
}

/** Claims while delivering to 20 endpoints, after this many finished deliveries that an open transaction can see. */
async function measureDrain (endedBefore: number | null): Promise<{ middle: number, slowest: number }> {
  await createEndpoints(database.pool, 20)
  const snapshot = await database.pool.connect()
  if (endedBefore !== null) {
    await snapshot.query('begin isolation level repeatable read; select from recruiting.queue limit 1')
    await queueDeliveries(database.pool, endedBefore, 20)
    // As after an hour of claims and completions.
    await database.pool.query(
      "update recruiting.queue set lane = 0, leased_until = now() - interval '59 minutes' * random()"
    )
    await database.pool.query('delete from recruiting.queue')
  }
  await queueDeliveries(database.pool, 20_000, 20)
  const times: number[] = []
  for (let round = 0; round < 100; round++) {
    let claimed: Awaited<ReturnType<typeof claim>> = []
    times.push(await time(async () => { claimed = await claim() }))
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
  await snapshot.query('rollback')
  snapshot.release()
  return { middle: quantile(times), slowest: Math.max(...times) }
}
