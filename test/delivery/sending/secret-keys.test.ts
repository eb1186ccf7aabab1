import t from 'tap'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { first, startDelivering } from '../../fixtures/delivery/delivering.js'
import { type Machines, createMachines, event } from '../../fixtures/delivery/engine.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { buildWebhookApi, toLoopback } from '../../fixtures/api/webhook-api.js'

const oldKey = randomBytes(32)
const newKey = randomBytes(32)

t.test('with secretKeys the storage never sees a secret, and receivers notice nothing', async (t) => {
  const { call, drain, emit, receiver, storage, webhook } = await startDelivering(t, { secretKeys: [newKey] })
  const { body } = await call<{ data: { secret: string } }>('POST', `/webhooks/${webhook.id}/rotate_secret`)
  const stored = await storage.webhooks.findSecrets('acme', webhook.id) ?? []
  t.equal(stored.length, 2)
  for (const text of stored) t.match(text, /^sealed_v1:[A-Za-z0-9+/=]+$/)
  await emit()
  await drain()
  const request = first(receiver.requests)
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  for (const secret of [webhook.secret, body.data.secret]) t.ok(new StandardWebhook(secret).verify(request.body, headers))
})

t.test('two webhooks with the same secret are sealed differently, and a text that was moved does not open', async (t) => {
  const { call, create, storage } = await buildWebhookApi(t, { secretKeys: [newKey], delivery: toLoopback })
  const [one, two] = [await create(), await create()]
  const [sealed = ''] = await storage.webhooks.findSecrets('acme', one.id) ?? []
  const [replaced = ''] = await storage.webhooks.findSecrets('acme', two.id) ?? []
  await storage.webhooks.replaceSecret('acme', two.id, { from: replaced, to: sealed })
  t.equal((await call('POST', `/webhooks/${two.id}/dispatch_test`)).status, 500)
})

t.test('secrets from before the keys, and those of older keys, still sign', async (t) => {
  const receiver = await startReceiver(t)
  const machines = createMachines(t)
  const ids = [
    await addSealed(machines, receiver.url, []),
    await addSealed(machines, receiver.url, [oldKey]),
    await addSealed(machines, receiver.url, [newKey, oldKey])
  ]
  const engine = machines.start({ secretKeys: [newKey, oldKey] })
  await engine.emit(event)
  await engine.drain()
  for (const id of ids) t.same(await machines.deliveries(id), [['delivered', 1]])
})

t.test('a delivery whose secret cannot be opened waits for the key, and no attempt is counted', async (t) => {
  const receiver = await startReceiver(t)
  const machines = createMachines(t)
  const { clock, deliveries, start } = machines
  const id = await addSealed(machines, receiver.url, [oldKey])
  const logged: Array<{ fields: object, message: string }> = []
  const logger = { info () {}, warn () {}, error (fields: object, message: string) { logged.push({ fields, message }) } }
  const engine = start({ logger, secretKeys: [newKey] })
  const { id: eventId } = await engine.emit(event)
  await clock.advance(10)
  t.same(await deliveries(id), [['pending', 0]])
  t.match(logged, [{
    fields: { webhook_id: id, event_id: eventId, err: new Error(closed(id)) },
    message: 'no key in secretKeys opens the webhook secret, the delivery waits'
  }])
  await engine.close()
  await clock.advance(60_000)
  const next = start({ secretKeys: [newKey, oldKey] })
  await next.drain()
  t.same(await deliveries(id), [['delivered', 1]])
})

