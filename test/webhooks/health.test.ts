import t from 'tap'
import { healthy, timeOf } from '../fixtures/api/webhook-api.js'
import { startDelivering } from '../fixtures/delivery/delivering.js'

interface Shown { data: { status: string, health: object } }

t.test('a failing webhook shows since when, what was given up and until when it is paused', async (t) => {
  const { call, clock, drain, emit, receiver, retry, webhook } = await startDelivering(t, { delivery: { retrySchedule: [0, 5] } })
  const readHealth = async (): Promise<object> => (await call<Shown>('GET', `/webhooks/${webhook.id}`)).body.data.health
  t.strictSame(await readHealth(), healthy)
  receiver.answer({ status: 503, headers: { 'retry-after': '3' } }, 500, 204)
  await emit()
  const since = timeOf(clock)
  await drain()
  t.strictSame(await readHealth(), { ...healthy, failing_since: since, paused_until: timeOf(clock, 3000) })
  await retry()
  t.strictSame(await readHealth(), { ...healthy, failing_since: since, failed_deliveries: 1 })
  await emit()
  await drain()
  t.strictSame(await readHealth(), healthy)
})

t.test('a disabled webhook shows why', async (t) => {
  const disableAfter = { failingForSeconds: 0, failedDeliveries: 1 }
  const { call, clock, drain, emit, receiver, webhook } = await startDelivering(t, { delivery: { retrySchedule: [0], disableAfter } })
  for (const [answer, reason] of [[410, 'gone'], [500, 'failing']] as const) {
    receiver.answer(answer)
    await emit()
    await drain()
    const { body: { data } } = await call<Shown>('GET', `/webhooks/${webhook.id}`)
    t.equal(data.status, 'disabled')
    t.strictSame(data.health, { failing_since: timeOf(clock), failed_deliveries: 1, paused_until: null, disabled_reason: reason })
    await call('PATCH', `/webhooks/${webhook.id}`, { status: 'active' })
    t.strictSame((await call<Shown>('GET', `/webhooks/${webhook.id}`)).body.data.health, healthy)
  }
})

t.test('only GET of one webhook shows its health', async (t) => {
  const { call, create, webhook } = await startDelivering(t)
  const { body: { data: [listed] } } = await call<{ data: object[] }>('GET', '/webhooks')
  const { body: { data: patched } } = await call<Shown>('PATCH', `/webhooks/${webhook.id}`, { name: 'x' })
  const { body: { data: rotated } } = await call<Shown>('POST', `/webhooks/${webhook.id}/rotate_secret`)
  for (const shown of [listed, patched, rotated, await create()]) t.notOk(Object.hasOwn(Object(shown), 'health'))
})
