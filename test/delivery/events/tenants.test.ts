import t from 'tap'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

t.test('an event goes only to webhooks of its own tenant', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, deliveries, start } = createMachines(t)
  const ours = await addWebhook(`${receiver.url}/acme`)
  const theirs = await addWebhook(`${receiver.url}/globex`, { tenantSlug: 'globex' })
  const engine = start()
  await engine.emit(event)
  await engine.drain()
  t.same(receiver.requests.map(({ path, body }) => [path, JSON.parse(body).tenant_slug]), [['/hook/acme', 'acme']])
  t.same(await deliveries(ours), [['delivered', 1]])
  t.same(await deliveries(theirs, 'globex'), [])
})

t.test('slugs that differ in case, in white space or in a suffix are different tenants', async (t) => {
  const { addWebhook, start } = createMachines(t)
  await addWebhook('https://example.com/')
  const engine = start({ delivery: { worker: false } })
  for (const tenantSlug of ['Acme', 'ACME', 'acme ', ' acme', 'acme/', 'acme-2', 'acm', '__proto__', 'constructor']) {
    t.match(await engine.emit({ ...event, tenantSlug }), { deliveries: 0 }, tenantSlug)
  }
})

t.test('a webhook of a tenant whose receiver is down takes nothing from another tenant', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, deliveries, start } = createMachines(t)
  await addWebhook('http://127.0.0.1:1/')
  const theirs = await addWebhook(receiver.url, { tenantSlug: 'globex' })
  const engine = start({ delivery: { concurrency: 1 } })
  for (let count = 0; count < 20; count++) await engine.emit(event)
  await engine.emit({ ...event, tenantSlug: 'globex' })
  await engine.drain()
  t.same(await deliveries(theirs, 'globex'), [['delivered', 1]])
})

t.test('a webhook gets only events that were emitted since it was created', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, start } = createMachines(t)
  const engine = start()
  await engine.emit(event)
  await addWebhook(receiver.url)
  const { id } = await engine.emit(event)
  await engine.drain()
  t.same(receiver.requests.map(({ headers }) => headers['webhook-id']), [id])
})
