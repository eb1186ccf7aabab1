import t from 'tap'
import { randomBytes } from 'node:crypto'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { first, startDelivering } from '../../fixtures/delivery/delivering.js'
import { event } from '../../fixtures/delivery/engine.js'

t.test('a renamed tenant receives its events with the same secret, which is sealed for the new name', async (t) => {
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

t.test('a rename onto a tenant that exists is refused, and changes nothing', async (t) => {
  const { app, storage } = await startDelivering(t)
  await app.recruiting.emit({ ...event, tenantSlug: 'globex' })
  await t.rejects(app.recruiting.renameTenant('acme', 'globex'), {
    code: 'invalid_input', field: 'to', message: 'to: expected a tenant without webhooks, events and keys, got one that exists'
  })
  t.equal(await storage.webhooks.count('acme', {}), 1)
})

t.test('a rename refuses names that are none, the same name twice, unknown options and a closed engine', async (t) => {
  const { app } = await startDelivering(t)
  const rule = 'expected a tenant slug of 1 to 100 characters'
  const refused: Array<[unknown[], string, RegExp | string]> = [
    [['', 'initech'], 'from', new RegExp(rule)],
    [['acme', 'a\nb'], 'to', new RegExp(rule)],
    [['acme', undefined], 'to', new RegExp(rule)],
    [['acme', 'acme'], 'to', 'to: expected another name than from']
  ]
  for (const [args, field, message] of refused) {
    await t.rejects(app.recruiting.renameTenant(...args as [string, string]), { code: 'invalid_input', field, message })
  }
  await t.rejects(app.recruiting.renameTenant('acme', 'initech', { transation: {} } as never), { code: 'invalid_event', field: 'transation' })
  await app.close()
  await t.rejects(app.recruiting.renameTenant('acme', 'initech'), { code: 'closed' })
})

t.test('the old name answers as an unknown tenant does, and the new one with the same webhooks', async (t) => {
  const { app, webhook } = await startDelivering(t)
  const list = (slug: string): Promise<{ id: number }[]> => app.inject({
    url: `/api/v1/public/${slug}/webhooks`, headers: { authorization: `Bearer ${slug}-full-key` }
  }).then((answer) => answer.json().data)
  const before = await list('acme')
  await app.recruiting.renameTenant('acme', 'globex')
  t.strictSame([await list('acme'), await list('globex')], [undefined, before])
  t.equal(first(before).id, webhook.id)
})
