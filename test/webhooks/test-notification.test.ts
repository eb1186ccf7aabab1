import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import t, { type Test } from 'tap'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { createRecruiting } from '../../src/index.js'
import { systemRuntime } from '../../src/core/webhooks/runtime.js'
import type { createLateSender } from '../../src/core/webhooks/runtime.js'
import type { SendRequest } from '../../src/core/webhooks/sending/sender.js'
import { first, startDelivering } from '../fixtures/delivery/delivering.js'
import {
  buildWebhookApi, runUntil, timeOf, toLoopback, type WebhookApiOptions, webhookInput
} from '../fixtures/api/webhook-api.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { type Answer, type Receiver, startReceiver } from '../fixtures/receivers/receiver.js'

interface Tested {
  data: { id: string, event_type: string, duration_ms: number }
}

t.test('a test sends one event marked as a test and returns the result', async (t) => {
  const { call, clock, create, receiver } = await startDelivering(t)
  const webhook = await create({ target_url: receiver.url, event_types: ['application.created', 'job.closed'] })
  const { status, body } = await call<Tested>('POST', `/webhooks/${webhook.id}/dispatch_test`)
  const { id, duration_ms: durationMs } = body.data
  t.equal(status, 200)
  t.strictSame(body, {
    data: {
      id, event_type: 'application.created', status: 'delivered', response_status: 204, duration_ms: durationMs, error: null, detail: null
    }
  })
  t.same(Object.keys(body.data), ['id', 'event_type', 'status', 'response_status', 'duration_ms', 'error', 'detail'])
  t.ok(Number.isInteger(durationMs) && durationMs >= 0)
  t.equal(receiver.requests.length, 1)
  const sent = first(receiver.requests)
  t.equal(sent.body, JSON.stringify({
    id, type: 'application.created', timestamp: timeOf(clock), sequence: '0000000000000000', tenant_slug: 'acme', data: { id: 1 }, test: true
  }))
  t.equal(`${sent.method} ${sent.path}`, 'POST /hook')
  t.equal(sent.headers['webhook-id'], id)
  t.equal(sent.headers['content-type'], 'application/json')
})

t.test('a test sends the first example of its event, or data made from the schema', async (t) => {
  const events = {
    'application.created': Type.Object({ to: Type.String() }, { examples: [{ to: 'Ada' }, { to: 'Grace' }] }),
    'offer.signed': Type.Object({ amount: Type.Integer() })
  }
  const { call, receiver, webhook } = await startDelivering(t, { events })
  for (const body of [{}, { event_type: 'offer.signed' }]) await call('POST', `/webhooks/${webhook.id}/dispatch_test`, body)
  t.same(receiver.requests.map(({ body }) => JSON.parse(body).data), [{ to: 'Ada' }, { amount: 1 }])
})

t.test('a test works for a disabled webhook and does not enable it', async (t) => {
  const { call, drain, emit, receiver, status, webhook } = await startDelivering(t)
  receiver.answer(410, 204)
  await emit()
  await drain()
  t.match((await call('POST', `/webhooks/${webhook.id}/dispatch_test`)).body, { data: { status: 'delivered' } })
  t.equal(await status(), 'disabled')
})

t.test('failed tests do not disable the webhook, not even a 410', async (t) => {
  const { call, emit, drain, receiver, status, webhook } = await startDelivering(t, {
    delivery: { retrySchedule: [0], disableAfter: { failingForSeconds: 0, failedDeliveries: 2 } }
  })
  receiver.answer(410, 500, 500, 500)
  for (let count = 0; count < 4; count++) await call('POST', `/webhooks/${webhook.id}/dispatch_test`)
  t.equal(await status(), 'active')
  await emit()
  await drain()
  t.equal(await status(), 'active', 'only one delivery has failed')
})

t.test('the target rules apply in a process with delivery: false', async (t) => {
  const receiver = await startReceiver(t)
  const storage = memoryStorage()
  const { create } = await buildWebhookApi(t, { storage, delivery: toLoopback })
  const { id } = await create({ target_url: receiver.url })
  const app = await buildApp(t, { storage, delivery: false })
  const url = `/api/v1/public/acme/webhooks/${id}/dispatch_test`
  const answer = await app.inject({ method: 'POST', url, headers: bearer(keys.full) })
  t.equal(answer.statusCode, 200)
  t.match(answer.json(), { data: { status: 'failed', error: 'blocked' } })
  t.equal(receiver.requests.length, 0)
})

