import t, { type Test } from 'tap'
import { setImmediate } from 'node:timers/promises'
import { memoryStorage } from '../../../src/memory/index.js'
import { systemClock } from '../../../src/shared/clock.js'
import { createEvent, createWebhook, lenient } from '../../../src/testing/support/samples.js'
import { createCounters } from '../../../src/webhooks/queue/counters.js'
import { createManualClock } from '../../fixtures/delivery/manual-clock.js'
import { silentLogger } from '../../fixtures/delivery/silent-logger.js'
import { createCapacity } from '../../../src/webhooks/sending/capacity.js'
import { createSecretBox } from '../../../src/webhooks/secrets.js'
import type { SendResult } from '../../../src/webhooks/sending/sender.js'
import { createWorker } from '../../../src/webhooks/queue/worker.js'

/**
 * A worker with three deliveries under way, recorded in one tick; how many each claim found, and each `recordAttempts` got. It
 * gathers results until `endGathering` is called.
 */
async function startWorker (t: Test) {
  let endGathering = (): void => {}
  t.intercept(systemClock, 'setTimeout', { value: (callback: () => void) => { endGathering = callback } })
  const { webhooks, deliveries } = memoryStorage()
  await webhooks.create('acme', createWebhook(1), 10)
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
  const underWay: Array<() => void> = []
  const worker = createWorker({
    deliveries,
    sender: {
      send: () => new Promise<SendResult>((resolve) => {
        underWay.push(() => resolve({ responseStatus: 204, error: null, durationMs: 1 }))
      }),
      abort () {},
      async close () {}
    },
    capacity: createCapacity({ concurrency: 4, perEndpoint: 4, worker: true }),
    secrets: createSecretBox([]),
    clock: createManualClock(),
    log: silentLogger,
    counters: createCounters(),
    tracing: null,
    async onFailures () {}
  }, {
    concurrency: 4,
    perEndpoint: 4,
    timeoutMs: 1000,
    responseExcerptBytes: 0,
    propagateTrace: false,
    leaseMs: 60_000,
    pollMs: 60_000,
    closeGraceMs: 1000,
    environment: null,
    retrySchedule: [0],
    healthRule: lenient
  })
  worker.start()
  while (claims.length === 0) await setImmediate()
  for (const id of ['evt_1', 'evt_2', 'evt_3']) {
    await deliveries.record('acme', createEvent(id))
    // All that the worker would do at once, it has done by then, within the same tick.
    for (let step = 0; step < 100; step++) await null
  }
  while (underWay.length < 3) await setImmediate()
  return { worker, claims, batches, underWay, endGathering: () => endGathering() }
}

t.test('deliveries that are recorded in one tick are claimed together', async (t) => {
  const { worker, claims, underWay } = await startWorker(t)
  t.same(claims, [0, 3])
  for (const end of underWay) end()
  await worker.close()
})

t.test('attempts that end shortly one after the other are completed together', async (t) => {
  const { worker, batches, underWay } = await startWorker(t)
  for (const end of underWay) {
    await setImmediate()
    end()
  }
  while (batches.length === 0) await setImmediate()
  await worker.close()
  t.same(batches, [3])
})

t.test('but not held up by one that takes longer', async (t) => {
  const { worker, batches, underWay, endGathering } = await startWorker(t)
  const [one, another, slow] = underWay
  one?.()
  another?.()
  await setImmediate()
  await setImmediate()
  t.same(batches, [])
  endGathering()
  while (batches.length === 0) await setImmediate()
  t.equal(worker.inFlight, 1)
  slow?.()
  await worker.close()
  t.same(batches, [2, 1])
})
