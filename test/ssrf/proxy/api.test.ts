import t from 'tap'
import { inspect } from 'node:util'
import { createRecruiting } from '../../../src/index.js'
import { memoryStorage } from '../../../src/memory/index.js'
import { buildWebhookApi, toLoopback } from '../../fixtures/api/webhook-api.js'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import { startConnectProxy } from '../../fixtures/receivers/connect-proxy.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

interface Tested {
  data: { status: string, response_status: number | null, error: string | null }
}

t.test('a test notification goes through the proxy, in a process that does not deliver too', async (t) => {
  const receiver = await startReceiver(t)
  const proxy = await startConnectProxy(t)
  const { call, create } = await buildWebhookApi(t, { delivery: { ...toLoopback, worker: false, proxy: { url: proxy.url } } })
  const { id } = await create({ target_url: receiver.url })
  const { body } = await call<Tested>('POST', `/webhooks/${id}/dispatch_test`)
  t.match(body.data, { status: 'delivered', response_status: 204, error: null })
  t.same(proxy.targets, [`127.0.0.1:${receiver.port}`])

  proxy.cut()
  proxy.route(() => 407)
  const refused = await call<Tested>('POST', `/webhooks/${id}/dispatch_test`)
  t.match(refused.body.data, { status: 'failed', response_status: null, error: 'connection' })
  t.equal(receiver.requests.length, 1)
})

t.test('deliveries go through the proxy, and no endpoint has more tunnels than attempts it may have', async (t) => {
  const proxy = await startConnectProxy(t)
  const { receiver, emit, drain } = await startDelivering(t, { delivery: { perEndpoint: 2, proxy: { url: proxy.url } } })
  for (let count = 0; count < 20; count++) await emit()
  await drain()
  t.equal(receiver.requests.length, 20)
  t.equal(proxy.mostOpen, 2)
  t.equal(proxy.targets.length, 2)
})

t.test('the log says why the proxy opened no tunnel, and nothing that was said to it', async (t) => {
  const receiver = await startReceiver(t)
  const proxy = await startConnectProxy(t)
  proxy.route(() => 407)
  const lines: Array<[fields: object, message: string | undefined]> = []
  const add = (fields: object, message?: string): void => { lines.push([fields, message]) }
  const storage = memoryStorage()
  const url = proxy.url.replace('//', '//vendor:hunter2@')
  const recruiting = createRecruiting({
    storage, logger: { info: add, warn: add, error: add }, delivery: { ...toLoopback, proxy: { url } }
  })
  t.teardown(() => recruiting.close())
  const id = await storage.webhooks.nextId('acme')
  await storage.webhooks.create('acme', {
    id, tenantSlug: 'acme', name: 'A', target_url: receiver.url, event_types: ['job.created'], status: 'active', secret: 'whsec_AAAA'
  }, 10)
  await recruiting.emit({ tenantSlug: 'acme', type: 'job.created', data: {} })
  await recruiting.drain()
  t.match(lines, [[{ webhook_id: id, error: 'connection', response_status: null, proxy_fault: 'the proxy answered 407' }, 'delivery failed, will retry']])
  t.match(proxy.heads[0], 'Proxy-Authorization: Basic dmVuZG9yOmh1bnRlcjI=\r\n')
  const logged = inspect(lines, { depth: Infinity })
  for (const secret of ['vendor', 'hunter2', 'dmVuZG9yOmh1bnRlcjI']) t.notOk(logged.includes(secret), secret)
})