t.test('resealSecrets seals with the first key what is not, previous secrets too, and counts them', async (t) => {
  const receiver = await startReceiver(t)
  const machines = createMachines(t)
  const { start, storage } = machines
  const open = await addSealed(machines, receiver.url, [])
  const old = await addSealed(machines, receiver.url, [oldKey])
  await addSealed(machines, receiver.url, [newKey])
  await storage.webhooks.rotateSecret('acme', open, { secret: 'whsec_BBBB', gracePeriodSeconds: 60 })
  const engine = start({ secretKeys: [newKey, oldKey], delivery: { worker: false } })
  t.equal(await engine.resealSecrets(), 3)
  t.equal(await engine.resealSecrets(), 0)
  for (const id of [open, old]) {
    for (const text of await storage.webhooks.findSecrets('acme', id) ?? []) t.match(text, /^sealed_v1:/)
  }
  const worker = start({ secretKeys: [newKey] })
  await worker.emit(event)
  await worker.drain()
  t.equal(receiver.requests.length, 3)
})

t.test('in the documented steps, processes of one step sign with secrets that those of the next one sealed, and the reverse', async (t) => {
  const page = await readFile(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
  const [, section = ''] = page.split('## Secrets at rest')
  const steps = [...section.matchAll(/Roll out `secretKeys: \[((?:oldKey|newKey)[^\]]*)\]/g)].map(([, names = '']) => names.split(', '))
  t.strictSame(steps, [['oldKey', 'newKey'], ['newKey', 'oldKey'], ['newKey']])
  const keys = [['oldKey'], ...steps].map((names) => names.map((name) => name === 'oldKey' ? oldKey : newKey))

  for (const [index, before] of keys.entries()) {
    const after = keys[index + 1] ?? before
    for (const [sealing, signing] of [[before, after], [after, before]] as const) {
      const receiver = await startReceiver(t)
      const machines = createMachines(t)
      const id = await addSealed(machines, receiver.url, sealing)
      // Between the last two steps everything is sealed anew.
      if (signing.length === 1 && sealing.length === 2) await machines.start({ secretKeys: sealing, delivery: { worker: false } }).resealSecrets()
      const engine = machines.start({ secretKeys: signing })
      await engine.emit(event)
      await engine.drain()
      t.same(await machines.deliveries(id), [['delivered', 1]])
    }
  }
})

t.test('after a change of keys a tenant can be renamed, although an expired secret has the old key', async (t) => {
  const machines = createMachines(t)
  const { clock, start, storage } = machines
  const id = await addSealed(machines, 'https://example.com/', [oldKey])
  await storage.webhooks.rotateSecret('acme', id, { secret: 'whsec_BBBB', gracePeriodSeconds: 60 })
  await clock.advance(60_000)
  t.equal(await start({ secretKeys: [newKey, oldKey] }).resealSecrets(), 1)
  t.strictSame(await start({ secretKeys: [newKey] }).renameTenant('acme', 'initech'), { webhooks: 1 })
})

t.test('resealSecrets goes through more webhooks than it reads at once', async (t) => {
  const machines = createMachines(t)
  for (let count = 0; count < 250; count++) await machines.addWebhook('https://example.com/', { tenantSlug: `tenant-${count % 7}` })
  t.equal(await machines.start({ secretKeys: [newKey] }).resealSecrets(), 250)
})

t.test('resealSecrets fails if no key opens a secret, and without keys it opens nothing', async (t) => {
  const machines = createMachines(t)
  const id = await addSealed(machines, 'https://example.com/', [oldKey])
  await t.rejects(machines.start({ secretKeys: [newKey] }).resealSecrets(), {
    message: closed(id)
  })
  await t.rejects(machines.start().resealSecrets(), { message: closed(id) })
})

/** The error of a secret that no key opens. */
function closed (id: number): string {
  return `none of the secretKeys opens the secret of webhook ${id}: add the key that sealed it. To change keys, begin with [oldKey, newKey]`
}

/** A webhook whose secret was stored under these keys. */
async function addSealed ({ clock, storage }: Machines, target: string, secretKeys: Buffer[]): Promise<number> {
  const { create } = await buildWebhookApi(t, { clock, storage, secretKeys, delivery: toLoopback })
  return (await create({ target_url: target })).id
}
