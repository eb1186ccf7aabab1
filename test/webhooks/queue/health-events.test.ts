import t from 'tap'
import { defaultEvents, webhookEvents } from '../../../src/index.js'
import { startDelivering } from '../../fixtures/delivery/delivering.js'

const events = { ...defaultEvents, ...webhookEvents }
const types = ['application.created', 'webhook.failing', 'webhook.disabled']

interface Feed { data: Array<{ id: string, type: string, data: { webhook_id?: number } }> }

// If each event caused another one, this would never end.
const timeout = 60_000
t.test('each of two failing webhooks gets its events once, and they never feed each other', { timeout }, async (t) => {
  const delivery = { retrySchedule: [0, 60, 3600], disableAfter: { failingForSeconds: 86_400, failedDeliveries: 5 } }
  const { app, call, clock, create, drain, emit, receiver, webhook } = await startDelivering(t, { events, delivery })
  receiver.answer(500)
  await call('PATCH', `/webhooks/${webhook.id}`, { event_types: types })
  const other = await create({ target_url: receiver.url, event_types: types })
  const notices: string[] = []
  app.recruiting.on('webhookFailing', ({ webhookId }) => { notices.push(`webhook.failing ${webhookId}`) })
  app.recruiting.on('webhookDisabled', ({ webhookId }) => { notices.push(`webhook.disabled ${webhookId}`) })
  for (let hour = 0; hour < 240; hour += 2) {
    if (hour < 48) await emit()
    await clock.skip(2 * 3_600_000)
    await drain()
  }
  const { body } = await call<Feed>('GET', '/events?per_page=200')
  const recorded = body.data.filter(({ type }) => type !== 'application.created').map(({ type, data }) => `${type} ${data.webhook_id}`)
  t.same(recorded.toSorted(), [webhook.id, other.id].flatMap((id) => [`webhook.disabled ${id}`, `webhook.failing ${id}`]).toSorted())
  t.same(notices.toSorted(), recorded.toSorted(), 'one event for each notice')
  const own = body.data.find(({ data }) => data.webhook_id === other.id)
  t.match((await call('GET', `/webhooks/${other.id}/explain?event_id=${own?.id}`)).body, { data: { reason: 'about_itself' } })
})

t.test("a webhook gets events about the tenant's others; without the catalogue's types there are none", async (t) => {
  for (const isOpen of [true, false]) {
    const { call, create, drain, emit, receiver, webhook } = await startDelivering(t, isOpen ? { events } : {})
    const watching = isOpen ? await create({ target_url: receiver.url, event_types: ['webhook.disabled'] }) : null
    receiver.answer(410, 204)
    await emit()
    await drain()
    const { body } = await call<Feed>('GET', '/events')
    t.same(body.data.map(({ type }) => type), ['application.created', ...isOpen ? ['webhook.disabled'] : []])
    if (watching === null) continue
    t.match(JSON.parse(receiver.requests.at(-1)?.body ?? ''), { type: 'webhook.disabled', data: { webhook_id: webhook.id } })
    t.match((await call('GET', `/webhooks/${watching.id}/deliveries`)).body, { data: [{ status: 'delivered' }] })
  }
})
