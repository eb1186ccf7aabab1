import t from 'tap'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import { event } from '../../fixtures/delivery/engine.js'

t.test('nothing of a removed tenant is sent, and its webhooks are gone', async (t) => {
  const { app, clock, drain, receiver, storage } = await startDelivering(t)
  receiver.answer(500)
  await app.recruiting.emit({ ...event, tenantSlug: 'acme' })
  await drain()
  t.equal(receiver.requests.length, 1)
  t.strictSame(await app.recruiting.removeTenant('acme'), { left: 0 })
  await clock.skip(86_400_000)
  await drain()
  t.equal(receiver.requests.length, 1)
  t.equal(await storage.webhooks.count('acme', {}), 0)
  t.strictSame(await app.recruiting.removeTenant('acme'), { left: 0 }, 'and removing it again changes nothing')
})

t.test('a tenant with many events is removed in batches, until nothing is left', async (t) => {
  const { app, storage } = await startDelivering(t)
  const counts = [20_000, 10_000, 0]
  const limits: unknown[] = []
  storage.webhooks.removeTenant = async (_, options) => {
    limits.push(options)
    return counts.shift() ?? 0
  }
  t.strictSame(await app.recruiting.removeTenant('acme'), { left: 0 })
  const batch = { limit: 10_000, restSeconds: 3660 }
  t.same(limits, [{ ...batch, transaction: undefined }, batch, batch])
})

t.test('in a transaction one batch is removed, and the rest is told', async (t) => {
  const { app, storage } = await startDelivering(t)
  const transaction = {}
  storage.webhooks.removeTenant = async (_, options) => {
    t.strictSame(options, { limit: 10_000, restSeconds: 3660, transaction })
    return 12_345
  }
  t.strictSame(await app.recruiting.removeTenant('acme', { transaction }), { left: 12_345 })
})

t.test('removing refuses a name that is none, unknown options and a closed engine', async (t) => {
  const { app, storage } = await startDelivering(t)
  await t.rejects(app.recruiting.removeTenant(''), { code: 'invalid_input', field: 'tenantSlug', message: /^tenantSlug: expected a tenant slug of 1 to 100 characters/ })
  await t.rejects(app.recruiting.removeTenant('acme', { transation: {} } as never), { code: 'invalid_event', field: 'transation' })
  await app.close()
  await t.rejects(app.recruiting.removeTenant('acme'), { code: 'closed' })
  t.equal(await storage.webhooks.count('acme', {}), 1)
})