t.test('a failed test is a 200 with the error, without a retry, a redirect, a body or an entry in the log', async (t) => {
  const { call, receiver, webhook } = await startDelivering(t)
  const inner = { status: 500, headers: { 'x-internal': 'inner-header' }, body: 'inner-text' }
  const redirect = { status: 302, headers: { location: 'http://127.0.0.1:9/elsewhere' } }
  const answers: Array<[answer: Answer, status: number | null, error: string]> = [
    [(response) => response.destroy(), null, 'connection'], [inner, 500, 'http_status'], [redirect, 302, 'http_status']
  ]
  receiver.answer(...answers.map(([answer]) => answer))
  for (const [index, [, responseStatus, error]] of answers.entries()) {
    const { status, headers, body: { data } } = await call<Tested>('POST', `/webhooks/${webhook.id}/dispatch_test`)
    t.equal(status, 200)
    t.notMatch(JSON.stringify(headers), /inner/)
    const { id, duration_ms: durationMs } = data
    const detail = error === 'connection' ? 'reset' : null
    const how = { status: 'failed', response_status: responseStatus, duration_ms: durationMs, error, detail }
    t.strictSame(data, { id, event_type: 'application.created', ...how })
    t.equal(receiver.requests.length, index + 1)
  }
  t.match((await call('GET', `/webhooks/${webhook.id}/deliveries`)).body, { data: [], meta: { total: 0 } })
})

interface TestedPlaces {
  data: { status: string, error: string | null }
}

/** A host, and a receiver that counts unanswered requests and answers on demand. */
async function startHolding (t: Test, delivery: WebhookApiOptions['delivery']) {
  const host = await startDelivering(t, delivery === undefined ? {} : { delivery })
  const held: ServerResponse[] = []
  let most = 0
  host.receiver.answer((response) => {
    held.push(response)
    most = Math.max(most, held.length)
  })
  return {
    ...host,
    held,
    most: () => most,
    answerNext: () => held.shift()?.writeHead(204).end(),
    sendTest: (id = host.webhook.id) => host.call<TestedPlaces>('POST', `/webhooks/${id}/dispatch_test`)
  }
}

/** Answers all waiting requests each time one arrives, until this many have arrived. */
async function answerAll (
  { receiver, answerNext }: { receiver: Receiver, answerNext: () => unknown }, count: number
): Promise<void> {
  for (let come = 1; come <= count; come++) {
    await receiver.received(come)
    answerNext()
  }
}

t.test('at most perEndpoint tests of one webhook run at a time', async (t) => {
  const host = await startHolding(t, { perEndpoint: 3 })
  const other = await host.create({ target_url: `${host.receiver.url}/other` })
  const tests = [...Array.from({ length: 8 }, () => host.sendTest()), host.sendTest(other.id)]
  const sent = await host.receiver.received(4)
  t.same(sent.map(({ path }) => path).sort(), ['/hook', '/hook', '/hook', '/hook/other'])
  await answerAll(host, 9)
  t.ok((await Promise.all(tests)).every(({ body }) => body.data.status === 'delivered'))
})

t.test("a tenant's tests use at most half of the places, and another tenant's find one", async (t) => {
  const host = await startHolding(t, { perEndpoint: 3, concurrency: 4 })
  const { webhooks } = host.app.recruiting
  const globex = { tenantSlug: 'globex' }
  const other = await webhooks.create(globex, {
    name: 'x', target_url: `${host.receiver.url}/globex`, event_types: ['application.created']
  })
  const ids = await Promise.all(Array.from({ length: 10 }, async () =>
    (await host.create({ target_url: host.receiver.url })).id))
  const tests = Promise.all(ids.flatMap((id) => [host.sendTest(id), host.sendTest(id)]))
  await host.receiver.received(2)
  const foreign = webhooks.sendTest(globex, other.id)
  const sent = await host.receiver.received(3)
  t.strictSame(sent.map(({ path }) => path), ['/hook', '/hook', '/hook/globex'])
  await answerAll(host, 21)
  t.match(await foreign, { status: 'delivered' })
  t.ok((await tests).every(({ body }) => body.data.status === 'delivered'))
})

