import t from 'tap'
import { createDeliveryKit } from './fixtures/delivery-kit.js'
import { memoryStorage } from '../../src/memory/index.js'
import { createEvent, createWebhook, delivered, lenient } from '../../src/testing/support/samples.js'

t.test('an event id is refused the second time, also for another tenant', async (t) => {
  const { addWebhook, deliveries, log } = createDeliveryKit()
  const webhook = await addWebhook()
  const foreign = await addWebhook({ tenantSlug: 'other' })
  await deliveries.record('acme', createEvent('evt_1'))

  const refusal = { code: 'invalid_event', field: 'id', message: 'id: belongs to another event' }
  await t.rejects(deliveries.record('acme', createEvent('evt_1')), refusal)
  await t.rejects(deliveries.record('other', { ...createEvent('evt_1'), idempotencyKey: 'once' }), refusal)
  t.equal((await log(webhook)).length, 1)
  t.strictSame(await log(foreign, 'other'), [])
})

t.test('a transaction is refused, and nothing is recorded', async (t) => {
  const { addWebhook, deliveries, log } = createDeliveryKit()
  const webhook = await addWebhook()

  await t.rejects(deliveries.record('acme', createEvent('evt_1'), { query () {} }), {
    code: 'invalid_event', field: 'transaction', message: 'transaction: the memory storage has no transactions; in tests, recordEvents of fastify-recruiting-api/testing takes any handle'
  })
  t.strictSame(await log(webhook), [])
})

t.test('an event is recorded at the very time that the log of its deliveries shows, however fast the clock runs', async (t) => {
  let now = Date.parse('2026-03-01T09:30:00.000Z')
  const { webhooks, deliveries } = memoryStorage({ clock: { now: () => now++ } })
  await webhooks.create('acme', createWebhook(1), 10)
  await deliveries.record('acme', createEvent('evt_1'))
  const [lease] = await deliveries.claimDue({ limit: 1, perEndpoint: 1, leaseMs: 60_000 })
  await deliveries.recordAttempts(lease === undefined ? [] : [delivered(lease)], lenient)
  const [logged] = await deliveries.list('acme', 1, { filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 1 })
  const at = String(logged?.created_at)
  const selection = { include: 'all', eventTypes: null, eventIds: null, since: at, until: at, limit: 1 } as const
  t.same(await deliveries.replay('acme', 1, selection), { queued: 1, truncated: false })
})
