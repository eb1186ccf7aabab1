import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import type { Receiver } from '../../fixtures/receivers/receiver.js'
import { type WebhookApiOptions, runUntil } from '../../fixtures/api/webhook-api.js'

interface Tested {
  data: { status: string, error: string | null }
}

/** A host, and a receiver that counts the requests it has not answered; it answers when it is told to. */
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
    sendTest: (id = host.webhook.id) => host.call<Tested>('POST', `/webhooks/${id}/dispatch_test`)
  }
}

/** Answers whatever has come, as often as something comes, until so many requests have come. */
async function answerAll ({ receiver, answerNext }: { receiver: Receiver, answerNext: () => unknown }, count: number): Promise<void> {
  for (let come = 1; come <= count; come++) {
    await receiver.received(come)
    answerNext()
  }
}

for (const worker of [true, false]) {
  const where = worker ? 'in a process that delivers' : 'in a process that does not deliver'

  t.test(`of 100 concurrent tests at most perEndpoint run at a time, ${where}`, async (t) => {
    const host = await startHolding(t, { worker, perEndpoint: 3, concurrency: 20 })
    const tests = Promise.all(Array.from({ length: 100 }, () => host.sendTest()))
    await host.receiver.received(3)
    await answerAll(host, 100)
    const statuses = (await tests).map(({ status, body }) => [status, body.data.status, body.data.error])
    t.same(statuses, Array(100).fill([200, 'delivered', null]))
    t.equal(host.most(), 3)
  })

  t.test(`of the tests of many webhooks at most concurrency run at a time, ${where}`, async (t) => {
    const host = await startHolding(t, { worker, perEndpoint: 3, concurrency: 4 })
    const ids = await Promise.all(Array.from({ length: 10 }, async () => (await host.create({ target_url: host.receiver.url })).id))
    const tests = Promise.all(ids.flatMap((id) => [host.sendTest(id), host.sendTest(id)]))
    // A worker keeps a quarter for deliveries.
    const most = worker ? 3 : 4
    await host.receiver.received(most)
    await answerAll(host, 20)
    t.ok((await tests).every(({ body }) => body.data.status === 'delivered'))
    t.equal(host.most(), most)
  })
}

t.test('a test waits while deliveries take all places of its endpoint', async (t) => {
  const host = await startHolding(t, { perEndpoint: 2 })
  await host.emit()
  await host.emit()
  await host.receiver.received(2)
  const test = host.sendTest()
  const other = await host.create({ target_url: host.receiver.url })
  const elsewhere = host.sendTest(other.id)
  await host.receiver.received(3)
  t.equal(host.held.length, 3, 'two deliveries, and the test of the other webhook')
  host.answerNext()
  await host.receiver.received(4)
  while (host.held.length > 0) host.answerNext()
  t.match([await test, await elsewhere], [{ body: { data: { status: 'delivered' } } }, { body: { data: { status: 'delivered' } } }])
})

t.test('a test waits while deliveries take all places of the process', async (t) => {
  const host = await startHolding(t, { concurrency: 1 })
  await host.emit()
  await host.receiver.received(1)
  const other = await host.create({ target_url: host.receiver.url })
  const test = host.sendTest(other.id)
  host.answerNext()
  await host.receiver.received(2)
  host.answerNext()
  t.match(await test, { body: { data: { status: 'delivered' } } })
  t.equal(host.most(), 1)
})

t.test('a delivery waits while tests take all places of its endpoint, or of the process', async (t) => {
  for (const delivery of [{ perEndpoint: 1 }, { concurrency: 1 }]) {
    const host = await startHolding(t, delivery)
    const test = host.sendTest()
    await host.receiver.received(1)
    await host.emit()
    await host.emit()
    // Whatever a worker does at once, it has done by then.
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

t.test('tests of endpoints that hang leave places for deliveries', async (t) => {
  const host = await startHolding(t, { concurrency: 4, perEndpoint: 4 })
  const silent = await host.create({ target_url: host.receiver.url, event_types: ['job.created'] })
  const tests = Promise.all(Array.from({ length: 10 }, () => host.sendTest(silent.id)))
  await host.receiver.received(3)
  await host.emit()
  await host.receiver.received(4)
  host.held.pop()?.writeHead(204).end()
  await host.drain()
  t.same((await host.log()).map(({ status }) => status), ['delivered'])
  await answerAll(host, 11)
  while (host.held.length > 0) host.answerNext()
  await tests
})

t.test('closing ends the tests and releases the deliveries that wait for a place', async (t) => {
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