t.test('a test gets 503 if too many of the tenant wait', async (t) => {
  const host = await startHolding(t, { perEndpoint: 1 })
  const tests = Array.from({ length: 51 }, () => host.sendTest())
  await host.receiver.received(1)
  const { status, headers, body } = await host.sendTest()
  t.match([status, headers['retry-after'], body], [503, '5', { error: { code: 'unavailable' } }])
  await answerAll(host, 51)
  t.ok((await Promise.all(tests)).every(({ body }) => body.data.status === 'delivered'))
})

t.test('a delivery waits while tests use all slots of its endpoint or of the process', async (t) => {
  for (const delivery of [{ perEndpoint: 1 }, { concurrency: 1 }]) {
    const host = await startHolding(t, delivery)
    const test = host.sendTest()
    await host.receiver.received(1)
    await host.emit()
    await host.emit()
    // By then, the worker has done everything that it does immediately.
    await host.clock.advance(100)
    t.equal(host.receiver.requests.length, 1)
    host.answerNext()
    t.match(await test, { body: { data: { status: 'delivered' } } })
    await answerAll(host, 3)
    await host.drain()
    t.equal(host.most(), 1)
    t.same((await host.log()).map(({ status }) => status), ['delivered', 'delivered'])
  }
})

t.test('closing ends the tests and releases deliveries that wait for a slot', async (t) => {
  const { app, clock, storage, emit, receiver, sendTest } = await startHolding(t, { perEndpoint: 1 })
  const tests = [sendTest(), sendTest()]
  await receiver.received(1)
  await emit()
  await clock.advance(100)
  await runUntil(clock, app.close())
  t.match(await Promise.all(tests), [
    { status: 200, body: { data: { status: 'failed', error: 'connection' } } },
    { status: 200, body: { data: { status: 'failed', error: 'timeout' } } }
  ])
  t.equal(receiver.requests.length, 1)
  t.match(await storage.deliveries.stats(), { pending: 1, due: 1, leased: 0 })
})

/** A process with one slot for tests, whose requests wait for `answer`. */
async function setUp (t: Test, timeoutMs: number) {
  const sent: SendRequest[] = []
  const answers: Array<() => void> = []
  const sender: ReturnType<typeof createLateSender> = {
    load: async () => sender,
    send: (request) => new Promise((resolve) => {
      sent.push(request)
      answers.push(() => resolve({ responseStatus: 204, error: null, durationMs: 1 }))
    }),
    abort () {},
    async close () {}
  }
  t.intercept(systemRuntime, 'createSender', { value: () => sender })
  const delivery = { worker: false, timeoutMs, concurrency: 1, perEndpoint: 1 }
  const { webhooks, close } = createRecruiting({ storage: memoryStorage(), delivery })
  t.teardown(close)
  const { id } = await webhooks.create('acme', webhookInput)
  return {
    sent,
    answer: () => answers.shift()?.(),
    async test () {
      const tested = webhooks.sendTest('acme', id)
      for (let turn = 0; turn < 10; turn++) await setImmediate()
      return { tested }
    }
  }
}

t.test('a test has at most 10 s, or the host\'s deadline if that is shorter', async (t) => {
  t.intercept(performance, 'now', { value: () => 0 })
  for (const [timeoutMs, longestMs] of [[15_000, 10_000], [2000, 2000]] as const) {
    const { sent, answer, test } = await setUp(t, timeoutMs)
    const { tested } = await test()
    answer()
    await tested
    t.equal(sent[0]?.timeoutMs, longestMs)
  }
})

t.test('a test that gets no slot in time is a timeout and is not sent', async (t) => {
  const { sent, answer, test } = await setUp(t, 100)
  const first = await test()
  const { id, duration_ms: durationMs, ...result } = await (await test()).tested
  t.strictSame(result, { event_type: 'application.created', status: 'failed', response_status: null, error: 'timeout', detail: null })
  t.ok(durationMs >= 99, `waited ${durationMs} ms`)
  answer()
  t.match(await first.tested, { status: 'delivered' })
  t.equal(sent.length, 1)
})

t.test('waiting for a slot counts towards the time limit of a test', async (t) => {
  let now = 0
  t.intercept(performance, 'now', { value: () => now })
  const { sent, answer, test } = await setUp(t, 10_000)
  const first = await test()
  const second = await test()
  now = 600
  answer()
  await first.tested
  while (sent.length < 2) await setImmediate()
  answer()
  t.match(await second.tested, { status: 'delivered' })
  t.equal(sent[1]?.timeoutMs, 9400)
})
