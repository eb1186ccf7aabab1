import t from 'tap'
import { createDeliveryKit } from './fixtures/delivery-kit.js'
import { createEvent } from '../../src/testing/support/samples.js'

t.test('an event id is refused the second time, also for another tenant', async (t) => {
  const { addWebhook, deliveries, log } = createDeliveryKit()
  const webhook = await addWebhook()
  const foreign = await addWebhook({ tenantSlug: 'other' })
  await deliveries.record('acme', createEvent('evt_1'))

  const refusal = { code: 'invalid_event', field: 'id', message: 'id: is taken by another event' }
  await t.rejects(deliveries.record('acme', createEvent('evt_1')), refusal)
  await t.rejects(deliveries.record('other', { ...createEvent('evt_1'), idempotencyKey: 'once' }), refusal)
  t.equal((await log(webhook)).length, 1)
  t.strictSame(await log(foreign, 'other'), [])
})

t.test('a transaction is refused, and nothing is recorded', async (t) => {
  const { addWebhook, deliveries, log } = createDeliveryKit()
  const webhook = await addWebhook()

  await t.rejects(deliveries.record('acme', createEvent('evt_1'), { query () {} }), {
    code: 'invalid_event', field: 'transaction', message: 'transaction: the memory storage has no transactions'
  })
  t.strictSame(await log(webhook), [])
})
