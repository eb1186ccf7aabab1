import t from 'tap'
import { type Delivering, startDelivering } from '../../fixtures/delivery/delivering.js'
import { hang } from '../../fixtures/receivers/receiver.js'

for (const status of [429, 503]) {
  t.test(`a ${status} pauses the webhook for as long as Retry-After says`, async (t) => {
    const delivering = await startDelivering(t)
    const { clock, drain, emit, receiver, storage } = delivering
    receiver.answer({ status, headers: { 'retry-after': '600' } }, 204)
    await emit()
    await drain()
    await emit()
    await emit()
    await clock.advance(599_990)
    t.match(await storage.deliveries.stats(), { pending: 3, leased: 0 })
    t.equal(receiver.requests.length, 1)
    await clock.advance(20)
    await drain()
    t.equal(receiver.requests.length >= 3, true)
    await delivering.retry()
    t.same(await statuses(delivering), ['delivered', 'delivered', 'delivered'])
  })
}

t.test('one event that always meets a 503 delays the other events of its webhook by a minute at most each time', async (t) => {
  const delivering = await startDelivering(t)
  const { clock, drain, emit, receiver } = delivering
  const { id: cursed } = await emit()
  receiver.answer((response, { headers }) => { response.writeHead(headers['webhook-id'] === cursed ? 503 : 204).end() })
  await drain()
  for (let attempt = 1; attempt < 4; attempt++) {
    await emit()
    await clock.advance(60_010)
    await drain()
    t.equal((await statuses(delivering)).filter((status) => status === 'delivered').length, attempt)
    await delivering.retry()
  }
})

for (const status of [404, 500, 502]) {
  t.test(`a ${status} pauses nothing`, async (t) => {
    const delivering = await startDelivering(t)
    const { drain, emit, receiver } = delivering
    receiver.answer({ status, headers: { 'retry-after': '600' } }, 204)
    await emit()
    await drain()
    await emit()
    await drain()
    t.same(await statuses(delivering), ['pending', 'delivered'])
  })
}

t.test('a first timeout pauses nothing, the next one does', async (t) => {
  const delivering = await startDelivering(t, { delivery: { timeoutMs: 1000 } })
  const { drain, emit, receiver, storage } = delivering
  receiver.answer(hang)
  await emit()
  await drain()
  await emit()
  await drain()
  t.equal(receiver.requests.length, 2)
  await emit()
  t.match(await storage.deliveries.stats(), { pending: 3, due: 0 })
  await drain()
  t.equal(receiver.requests.length, 2)
})

t.test('a pause of a webhook does not pause another', async (t) => {
  const { create, drain, emit, log, receiver } = await startDelivering(t)
  const other = await create({ target_url: `${receiver.url}/other` })
  receiver.answer((response, { path }) => response.writeHead(path === '/hook' ? 503 : 204).end())
  await emit()
  await drain()
  await emit()
  await drain()
  t.match(await log(other.id), [{ status: 'delivered' }, { status: 'delivered' }])
})

t.test('made active by the client, a webhook is no longer paused', async (t) => {
  const delivering = await startDelivering(t)
  const { call, drain, emit, receiver, webhook } = delivering
  receiver.answer({ status: 503, headers: { 'retry-after': '86400' } }, 204)
  await emit()
  await drain()
  await emit()
  await call('PATCH', `/webhooks/${webhook.id}`, { status: 'active' })
  await drain()
  t.same(await statuses(delivering), ['pending', 'delivered'])
})

t.test('an attempt in flight that succeeds ends the pause', async (t) => {
  const delivering = await startDelivering(t)
  const { drain, emit, receiver, storage } = delivering
  let succeed = () => {}
  receiver.answer((response) => { succeed = () => response.writeHead(204).end() }, 503, 204)
  await emit()
  await receiver.received(1)
  await emit()
  await receiver.received(2)
  while ((await storage.deliveries.stats()).leased > 1) await new Promise(setImmediate)
  await emit()
  t.equal(receiver.requests.length, 2)
  succeed()
  await receiver.received(3)
  await drain()
  t.same(await statuses(delivering), ['delivered', 'pending', 'delivered'])
})

async function statuses ({ log }: Delivering): Promise<string[]> {
  return (await log()).map(({ status }) => status)
}
