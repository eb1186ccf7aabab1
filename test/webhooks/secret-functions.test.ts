import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import t from 'tap'
import { HttpError, type SecretContext, type SecretFunctions, createRecruiting } from '../../src/index.js'
import { seal, unseal } from '../../src/core/shared/sealing.js'
import { buildWebhookApi, runUntil, toLoopback, webhookInput } from '../fixtures/api/webhook-api.js'
import { startDelivering } from '../fixtures/delivery/delivering.js'
import { createMachines, event } from '../fixtures/delivery/engine.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

const [kmsKey, oldKey] = [randomBytes(32), randomBytes(32)]
const bind = (context: SecretContext): Buffer => Buffer.from(JSON.stringify(context))
const headers = { 'X-Api-Key': 'key of the gateway' }
const byHost = /^sealed_by_host_v1:[A-Za-z0-9+/=]+$/

/** Asynchronous functions. `open` only opens secrets for the tenant and webhook that they were sealed for. */
const kms: SecretFunctions = {
  seal: async (plain, context) => setImmediate(seal(kmsKey, plain, bind(context))),
  open: async (sealed, context) => setImmediate(unseal(kmsKey, sealed, bind(context)))
}

t.test('functions seal created, rotated, renamed and key-sealed secrets, and open them for deliveries', async (t) => {
  const { app: { recruiting }, call, drain, emit, receiver, storage, webhook: { id, secret } } =
    await startDelivering(t, { secretKeys: kms })
  const rotated = await call<{ data: { secret: string } }>('POST', `/webhooks/${id}/rotate_secret`)
  await call('PATCH', `/webhooks/${id}`, { headers })
  await emit()
  await drain()
  t.equal((await call('POST', `/webhooks/${id}/dispatch_test`)).status, 200)
  const target = { ...webhookInput, target_url: receiver.url }
  t.equal((await recruiting.webhooks.import('acme', { ...target, secret })).id, id)
  await recruiting.renameTenant('acme', 'initech')
  await recruiting.emit({ ...event, tenantSlug: 'initech' })
  await drain()
  const secrets = await storage.webhooks.findSecrets('initech', id) ?? []
  const stored = [await storage.webhooks.findHeaders('initech', id), ...secrets]
  t.equal(stored.length, 3)
  for (const text of stored) t.match(text, byHost)
  t.equal(receiver.requests.length, 3)
  for (const { body, headers } of receiver.requests) {
    t.equal(headers['x-api-key'], 'key of the gateway')
    const signed = headers as Record<string, string>
    for (const key of [secret, rotated.body.data.secret]) new StandardWebhook(key).verify(body, signed)
  }

  const { clock, storage: old, start, deliveries } = createMachines(t)
  const { create } = await buildWebhookApi(t, { clock, storage: old, secretKeys: [oldKey], delivery: toLoopback })
  const { id: sealed } = await create({ target_url: receiver.url, headers })
  for (const [secretKeys, count] of [[{ ...kms, keys: [oldKey] }, 2], [kms, 0]] as const) {
    const engine = start({ secretKeys })
    await engine.emit(event)
    await engine.drain()
    t.equal(await engine.resealSecrets(), count)
    await engine.close()
  }
  t.same(await deliveries(sealed), [['delivered', 1], ['delivered', 1]])
  await t.rejects(start({ secretKeys: [oldKey] }).resealSecrets(), /^functions sealed the secret of webhook \d+: set/)
})

t.test('a rename over PostgreSQL reseals with functions, and changes nothing if one fails', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  let left = Infinity
  const sealSome: SecretFunctions['seal'] = async (...given) => left-- > 0 ? kms.seal(...given) : new Uint8Array()
  const secretKeys = { ...kms, seal: sealSome }
  const { webhooks, renameTenant, close } = createRecruiting({ storage, delivery: false, secretKeys })
  t.teardown(close)
  const other = await webhooks.create('acme', { ...webhookInput, headers })
  const created = [await webhooks.create('acme', webhookInput), other]
  const read = (tenant: string) => Promise.all(created.map(({ id }) => storage.webhooks.findSecrets(tenant, id)))
  const before = await read('acme')
  left = 2
  await t.rejects(renameTenant('acme', 'globex'), /^secretKeys.seal returned no bytes for the secret of/)
  t.strictSame([await read('acme'), await read('globex')], [before, [null, null]])
  left = Infinity
  await renameTenant('acme', 'globex')
  const client = await pool.connect()
  await client.query('begin')
  await renameTenant('globex', 'initech', { transaction: client })
  await renameTenant('initech', 'hooli', { transaction: client })
  await client.query('commit')
  client.release()
  const opened = (await read('hooli')).map(async (sealed, index) => {
    const bytes = Buffer.from(String(sealed?.[0]).replace('sealed_by_host_v1:', ''), 'base64')
    return String(await kms.open(bytes, { tenantId: 'hooli', webhookId: created[index]?.id ?? 0 }))
  })
  t.strictSame(await Promise.all(opened), created.map(({ secret }) => secret))
})

t.test('if a function fails, requests get a 500 or 503 and store nothing, and deliveries wait', async (t) => {
  const receiver = await startReceiver(t)
  for (const [name, fail, status = 500] of [
    ['is unavailable', async () => { throw new HttpError('unavailable') }, 503],
    ['throws', () => { throw new Error('no route to the KMS') }],
    ['rejects with an HttpError', async () => { throw new HttpError('not_found') }],
    ['hangs', () => new Promise<never>(() => {})],
    ['returns null', async () => null as never],
    ['returns text', () => 'text' as never]
  ] as const) {
    const { clock, storage, start, deliveries } = createMachines(t)
    const host = { clock, storage, delivery: { ...toLoopback, worker: true } }
    const { create } = await buildWebhookApi(t, { ...host, secretKeys: kms, delivery: toLoopback })
    const { id } = await create({ target_url: receiver.url })
    const { app, call } = await buildWebhookApi(t, { ...host, secretKeys: { seal: fail, open: fail } })
    await app.recruiting.emit(event)
    for (const path of ['/webhooks', `/webhooks/${id}/rotate_secret`, `/webhooks/${id}/dispatch_test`]) {
      const answer = call('POST', path, path === '/webhooks' ? webhookInput : {})
      const { status: got, headers } = await runUntil(clock, answer)
      t.equal(got, status, `${path} if it ${name}`)
      t.equal(headers['retry-after'], status === 503 ? '5' : undefined)
    }
    t.equal(await storage.webhooks.count('acme', {}), 1)
    t.same(await deliveries(id), [['pending', 0]], name)
    await runUntil(clock, app.close())
    await clock.advance(60_000)
    await start({ secretKeys: kms }).drain()
    t.same(await deliveries(id), [['delivered', 1]], name)
  }
})
