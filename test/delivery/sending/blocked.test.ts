import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { memoryStorage } from '../../../src/memory/index.js'
import { createManualClock } from '../../fixtures/delivery/manual-clock.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { buildWebhookApi, toLoopback } from '../../fixtures/api/webhook-api.js'

interface Log {
  data: Array<{ status: string, attempt_count: number, response_status: number | null, error: string | null, next_attempt_at: string | null }>
}

for (const path of ['/literal', '/name']) {
  t.test(`a blocked address (${path}) fails its delivery at once, and a replay can bring it when the rules have changed`, async (t) => {
    const receiver = await startReceiver(t)
    const clock = createManualClock(Date.now())
    const storage = memoryStorage({ clock })
    const { app, call, create } = await buildWebhookApi(t, { clock, storage, delivery: toLoopback })
    const host = path === '/literal' ? '127.0.0.1' : 'localhost'
    const { id } = await create({ target_url: `http://${host}:${receiver.port}${path}` })
    const event = await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })

    // Names are acceptable to this one, so that the lookup is what blocks.
    const strict = createRecruiting({ storage, delivery: { allowHttp: true, allowNetworks: ['203.0.113.1/32'], clock } })
    await strict.drain()
    await strict.close()
    t.equal(receiver.requests.length, 0)
    const { body } = await call<Log>('GET', `/webhooks/${id}/deliveries`)
    t.match(body.data, [{ status: 'failed', attempt_count: 1, response_status: null, error: 'blocked', next_attempt_at: null }])
    t.match((await call('GET', `/webhooks/${id}`)).body, { data: { status: 'active' } })

    t.match((await call('POST', `/webhooks/${id}/replay`)).body, { data: { queued: 1 } })
    const open = createRecruiting({ storage, delivery: { allowHttp: true, allowNetworks: ['127.0.0.1/32', '::1/128'], clock } })
    await open.drain()
    await open.close()
    t.same(receiver.requests.map(({ headers }) => headers['webhook-id']), [event.id])
  })
}

t.test('an http address that was acceptable once is blocked when http no longer is', async (t) => {
  const receiver = await startReceiver(t)
  const clock = createManualClock(Date.now())
  const storage = memoryStorage({ clock })
  const { app, call, create } = await buildWebhookApi(t, { clock, storage, delivery: toLoopback })
  const { id } = await create({ target_url: receiver.url })
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  const strict = createRecruiting({ storage, delivery: { allowNetworks: ['127.0.0.1/32'], clock } })
  await strict.drain()
  await strict.close()
  const { body } = await call<Log>('GET', `/webhooks/${id}/deliveries`)
  t.match(body.data, [{ status: 'failed', attempt_count: 1, error: 'blocked' }])
  t.equal(receiver.requests.length, 0)
})
