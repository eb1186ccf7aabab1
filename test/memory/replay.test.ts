import t from 'tap'
import type { Webhook } from '../../src/ports/index.js'
import { createDeliveryKit, delivered, eventIds, failed } from './fixtures/delivery-kit.js'
import type { DeliveryKit } from './fixtures/delivery-kit.js'

// evt_1 delivered, evt_2 failed, evt_3 skipped, evt_4 pending, one second after another.
async function createFilledKit (): Promise<DeliveryKit & { webhook: Webhook }> {
  const kit = createDeliveryKit()
  const webhook = await kit.addWebhook()
  await kit.emit()
  await kit.complete(delivered(await kit.claimOne()))
  await kit.clock.advance(1000)
  await kit.emit()
  await kit.complete(failed(await kit.claimOne()))
  await kit.clock.advance(1000)
  await kit.webhooks.update('acme', webhook.id, { status: 'inactive' })
  await kit.emit()
  await kit.webhooks.update('acme', webhook.id, { status: 'active' })
  await kit.clock.advance(1000)
  await kit.emit()
  return { ...kit, webhook }
}

async function claimReplays ({ claim }: DeliveryKit): Promise<string[]> {
  return eventIds(await claim()).filter((id) => id !== 'evt_4')
}

t.test('events that were not delivered are queued once more, the same events as new deliveries due now', async (t) => {
  const kit = await createFilledKit()
  const { webhook, replay, log } = kit
  const before = await log(webhook)

  t.strictSame(await replay(webhook), { queued: 2, truncated: false })
  const made = {
    event_type: 'candidate.created',
    status: 'pending',
    attempt_count: 0,
    response_status: null,
    error: null,
    next_attempt_at: '2026-01-01T00:00:03.000Z',
    created_at: '2026-01-01T00:00:03.000Z',
    delivered_at: null
  }
  t.strictSame(await log(webhook), [
    ...before, { id: 5, event_id: 'evt_2', ...made }, { id: 6, event_id: 'evt_3', ...made }
  ])
  t.strictSame(await claimReplays(kit), ['evt_2', 'evt_3'])
})

t.test('all events can be queued, those still pending passed over', async (t) => {
  const kit = await createFilledKit()
  t.strictSame(await kit.replay(kit.webhook, { include: 'all' }), { queued: 3, truncated: false })
  t.strictSame(await kit.replay(kit.webhook, { include: 'all' }), { queued: 0, truncated: false })
  t.strictSame(await claimReplays(kit), ['evt_1', 'evt_2', 'evt_3'])
  t.strictSame(await kit.replay(kit.webhook, { include: 'all' }), { queued: 0, truncated: false }, 'leased ones are pending')
})

t.test('all events are those recorded before the webhook was there, too', async (t) => {
  const { addWebhook, emit, replay } = createDeliveryKit()
  await emit()
  const webhook = await addWebhook()

  t.strictSame(await replay(webhook), { queued: 0, truncated: false })
  t.strictSame(await replay(webhook, { include: 'all' }), { queued: 1, truncated: false })
})

t.test('the last delivery of an event tells whether it was delivered', async (t) => {
  const { webhook, replay, claim, complete } = await createFilledKit()
  await replay(webhook)
  await complete(...(await claim()).map((lease) => lease.eventId === 'evt_3' ? delivered(lease) : failed(lease)))

  t.strictSame(await replay(webhook), { queued: 2, truncated: false })
  t.strictSame(eventIds(await claim()), ['evt_2', 'evt_4'])
})

t.test('events are selected by id, tenant and type', async (t) => {
  const kit = await createFilledKit()
  const { webhook, replay, emit, webhooks } = kit
  await emit({ tenantSlug: 'other' })
  await emit({ type: 'job.created' })
  const nothing = { queued: 0, truncated: false }
  t.strictSame(await replay(webhook, { include: 'all', eventIds: ['evt_5', 'evt_6', 'evt_999'] }), nothing)
  t.strictSame(await replay(webhook, { include: 'all', eventTypes: ['job.created'] }), nothing)
  t.strictSame(await replay(webhook, { include: 'all', eventTypes: [] }), nothing)

  t.strictSame(await replay(webhook, { eventIds: ['evt_3', 'evt_1'] }), { queued: 1, truncated: false })
  t.strictSame(await replay(webhook, { eventTypes: ['candidate.created', 'job.created'] }), { queued: 1, truncated: false })
  t.strictSame(await claimReplays(kit), ['evt_3', 'evt_2'])

  await webhooks.update('acme', webhook.id, { event_types: ['job.created'] })
  t.strictSame(await replay(webhook, { include: 'all' }), { queued: 1, truncated: false })
})

t.test('since and until are both included', async (t) => {
  const kit = await createFilledKit()
  const { webhook, replay } = kit
  t.strictSame(await replay(webhook, { since: '2026-01-01T00:00:02.001Z' }), { queued: 0, truncated: false })
  t.strictSame(await replay(webhook, { until: '2026-01-01T00:00:00.999Z' }), { queued: 0, truncated: false })
  t.strictSame(await replay(webhook, { since: '2026-01-01T00:00:02.000Z' }), { queued: 1, truncated: false })
  t.strictSame(await replay(webhook, { until: '2026-01-01T00:00:01.000Z' }), { queued: 1, truncated: false })

  t.strictSame(await claimReplays(kit), ['evt_3', 'evt_2'])
})

t.test('at the limit the oldest events are queued, and the answer says that there were more', async (t) => {
  const kit = await createFilledKit()
  t.strictSame(await kit.replay(kit.webhook, { limit: 1 }), { queued: 1, truncated: true })
  t.strictSame(await kit.replay(kit.webhook, { limit: 1 }), { queued: 1, truncated: false })

  t.strictSame(await claimReplays(kit), ['evt_2', 'evt_3'])
})

t.test('a webhook that is unknown, foreign or not active gets nothing', async (t) => {
  const { webhook, deliveries, webhooks, replay } = await createFilledKit()
  const selection = { include: 'all' as const, eventTypes: null, eventIds: null, since: null, until: null, limit: 10 }

  t.equal(await deliveries.replay('other', webhook.id, selection), null)
  t.equal(await deliveries.replay('acme', 999, selection), null)
  await webhooks.update('acme', webhook.id, { status: 'inactive' })
  t.equal(await replay(webhook), null)
  t.equal(await deliveries.count('acme', webhook.id, {}), 4)
})

t.test('a late arrival of an event that is queued again does not queue it twice', async (t) => {
  const { addWebhook, webhooks, emit, claimOne, replay, complete, log } = createDeliveryKit()
  const webhook = await addWebhook()
  await emit()
  const lease = await claimOne()
  await webhooks.update('acme', webhook.id, { status: 'inactive' })
  await webhooks.update('acme', webhook.id, { status: 'active' })
  await replay(webhook)
  await complete(delivered(lease))

  t.strictSame((await log(webhook)).map(({ status }) => status), ['delivered', 'pending'])
  t.strictSame(await replay(webhook, { include: 'all' }), { queued: 0, truncated: false })
})
