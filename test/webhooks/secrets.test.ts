import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Static } from '@sinclair/typebox'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import t from 'tap'
import type { RotatedWebhook } from '../../src/index.js'
import { createKeyBox } from '../../src/core/webhooks/secrets.js'
import { buildWebhookApi, timeOf, toLoopback, webhookInput } from '../fixtures/api/webhook-api.js'
import { first, startDelivering } from '../fixtures/delivery/delivering.js'
import { createMachines, event, type Machines } from '../fixtures/delivery/engine.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

type Rotated = { data: Static<typeof RotatedWebhook> }

t.test('rotate_secret responds like create, with the end of the grace period', async (t) => {
  const { call, clock, create } = await buildWebhookApi(t)
  const { id, secret } = await create()
  const { status, body } = await call<Rotated>('POST', `/webhooks/${id}/rotate_secret`, { grace_period_seconds: 60 })
  t.equal(status, 200)
  t.strictSame(body, {
    data: {
      id, ...webhookInput, status: 'active', secret: body.data.secret, previous_secret_expires_at: timeOf(clock, 60_000)
    }
  })
  t.match(body.data.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.not(body.data.secret, secret)
})

t.test('GET by id shows the end of the grace period until it has passed; PATCH and the list do not', async (t) => {
  const { app, call, clock, create } = await buildWebhookApi(t)
  const { id } = await create()
  const shown = async (): Promise<unknown> => (await call<{ data: { previous_secret_expires_at: unknown } }>('GET', `/webhooks/${id}`)).body.data.previous_secret_expires_at
  t.equal(await shown(), null)
  await call('POST', `/webhooks/${id}/rotate_secret`, { grace_period_seconds: 60 })
  const end = timeOf(clock, 60_000)
  t.equal(await shown(), end)
  t.equal((await app.recruiting.webhooks.find('acme', id))?.previous_secret_expires_at, end, 'by code, too')
  const changed = await call<{ data: object }>('PATCH', `/webhooks/${id}`, { name: 'ATS' })
  const { body: { data: [listed] } } = await call<{ data: object[] }>('GET', '/webhooks')
  t.notOk('previous_secret_expires_at' in changed.body.data)
  t.notOk('previous_secret_expires_at' in (listed ?? {}))
  await clock.advance(60_000)
  t.equal(await shown(), null)
  await call('POST', `/webhooks/${id}/rotate_secret`)
  await call('POST', `/webhooks/${id}/rotate_secret`, { grace_period_seconds: 0 })
  t.equal(await shown(), null)
})

t.test('only create and rotate_secret show a secret', async (t) => {
  const { call, drain, emit, lastDelivery, receiver, webhook } = await startDelivering(t)
  receiver.answer({ status: 500, body: 'whsec_from_the_receiver' })
  await emit()
  await drain()
  const { id } = await lastDelivery()
  const answers = [
    await call('GET', '/webhooks'),
    await call('GET', `/webhooks/${webhook.id}`),
    await call('PATCH', `/webhooks/${webhook.id}`, { name: 'New name' }),
    await call('POST', `/webhooks/${webhook.id}/dispatch_test`),
    await call('POST', `/webhooks/${webhook.id}/replay`),
    await call('GET', `/webhooks/${webhook.id}/deliveries`),
    await call('GET', `/webhooks/${webhook.id}/deliveries/${id}`)
  ]
  for (const { status, headers, body } of answers) {
    t.ok(status < 300)
    t.notMatch(JSON.stringify([headers, body]), /"secret"|"previous_secret"|whsec_/)
  }
})

const oldKey = randomBytes(32)
const newKey = randomBytes(32)

t.test('with secretKeys the storage never gets a plain secret, and nothing changes for receivers', async (t) => {
  const { call, drain, emit, receiver, storage, webhook } = await startDelivering(t, { secretKeys: [newKey] })
  const { body } = await call<{ data: { secret: string } }>('POST', `/webhooks/${webhook.id}/rotate_secret`)
  const stored = await storage.webhooks.findSecrets('acme', webhook.id) ?? []
  t.equal(stored.length, 2)
  for (const text of stored) t.match(text, /^sealed_v1:[A-Za-z0-9+/=]+$/)
  await emit()
  await drain()
  const request = first(receiver.requests)
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  for (const secret of [webhook.secret, body.data.secret]) {
    t.ok(new StandardWebhook(secret).verify(request.body, headers))
  }
})

t.test('a delivery whose secret cannot be opened waits for the key, and no attempt is counted', async (t) => {
  const receiver = await startReceiver(t)
  const machines = createMachines(t)
  const { clock, deliveries, start } = machines
  const id = await addSealed(machines, receiver.url, [oldKey])
  const logged: Array<{ fields: object, message: string }> = []
  const logger = { ...silentLogger, error (fields: object, message: string) { logged.push({ fields, message }) } }
  const engine = start({ logger, secretKeys: [newKey] })
  const { id: eventId } = await engine.emit(event)
  await clock.advance(10)
  t.same(await deliveries(id), [['pending', 0]])
  t.match(logged, [{
    fields: { webhook_id: id, event_id: eventId, err: new Error(closed(id)) },
    message: 'secretKeys cannot open the webhook secret, the delivery waits'
  }])
  await engine.close()
  await clock.advance(60_000)
  const next = start({ secretKeys: [newKey, oldKey] })
  await next.drain()
  t.same(await deliveries(id), [['delivered', 1]])
})

t.test('resealSecrets reseals all other secrets with the first key, including previous ones, and counts them', async (t) => {
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

t.test('in the documented steps, processes can open secrets that processes of the previous or next step sealed', async (t) => {
  const page = await readFile(new URL('../../docs/security.md', import.meta.url), 'utf8')
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
      // Between the last two steps, all secrets are resealed.
      if (signing.length === 1 && sealing.length === 2) {
        await machines.start({ secretKeys: sealing, delivery: { worker: false } }).resealSecrets()
      }
      const engine = machines.start({ secretKeys: signing })
      await engine.emit(event)
      await engine.drain()
      t.same(await machines.deliveries(id), [['delivered', 1]])
    }
  }
})

t.test('resealSecrets reads webhooks in batches until the end', async (t) => {
  const machines = createMachines(t)
  for (let count = 0; count < 250; count++) {
    await machines.addWebhook('https://example.com/', { tenantSlug: `tenant-${count % 7}` })
  }
  t.equal(await machines.start({ secretKeys: [newKey] }).resealSecrets(), 250)
})

t.test('resealSecrets fails if no key opens a secret, or there are no keys', async (t) => {
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

/** A webhook whose secret was sealed with these keys. */
async function addSealed ({ clock, storage }: Machines, target: string, secretKeys: Buffer[]): Promise<number> {
  const { create } = await buildWebhookApi(t, { clock, storage, secretKeys, delivery: toLoopback })
  return (await create({ target_url: target })).id
}

const one = randomBytes(32)
const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
const unknown = { message: /^none of the secretKeys opens the secret of webhook 7: add the key that sealed it/ }

t.test('sealing the same secret never returns the same text', async (t) => {
  const box = createKeyBox([one])
  t.equal(new Set(Array.from({ length: 10 }, () => box.seal(secret, 'acme', 7))).size, 10)
})

t.test('a sealed secret can only be opened for its own tenant and webhook', async (t) => {
  const box = createKeyBox([one])
  const sealed = box.seal(secret, 'acme', 7)
  t.throws(() => box.open(sealed, 'globex', 7), unknown)
  t.throws(() => box.open(sealed, 'acme', 8))
  t.throws(() => box.open(box.seal(secret, 'acme","x', 7), 'acme', 7), unknown)
})

t.test('a changed or truncated text cannot be opened', async (t) => {
  const box = createKeyBox([one])
  const bytes = Buffer.from(box.seal(secret, 'acme', 7).slice('sealed_v1:'.length), 'base64')
  for (let index = 0; index < bytes.length; index++) {
    const changed = Buffer.from(bytes)
    changed[index] = (changed[index] ?? 0) ^ 1
    t.throws(() => box.open(`sealed_v1:${changed.toString('base64')}`, 'acme', 7), unknown)
    t.throws(() => box.open(`sealed_v1:${bytes.subarray(0, index).toString('base64')}`, 'acme', 7), unknown)
  }
})
