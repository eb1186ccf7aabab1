import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { defaultEvents } from '../../../src/index.js'
import { memoryStorage } from '../../../src/memory/index.js'
import { createAddressRule } from '../../../src/webhooks/ssrf/addresses.js'
import { createWebhookOperations } from '../../../src/webhooks/operations.js'
import { createCapacity } from '../../../src/webhooks/sending/capacity.js'
import { createSecretBox } from '../../../src/webhooks/secrets.js'
import type { SendRequest, SendResult } from '../../../src/webhooks/sending/sender.js'
import { createManualClock } from '../../fixtures/delivery/manual-clock.js'
import { webhookInput } from '../../fixtures/api/webhook-api.js'

const acme = { slug: 'acme', id: 'acme' }

/** Operations over a sender that sends nothing. */
async function setUp (timeoutMs: number, result: SendResult = { responseStatus: 204, error: null, durationMs: 1 }) {
  const sent: SendRequest[] = []
  const capacity = createCapacity({ concurrency: 1, perEndpoint: 1, worker: false })
  const { webhooks, deliveries } = memoryStorage()
  const operations = createWebhookOperations({
    webhooks,
    deliveries,
    feed: undefined,
    events: defaultEvents,
    targetRules: { allowHttp: false, allowPrivateNames: false, isAllowedAddress: createAddressRule([]) },
    secrets: createSecretBox([]),
    sender: {
      async send (request) {
        sent.push(request)
        return result
      },
      abort () {},
      async close () {}
    },
    capacity,
    clock: createManualClock(),
    maxWebhooksPerTenant: 50,
    findHold: async () => null,
    timeoutMs
  })
  const { id } = await operations.create(acme, { ...webhookInput, status: 'active' })
  return { sent, capacity, test: () => operations.sendTest(acme, id, {}) }
}

/** Stops the time by which waits are measured; the result moves it on. */
function stopTime (t: Test): (ms: number) => void {
  let now = 0
  t.intercept(performance, 'now', { value: () => now })
  return (ms) => { now += ms }
}

t.test('a test has 10 s at most', async (t) => {
  stopTime(t)
  const { sent, test } = await setUp(15_000)
  await test()
  t.equal(sent[0]?.timeoutMs, 10_000)
})

t.test('a shorter deadline of the host holds for a test too', async (t) => {
  stopTime(t)
  const { sent, test } = await setUp(2000)
  await test()
  t.equal(sent[0]?.timeoutMs, 2000)
})

t.test('a test that a closing process has aborted is a failed connection to its client', async (t) => {
  const { test } = await setUp(15_000, { responseStatus: null, error: 'aborted', durationMs: 1 })
  t.match(await test(), { status: 'failed', response_status: null, error: 'connection' })
})

t.test('a test that has no place within its time is a timeout, and is not sent', async (t) => {
  const { capacity, sent, test } = await setUp(50)
  capacity.acquire(1)
  const result = await test()
  const { id, duration_ms: durationMs } = result ?? { id: '', duration_ms: 0 }
  t.strictSame(result, {
    id, event_type: 'application.created', status: 'failed', response_status: null, duration_ms: durationMs, error: 'timeout'
  })
  t.ok(durationMs >= 49, `waited ${durationMs} ms`)
  capacity.release(1)
  t.match(await test(), { status: 'delivered' })
  t.equal(sent.length, 1)
})

t.test('waiting for a place counts towards the time limit of a test', async (t) => {
  const pass = stopTime(t)
  const { capacity, sent, test } = await setUp(10_000)
  capacity.acquire(1)
  const tested = test()
  await setImmediate()
  pass(600)
  capacity.release(1)
  t.match(await tested, { status: 'delivered' })
  t.equal(sent[0]?.timeoutMs, 9400)
})
