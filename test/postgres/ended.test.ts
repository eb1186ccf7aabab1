import t from 'tap'
import { startPostgresHost } from '../fixtures/postgres.js'
import { createEvent, createWebhook, delivered, lenient } from '../../src/testing/support/samples.js'

t.test('a lease that has ended takes no place of its endpoint, even before it is completed', async (t) => {
  const { storage: { webhooks, deliveries } } = await startPostgresHost(t)
  await webhooks.create('acme', createWebhook(await webhooks.nextId('acme')), 10)
  for (const id of ['evt_1', 'evt_2', 'evt_3']) await deliveries.record('acme', createEvent(id))
  const claim = (options: object) => deliveries.claimDue({ limit: 10, perEndpoint: 1, leaseMs: 60_000, ...options })

  const [first] = await claim({})
  if (first === undefined) throw new Error('nothing was claimed')
  t.same(await claim({}), [], 'its place is taken')
  t.same(await claim({ ended: [{ ...first, fence: first.fence - 1 }] }), [], 'by this very lease and no other')
  const second = await claim({ ended: [first] })
  t.same(second.map(({ eventId }) => eventId), ['evt_2'], 'once it has ended there is place for another, and it is not claimed again')
  t.same(await claim({ ended: [first] }), [], 'for one other')
  await deliveries.complete([delivered(first)], lenient)
  t.same((await claim({ ended: second })).map(({ eventId }) => eventId), ['evt_3'])
})
