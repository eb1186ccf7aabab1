import t from 'tap'
import { createDeliveryKit, delivered, eventIds, failed, retry } from './fixtures/delivery-kit.js'

t.test('a delivered attempt ends the delivery', async (t) => {
  const { deliveries, addWebhook, emit, claimOne, complete, clock } = createDeliveryKit()
  await addWebhook()
  await emit()
  const lease = await claimOne()
  await clock.advance(1000)
  await complete(delivered(lease))

  t.strictSame(await deliveries.find('acme', 1, 1), {
    id: 1,
    event_id: 'evt_1',
    event_type: 'candidate.created',
    status: 'delivered',
    attempt_count: 1,
    response_status: 204,
    error: null,
    next_attempt_at: null,
    created_at: '2026-01-01T00:00:00.000Z',
    delivered_at: '2026-01-01T00:00:01.000Z',
    attempts: [{ started_at: '2026-01-01T00:00:00.980Z', duration_ms: 20, response_status: 204, error: null }]
  })
})

t.test('a failed attempt waits for the next one, and attempts are kept in the order they were made', async (t) => {
  const { deliveries, addWebhook, emit, claimOne, complete, clock } = createDeliveryKit()
  await addWebhook()
  await emit()
  await complete(retry(await claimOne(), { retryInMs: 1000 }))

  const shown = await deliveries.find('acme', 1, 1)
  t.strictSame(shown, {
    id: 1,
    event_id: 'evt_1',
    event_type: 'candidate.created',
    status: 'pending',
    attempt_count: 1,
    response_status: 503,
    error: 'http_status',
    next_attempt_at: '2026-01-01T00:00:01.000Z',
    created_at: '2026-01-01T00:00:00.000Z',
    delivered_at: null,
    attempts: [{ started_at: '2025-12-31T23:59:59.970Z', duration_ms: 30, response_status: 503, error: 'http_status' }]
  })

  await clock.advance(1000)
  await complete(failed(await claimOne()))
  t.strictSame(await deliveries.find('acme', 1, 1), {
    ...shown,
    status: 'failed',
    attempt_count: 2,
    response_status: null,
    error: 'timeout',
    next_attempt_at: null,
    attempts: [
      ...shown?.attempts ?? [],
      { started_at: '2026-01-01T00:00:00.960Z', duration_ms: 40, response_status: null, error: 'timeout' }
    ]
  })
})

t.test('a delivery that ended is never claimed again', async (t) => {
  const { addWebhook, emit, claim, complete, clock } = createDeliveryKit()
  await addWebhook()
  await emit()
  await emit()
  const [first, second] = await claim()
  if (first && second) await complete(delivered(first), failed(second))
  await clock.advance(1e9)

  t.strictSame(await claim(), [])
})

t.test('a webhook made inactive has its pending deliveries skipped, leased and waiting ones too', async (t) => {
  const { webhooks, deliveries, addWebhook, emit, claim, claimOne, complete, log, clock } = createDeliveryKit()
  const webhook = await addWebhook()
  const other = await addWebhook()
  await emit()
  const [ended, waiting] = await claim({ limit: 2 })
  if (ended === undefined || waiting === undefined) throw new Error('nothing is due')
  await complete(delivered(ended), retry(waiting))
  await emit()
  await claimOne()
  await emit()
  await webhooks.update('acme', webhook.id, { status: 'inactive' })

  t.hasStrict((await log(webhook)).map(({ status }) => status), ['delivered', 'skipped', 'skipped'])
  t.hasStrict((await log(other)).map(({ status }) => status), ['pending', 'pending', 'pending'])
  t.ok((await log(webhook)).every((delivery) => delivery.next_attempt_at === null))
  t.equal((await deliveries.stats()).pending, 3)
  await webhooks.update('acme', webhook.id, { status: 'active' })
  await clock.advance(1e9)
  t.strictSame((await claim()).filter(({ webhookId }) => webhookId === webhook.id), [])
})

t.test('a deleted webhook has its pending deliveries cancelled and shows none of them', async (t) => {
  const { webhooks, deliveries, addWebhook, emit, claim, claimOne, log } = createDeliveryKit()
  const webhook = await addWebhook()
  await emit()
  await emit()
  await claimOne()
  await webhooks.delete('acme', webhook.id)

  t.strictSame(await deliveries.stats(), { pending: 0, due: 0, leased: 0, oldestDueMs: 0 })
  t.strictSame(await claim(), [])
  t.strictSame(await log(webhook), [])
  t.equal(await deliveries.count('acme', webhook.id, {}), 0)
  t.equal(await deliveries.find('acme', webhook.id, 1), null)
})

t.test('a delivery that stopped being pending under way keeps its status, unless the attempt delivered it', async (t) => {
  const { webhooks, addWebhook, emit, claim, complete, log, clock } = createDeliveryKit()
  const webhook = await addWebhook()
  for (let i = 0; i < 4; i++) await emit()
  const [first, second, third, fourth] = await claim()
  if (!first || !second || !third || !fourth) throw new Error('nothing is due')
  await webhooks.update('acme', webhook.id, { status: 'inactive' })
  await webhooks.update('acme', webhook.id, { status: 'active' })
  await complete(delivered(first), retry(second), failed(third))

  t.hasStrict((await log(webhook)).map(({ status, attempt_count: count }) => [status, count]), [
    ['delivered', 1], ['skipped', 1], ['skipped', 1], ['skipped', 0]
  ])
  await clock.advance(1e9)
  t.strictSame(await claim(), [])
  await complete(delivered(fourth))
  t.hasStrict((await log(webhook))[3], { status: 'delivered', attempt_count: 1, delivered_at: new Date(clock.now()).toISOString() })
})

t.test('results for a webhook that was deleted under way are taken without harm', async (t) => {
  const { webhooks, deliveries, addWebhook, emit, claim } = createDeliveryKit()
  await addWebhook()
  for (let i = 0; i < 4; i++) await emit()
  const [first, second, third, fourth] = await claim()
  if (!first || !second || !third || !fourth) throw new Error('nothing is due')
  await webhooks.delete('acme', 1)
  const results = [delivered(first), retry(second), failed(third, { isGone: true })]

  const rule = { failingForSeconds: 0, failedDeliveries: 0, warnAfterSeconds: 0 }

  t.strictSame(await deliveries.complete(results, rule), [])
  await deliveries.release([fourth])
  t.strictSame(await claim(), [])
})

t.test('a webhook made inactive and active again still takes up to perEndpoint deliveries', async (t) => {
  const { webhooks, addWebhook, emit, claim, complete } = createDeliveryKit()
  await addWebhook()
  await emit()
  await emit()
  const stopped = await claim({ perEndpoint: 2 })
  await webhooks.update('acme', 1, { status: 'inactive' })
  await webhooks.update('acme', 1, { status: 'active' })
  for (let i = 0; i < 4; i++) await emit()
  t.strictSame(eventIds(await claim({ perEndpoint: 2 })), ['evt_3', 'evt_4'])

  await complete(...stopped.map((lease) => retry(lease)))
  t.strictSame(await claim({ perEndpoint: 2 }), [])
})
