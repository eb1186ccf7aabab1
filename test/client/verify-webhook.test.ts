import t from 'tap'
import { verifyWebhook, WebhookVerificationError } from '../../src/client/index.js'
import { buildApp, keys } from '../fixtures/api/app.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

t.test('a notification as it arrives', async (t) => {
  const receiver = await startReceiver(t)
  const app = await buildApp(t, { delivery: { allowHttp: true, allowNetworks: ['127.0.0.0/8'] } })
  const { webhooks, emit, drain } = app.recruiting
  const { id, secret: oldSecret } = await webhooks.create('acme', { name: 'CRM', target_url: receiver.url, event_types: ['job.created'] })
  const { secret } = await webhooks.rotateSecret('acme', id)
  await emit({ tenantSlug: 'acme', type: 'job.created', data: { id: 7, title: 'Köchin' } })
  await drain()
  const [request] = receiver.requests
  const body = String(request?.body)
  const headers = { ...request?.headers } as Record<string, string>
  const event = { type: 'job.created', tenant_slug: 'acme', data: { id: 7, title: 'Köchin' } }

  t.test('is verified with the secret, as text or bytes, and with the previous secret', async (t) => {
    t.match(await verifyWebhook(body, headers, secret), event)
    t.match(await verifyWebhook(new TextEncoder().encode(body), new Headers(headers), secret), event)
    t.match(await verifyWebhook<{ id: number }>(body, headers, oldSecret), event)
  })

  const refused = async (reason: RegExp, ...input: Parameters<typeof verifyWebhook>): Promise<void> => {
    const error = await verifyWebhook(...input).catch((error: unknown) => error)
    t.ok(error instanceof WebhookVerificationError)
    t.match(error, { name: 'WebhookVerificationError', message: reason })
  }

  t.test('is refused if anything of it was changed', async () => {
    await refused(/^webhook-signature: /, body.replace('7', '8'), headers, secret)
    await refused(/^webhook-signature: /, body, { ...headers, 'webhook-id': 'evt_other' }, secret)
    await refused(/^webhook-signature: /, body, { ...headers, 'webhook-signature': `v2,${headers['webhook-signature']?.slice(3)} v1,%` }, secret)
    const { secret: foreign } = await webhooks.create('globex', { name: 'CRM', target_url: receiver.url, event_types: ['job.created'] })
    await refused(/^webhook-signature: /, body, headers, foreign)
  })

  t.test('is refused if it is too old, too new or incomplete', async (t) => {
    const at = (seconds: number) => ({ now: () => Number(headers['webhook-timestamp']) * 1000 + seconds * 1000 })
    t.match(await verifyWebhook(body, headers, secret, at(300)), event)
    t.match(await verifyWebhook(body, headers, secret, { ...at(3000), toleranceSeconds: 3600 }), event)
    await refused(/^webhook-timestamp: more than 300 seconds from now$/, body, headers, secret, at(301))
    await refused(/^webhook-timestamp: /, body, headers, secret, at(-302))
    await refused(/^webhook-timestamp: /, body, { ...headers, 'webhook-timestamp': 'now' }, secret)
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      await refused(new RegExp(`^${name}: missing$`), body, { ...headers, [name]: undefined } as Record<string, string | undefined>, secret)
    }
  })

  t.test('needs a secret in its form', async (t) => {
    for (const wrong of [keys.full, 'whsec_', 'whsec_%']) await t.rejects(verifyWebhook(body, headers, wrong), { name: 'TypeError', message: 'secret: expected whsec_ and base64' })
  })
})
