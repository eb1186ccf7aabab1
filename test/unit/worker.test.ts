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

/** A worker over three deliveries that are under way, and how many results each `complete` gets. */
async function startWorker () {
  const { webhooks, deliveries } = memoryStorage()
  await webhooks.create('acme', createWebhook(1), 10)
  for (const id of ['evt_1', 'evt_2', 'evt_3']) await deliveries.record('acme', createEvent(id))
  const { complete } = deliveries
  const batches: number[] = []
  deliveries.complete = async (results, rule) => {
    batches.push(results.length)
    return complete(results, rule)
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
  return { worker, batches, underWay }
}

t.test('attempts that end shortly one after the other are completed together', async (t) => {
  const { worker, batches, underWay } = await startWorker()
  for (const end of underWay) {
    await setImmediate()
    end()
  }
  while (batches.length === 0) await setImmediate()
  await worker.close()
  t.same(batches, [3])
})

t.test('but not held up by one that takes longer', async (t) => {
  const { worker, batches, underWay } = await startWorker()
  const [one, another, slow] = underWay
  one?.()
  another?.()
  while (batches.length === 0) await setImmediate()
  t.equal(worker.inFlight, 1)
  slow?.()
  await worker.close()
  t.same(batches, [2, 1])
})
