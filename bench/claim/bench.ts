import { setTimeout as sleep } from 'node:timers/promises'
import { migrate, postgresStorage } from 'fastify-recruiting-api/postgres'
import { startDatabase } from '../harness/database.js'
import { createEndpoints, printFigure, quantile, queueDeliveries, time } from '../harness/fill.js'

/*
 * The cost of a claim next to many rows that it must not read: endpoints that wait for a retry, ready endpoints, and
 * rows of finished deliveries that vacuum cannot remove because of an old snapshot.
 */
const many = 20_000
const ended = 500_000
const dead = 120_000
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
await measureMarks()
await database.close()

/** Queues deliveries and finishes them, as workers do. */
async function queueAndEnd (count: number, webhooks: number): Promise<void> {
  await queueDeliveries(database.pool, count, webhooks)
  // As after an hour of claims and completions.
  await database.pool.query(
    "update recruiting.queue set lane = 0, leased_until = now() - interval '59 minutes' * random()"
  )
  await database.pool.query('delete from recruiting.queue')
}

/** Measures calls behind rows that vacuum cannot remove: before them, before claims have marked them, and after. */
async function measureMarks (): Promise<void> {
  await createEndpoints(database.pool, 200)
  const calls = {
    'a claim of none': () => claim(), hasPending: () => deliveries.hasPending(0), stats: () => deliveries.stats()
  }
  const measureAll = async () => {
    const medians: number[] = []
    for (const call of [calls.stats, calls.hasPending, calls['a claim of none']]) {
      const times: number[] = []
      for (let round = 0; round < 9; round++) times.push(await time(call))
      medians.push(quantile(times))
    }
    return medians.toReversed()
  }
  const before = await measureAll()
  const snapshot = await database.pool.connect()
  await snapshot.query('begin isolation level repeatable read; select from recruiting.queue limit 1')
  for (let round = 0; round < 6; round++) await queueAndEnd(dead / 6, 200)
  await database.pool.query('delete from recruiting.marks')
  const [stats, pending, first] = [await time(calls.stats), await time(calls.hasPending), await time(() => claim())]
  for (let round = 0; round < 8; round++) {
    await claim()
    await sleep(1000)
  }
  const after = await measureAll()
  for (const [index, name] of Object.keys(calls).entries()) {
    const unmarked = [first, pending, stats][index] ?? Number.NaN
    printFigure(`${name} behind ${dead} deleted rows: ${before[index]?.toPrecision(3)} before them, ` +
      `${unmarked.toPrecision(3)} unmarked, marked`, after[index] ?? Number.NaN, null)
  }
  await snapshot.query('rollback')
  snapshot.release()
}

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
    await queueAndEnd(endedBefore, 20)
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
