import t from 'tap'
import { setImmediate } from 'node:timers/promises'
import { memoryStorage } from '../../src/memory/index.js'
import { systemClock } from '../../src/system-clock.js'
import { createEvent, createWebhook, lenient } from '../../src/testing/support/samples.js'
import { createCounters } from '../../src/webhooks/counters.js'
import { silentLogger } from '../../src/webhooks/logger.js'
import { createSecretBox } from '../../src/webhooks/secrets.js'
import type { SendResult } from '../../src/webhooks/sender.js'
import { createWorker } from '../../src/webhooks/worker.js'

t.test('attempts that end in ticks one after the other are completed together', async (t) => {
  const { webhooks, deliveries } = memoryStorage()
  await webhooks.create('acme', createWebhook(1), 10)
  for (const id of ['evt_1', 'evt_2', 'evt_3']) await deliveries.record('acme', createEvent(id))
  const { complete } = deliveries
  const batches: number[] = []
  deliveries.complete = async (results, rule) => {
    batches.push(results.length)
    return complete(results, rule)
  }
  const underWay: Array<(result: SendResult) => void> = []
  const worker = createWorker({
    deliveries,
    sender: { send: () => new Promise((resolve) => underWay.push(resolve)), abort () {}, async close () {} },
    secrets: createSecretBox([]),
    clock: systemClock,
    log: silentLogger,
    counters: createCounters(),
    tracing: null,
    onNotice () {}
  }, {
    concurrency: 4,
    perEndpoint: 4,
    timeoutMs: 1000,
    leaseMs: 60_000,
    pollMs: 60_000,
    closeGraceMs: 1000,
    retrySchedule: [0],
    healthRule: lenient
  })
  worker.start()
  while (underWay.length < 3) await setImmediate()
  for (const end of underWay) {
    await setImmediate()
    end({ responseStatus: 204, error: null, durationMs: 1 })
  }
  while (worker.inFlight > 0 || batches.length === 0) await setImmediate()
  await worker.close()
  t.same(batches, [3])
})
