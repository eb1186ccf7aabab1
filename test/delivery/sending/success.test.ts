import t from 'tap'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import { type Answer, hang } from '../../fixtures/receivers/receiver.js'

for (const status of [200, 201, 202, 204, 206, 226, 299]) {
  t.test(`a ${status} is a success`, async (t) => {
    const { drain, emit, lastDelivery, receiver } = await startDelivering(t)
    receiver.answer(status)
    await emit()
    await drain()
    t.match(await lastDelivery(), { status: 'delivered', attempt_count: 1, response_status: status, error: null })
  })
}

for (const status of [300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 409, 422, 451, 500, 501, 502, 504, 599, 600, 999]) {
  t.test(`a ${status} is a failure, to be retried`, async (t) => {
    const { drain, emit, lastDelivery, receiver } = await startDelivering(t)
    receiver.answer(status)
    await emit()
    await drain()
    t.match(await lastDelivery(), { status: 'pending', attempt_count: 1, response_status: status, error: 'http_status' })
  })
}

t.test('a redirect is not followed', async (t) => {
  const { drain, emit, receiver } = await startDelivering(t)
  receiver.answer({ status: 307, headers: { location: `${receiver.url}/elsewhere` } })
  await emit()
  await drain()
  t.same(receiver.requests.map(({ path }) => path), ['/hook'])
})

const bodies: Array<[title: string, answer: Answer]> = [
  ['that is cut off', (response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('some')
    setImmediate(() => response.destroy())
  }],
  ['that is longer than anybody would read', { status: 200, body: 'x'.repeat(1_000_000) }],
  ['that is no JSON', { status: 200, headers: { 'content-type': 'application/json' }, body: '{"' }],
  ['that says it is compressed and is not', { status: 200, headers: { 'content-encoding': 'gzip' }, body: 'plain' }]
]

for (const [title, answer] of bodies) {
  t.test(`a 200 with a body ${title} is a success`, async (t) => {
    const { drain, emit, lastDelivery, receiver } = await startDelivering(t)
    receiver.answer(answer)
    await emit()
    await drain()
    t.match(await lastDelivery(), { status: 'delivered', attempt_count: 1, response_status: 200, error: null })
  })
}

t.test('a 200 whose body never ends is a success within the deadline', async (t) => {
  const { drain, emit, lastDelivery, receiver } = await startDelivering(t, { delivery: { timeoutMs: 1000 } })
  receiver.answer((response) => response.writeHead(200).write('some'))
  await emit()
  await drain()
  t.match(await lastDelivery(), { status: 'delivered', attempt_count: 1, response_status: 200, error: null })
})

t.test('an answer that does not come within the deadline is a failure', async (t) => {
  const { drain, emit, lastDelivery, receiver } = await startDelivering(t, { delivery: { timeoutMs: 150 } })
  receiver.answer(hang)
  await emit()
  await drain()
  const delivery = await lastDelivery()
  t.match(delivery, { status: 'pending', attempt_count: 1, response_status: null, error: 'timeout' })
  const { duration_ms: durationMs = 0 } = delivery.attempts[0] ?? {}
  t.ok(durationMs >= 149 && durationMs < 5000, `${durationMs} ms`)
})

t.test('each webhook that subscribes gets the event, whatever becomes of the others', async (t) => {
  const { create, drain, emit, log, receiver, webhook } = await startDelivering(t)
  const other = await create({ target_url: `${receiver.url}/other` })
  receiver.answer((response, { path }) => response.writeHead(path === '/hook' ? 500 : 200).end())
  t.match(await emit(), { deliveries: 2 })
  await drain()
  t.match(await log(webhook.id), [{ status: 'pending' }])
  t.match(await log(other.id), [{ status: 'delivered' }])
})
