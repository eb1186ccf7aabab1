import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { memoryStorage } from '../../../src/storages/memory/index.js'
import { systemClock } from '../../../src/core/shared/clock.js'
import type { createLateSender } from '../../../src/core/webhooks/runtime.js'
import { createPruner } from '../../../src/core/webhooks/queue/housekeeping.js'
import { systemRuntime } from '../../../src/core/webhooks/runtime.js'
import { createManualClock } from '../../fixtures/delivery/manual-clock.js'
import { silentLogger } from '../../fixtures/delivery/silent-logger.js'
import { createMachines, event, splitRecordAndClaim } from '../../fixtures/delivery/engine.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { runUntil } from '../../fixtures/api/webhook-api.js'

/**
 * A worker with three deliveries in flight that were recorded in one tick, and the number of deliveries in each claim
 * and each `recordAttempts`. It gathers results until `endGathering` is called.
 */
async function startWorker (t: Test, concurrency = 128) {
  const underWay: Array<() => void> = []
  let endGathering = (): void => {}
  t.intercept(systemRuntime, 'clock', {
    value: { ...systemClock, setTimeout: (callback: () => void) => { endGathering = callback } }
  })
  const sender: ReturnType<typeof createLateSender> = {
    load: async () => sender,
    send: () => new Promise((resolve) => {
      underWay.push(() => resolve({ responseStatus: 204, error: null, durationMs: 1 }))
    }),
    abort () {},
    async close () {}
  }
  t.intercept(systemRuntime, 'createSender', { value: () => sender })
  const { addWebhook, start, storage: { deliveries } } = createMachines(t)
  await addWebhook('https://example.com/')
  splitRecordAndClaim(deliveries)
  const { claimDue, recordAttempts } = deliveries
  const claims: number[] = []
  const batches: number[] = []
  deliveries.claimDue = async (options) => {
    const claimed = await claimDue(options)
    claims.push(claimed.length)
    return claimed
  }
  deliveries.recordAttempts = async (results, rule) => {
    batches.push(results.length)
    return recordAttempts(results, rule)
  }
  const answers: Array<Promise<boolean> | void> = []
  const { onDue } = deliveries
  deliveries.onDue = (listener) => onDue(() => {
    const answer = listener()
    answers.push(answer)
    return answer
  })
  const engine = start({ delivery: { pollMs: 60_000, concurrency } })
  while (claims.length === 0) await setImmediate()
  await Promise.all(Array.from({ length: 3 }, () => engine.emit(event)))
  while (underWay.length < 3) await setImmediate()
  return { engine, claims, batches, answers, underWay, endGathering: () => endGathering() }
}

t.test('deliveries recorded in one tick are claimed together', async (t) => {
  const { claims, underWay } = await startWorker(t)
  t.same(claims, [0, 3])
  for (const end of underWay) end()
})

t.test('a woken worker says whether it has claimed all, and has room for each tenant', async (t) => {
  for (const [concurrency, hasRoom] of [[8, true], [6, false]] as const) {
    const { engine, answers, underWay } = await startWorker(t, concurrency)
    t.strictSame(await Promise.all(answers), [hasRoom, hasRoom, hasRoom], `3 of ${concurrency} places are used`)
    for (const end of underWay) end()
    await engine.close()
  }
})

t.test('results of attempts that end close together are written together, a later one separately', async (t) => {
  const { engine, batches, underWay, endGathering } = await startWorker(t)
  const [one, another, slow] = underWay
  one?.()
  await setImmediate()
  another?.()
  await setImmediate()
  t.same(batches, [])
  endGathering()
  while (batches.length === 0) await setImmediate()
  t.equal((await engine.health()).inFlight, 1)
  slow?.()
  await engine.close()
  t.same(batches, [2, 1])
})

t.test('if an attempt throws, it is logged and the delivery is attempted again', async (t) => {
  const receiver = await startReceiver(t)
  const createSender = systemRuntime.createSender
  let failures = 0
  t.intercept(systemRuntime, 'createSender', {
    value: (...parts: Parameters<typeof createSender>) => {
      const sender = createSender(...parts)
      return {
        ...sender,
        send: (request: Parameters<typeof sender.send>[0]) => {
          if (failures++ < 2) throw new Error('no descriptors')
          return sender.send(request)
        }
      }
    }
  })
  const { addWebhook, clock, deliveries, start } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const lines: string[] = []
  const logger = { ...silentLogger, error: (_fields: object, message: string) => { lines.push(message) } }
  const engine = start({ delivery: { leaseMs: 60_000 }, logger })
  for (let count = 0; count < 3; count++) await engine.emit(event)
  await runUntil(clock, engine.drain())
  t.same(await deliveries(id), Array.from({ length: 3 }, () => ['delivered', 1]))
  t.same(lines, Array.from({ length: 2 }, () => 'attempt failed unexpectedly, the delivery waits'))
})

