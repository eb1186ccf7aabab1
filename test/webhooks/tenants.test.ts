import { randomBytes } from 'node:crypto'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import t from 'tap'
import { startDelivering } from '../fixtures/delivery/delivering.js'
import { createMachines, event } from '../fixtures/delivery/engine.js'

t.test('a tenant with many events is removed in batches, until nothing is left', async (t) => {
  const { app, storage } = await startDelivering(t)
  const counts = [20_000, 10_000, 0]
  const limits: unknown[] = []
  storage.webhooks.removeTenant = async (_, options) => {
    limits.push(options)
    return counts.shift() ?? 0
  }
  t.strictSame(await app.recruiting.removeTenant('acme'), { left: 0 })
  const batch = { limit: 2000, restSeconds: 3660 }
  t.same(limits, [{ ...batch, transaction: undefined }, batch, batch])
})

t.test('a transaction removes one batch and returns the number of events left', async (t) => {
  const { app, storage } = await startDelivering(t)
  const transaction = {}
  storage.webhooks.removeTenant = async (_, options) => {
    t.strictSame(options, { limit: 2000, restSeconds: 3660, transaction })
    return 12_345
  }
  t.strictSame(await app.recruiting.removeTenant('acme', { transaction }), { left: 12_345 })
})

t.test('removeTenant rejects a bad slug and unknown options, and throws after close', async (t) => {
  const { app, storage } = await startDelivering(t)
  await t.rejects(app.recruiting.removeTenant(''), { code: 'invalid_input', field: 'tenantSlug', message: /^tenantSlug: expected a tenant slug of 1 to 100 characters/ })
  await t.rejects(app.recruiting.removeTenant('acme', { transation: {} } as never), { code: 'invalid_event', field: 'transation' })
  await app.close()
  await t.rejects(app.recruiting.removeTenant('acme'), { code: 'closed' })
  t.equal(await storage.webhooks.count('acme', {}), 1)
})

t.test('a renamed tenant receives its events with the same secret, resealed for the new name', async (t) => {
  const { app, drain, receiver, storage, webhook } = await startDelivering(t, { secretKeys: [randomBytes(32)] })
  await app.recruiting.emit({ ...event, tenantSlug: 'acme' })
  t.strictSame(await app.recruiting.renameTenant('acme', 'initech'), { webhooks: 1 })
  await app.recruiting.emit({ ...event, tenantSlug: 'initech' })
  await drain()
  t.equal(receiver.requests.length, 2)
  for (const request of receiver.requests) {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    t.ok(new StandardWebhook(webhook.secret).verify(request.body, headers))
  }
  t.strictSame(receiver.requests.map(({ body }) => JSON.parse(body).tenant_slug), ['acme', 'initech'], 'recorded events keep their bytes')
  t.strictSame([await storage.webhooks.count('acme', {}), await storage.webhooks.count('initech', {})], [0, 1])
})

t.test('renameTenant rejects bad slugs, the same slug twice and unknown options, and throws after close', async (t) => {
  const { app } = await startDelivering(t)
  const rule = 'expected a tenant slug of 1 to 100 characters'
  const rejected: Array<[unknown[], string, RegExp | string]> = [
    [['', 'initech'], 'from', new RegExp(rule)],
    [['acme', 'a\nb'], 'to', new RegExp(rule)],
    [['acme', undefined], 'to', new RegExp(rule)],
    [['acme', 'acme'], 'to', 'to: expected a name other than from']
  ]
  for (const [args, field, message] of rejected) {
    await t.rejects(app.recruiting.renameTenant(...args as [string, string]), { code: 'invalid_input', field, message })
  }
  await t.rejects(app.recruiting.renameTenant('acme', 'initech', { transation: {} } as never), { code: 'invalid_event', field: 'transation' })
  await app.close()
  await t.rejects(app.recruiting.renameTenant('acme', 'initech'), { code: 'closed' })
})

t.test('slugs that differ in case, in white space or in a suffix are different tenants', async (t) => {
  const { addWebhook, start } = createMachines(t)
  await addWebhook('https://example.com/')
  const engine = start({ delivery: { worker: false } })
  for (const tenantSlug of ['Acme', 'ACME', 'acme ', ' acme', 'acme/', 'acme-2', 'acm', '__proto__', 'constructor']) {
    t.match(await engine.emit({ ...event, tenantSlug }), { deliveries: 0 }, tenantSlug)
  }
})