t.test('if a turn of the worker throws, it is logged and the next turn delivers', async (t) => {
  const receiver = await startReceiver(t)
  const { nextTick } = systemRuntime
  let failures = 0
  t.intercept(systemRuntime, 'nextTick', {
    value: async () => {
      if (failures++ < 2) throw new Error('no tick')
      return await nextTick()
    }
  })
  const { addWebhook, clock, deliveries, start } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const lines: string[] = []
  const logger = { ...silentLogger, error: (_fields: object, message: string) => { lines.push(message) } }
  const engine = start({ logger })
  await engine.emit(event)
  await runUntil(clock, engine.drain())
  t.same(await deliveries(id), [['delivered', 1]])
  t.same(lines, Array.from({ length: 2 }, () => 'a turn failed unexpectedly, the next one tries again'))
})

t.test('a result that cannot be written blocks neither other results nor claims', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  splitRecordAndClaim(storage.deliveries)
  const { recordAttempts } = storage.deliveries
  let isBad = true
  storage.deliveries.recordAttempts = async (results, rule) => {
    if (isBad && results.some(({ deliveryId }) => deliveryId === 2)) throw new Error('this one cannot be written')
    return recordAttempts(results, rule)
  }
  const engine = start({ delivery: { concurrency: 4, leaseMs: 3_600_000 } })
  for (let count = 0; count < 30; count++) await engine.emit(event)
  await runUntil(clock, receiver.received(30))
  for (let poll = 0; poll < 20; poll++) await clock.advance(10)
  const others = (await deliveries(id)).filter(([status]) => status === 'delivered')
  t.equal(others.length, 29)
  isBad = false
  await runUntil(clock, engine.drain())
  t.same(await deliveries(id), Array.from({ length: 30 }, () => ['delivered', 1]))
  t.equal(receiver.requests.length, 30, 'each was attempted once')
})

t.test('a result of a locked delivery is retried until it is written', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  splitRecordAndClaim(storage.deliveries)
  const { recordAttempts } = storage.deliveries
  let told = 0
  storage.deliveries.recordAttempts = async (results, rule) => {
    const locked = results.filter(({ deliveryId }) => deliveryId === 1 && ++told < 5)
    return [...locked, ...await recordAttempts(results.filter((result) => !locked.includes(result)), rule)]
  }
  const engine = start({ delivery: { concurrency: 2, leaseMs: 3_600_000 } })
  for (let count = 0; count < 6; count++) await engine.emit(event)
  await runUntil(clock, engine.drain())
  t.same(await deliveries(id), Array.from({ length: 6 }, () => ['delivered', 1]))
  t.same([told, receiver.requests.length], [5, 6])
})

const minute = 60_000

t.test('processes that start together prune at different times within ten minutes, then every hour', async (t) => {
  const clock = createManualClock()
  const startedAt = clock.now()
  const prunedAt: number[][] = []
  const stops = Array.from({ length: 20 }, () => {
    const times: number[] = []
    prunedAt.push(times)
    const storage = memoryStorage()
    storage.deliveries.prune = async () => {
      times.push(clock.now() - startedAt)
      return 0
    }
    const pruner = createPruner(
      storage,
      { retentionDays: 30, changesRetentionDays: 90 },
      { clock, runtime: systemRuntime, log: silentLogger }
    )
    pruner.start()
    return pruner.stop
  })

  await clock.advance(0)
  t.ok(prunedAt.flat().length < 20, 'not all together')
  await clock.advance(10 * minute)
  t.same(prunedAt.map((times) => times.length), stops.map(() => 1))
  t.ok(new Set(prunedAt.flat()).size > 10, 'at different times')
  await clock.advance(60 * minute)
  t.same(prunedAt.map(([first = 0, second]) => second === first + 60 * minute), stops.map(() => true))
  for (const stop of stops) await stop(0)
  t.equal(clock.timerCount, 0)
})
