import t from 'tap'
import { createDeliveryKit, delivered, eventIds, retry } from './fixtures/delivery-kit.js'

t.test('a claim has all that is needed to attempt a delivery', async (t) => {
  const { webhooks, addWebhook, emit, claim, complete, clock } = createDeliveryKit()
  const { id } = await addWebhook({ secret: 'sesame' })
  await emit({ body: '{"a":1}' })
  await webhooks.update('acme', id, { target_url: 'https://hooks.example/moved' })
  const first = await claim()

  const claimed = {
    deliveryId: 1,
    fence: 1,
    tenantSlug: 'acme',
    webhookId: 1,
    targetUrl: 'https://hooks.example/moved',
    secrets: ['sesame'],
    eventId: 'evt_1',
    eventType: 'candidate.created',
    body: '{"a":1}',
    attemptCount: 0,
    isFailing: false
  }
  t.strictSame(first, [claimed])

  await complete(...first.map((lease) => retry(lease)))
  await clock.advance(5000)
  t.strictSame(await claim(), [{ ...claimed, fence: 2, attemptCount: 1, isFailing: true }])
})

t.test('a claim tells whether an attempt to the webhook has failed since something was delivered', async (t) => {
  const { webhooks, addWebhook, emit, claimOne, complete } = createDeliveryKit()
  await addWebhook()
  for (let i = 0; i < 6; i++) await emit()
  const first = await claimOne()
  t.equal(first.isFailing, false)
  await complete(retry(first))

  const second = await claimOne()
  t.equal(second.isFailing, true)
  await complete(delivered(second))
  const third = await claimOne()
  t.equal(third.isFailing, false)
  await complete(retry(third))
  await webhooks.update('acme', 1, { status: 'active' })
  t.equal((await claimOne()).isFailing, false)
})

t.test('a delivery is leased to one caller at a time', async (t) => {
  const { addWebhook, emit, claim } = createDeliveryKit()
  await addWebhook()
  for (let i = 0; i < 5; i++) await emit()
  const claims = await Promise.all([claim({ limit: 2 }), claim({ limit: 2 }), claim({ limit: 2 }), claim()])

  t.strictSame(claims.map(eventIds), [['evt_1', 'evt_2'], ['evt_3', 'evt_4'], ['evt_5'], []])
})

t.test('a claim goes across tenants', async (t) => {
  const { addWebhook, emit, claim } = createDeliveryKit()
  await addWebhook()
  await addWebhook({ tenantSlug: 'other' })
  await emit()
  await emit({ tenantSlug: 'other' })

  t.strictSame((await claim()).map(({ tenantSlug, webhookId }) => [tenantSlug, webhookId]), [['acme', 1], ['other', 2]])
})

t.test('a delivery that waits for its next attempt is claimed when it is due, not before', async (t) => {
  const { addWebhook, emit, claim, claimOne, complete, clock } = createDeliveryKit()
  await addWebhook()
  await emit()
  await complete(retry(await claimOne(), { retryInMs: 4999.5 }))

  await clock.advance(4999)
  t.strictSame(await claim(), [])
  await clock.advance(1)
  t.strictSame(eventIds(await claim()), ['evt_1'])
})

t.test('of one webhook, first attempts come before later ones, and both before replays', async (t) => {
  const { addWebhook, emit, claim, claimOne, complete, replay, clock } = createDeliveryKit()
  const webhook = await addWebhook()
  await emit()
  await complete(delivered(await claimOne()))
  await replay(webhook, { include: 'all' })
  await emit()
  await complete(retry(await claimOne(), { retryInMs: 1 }))
  await emit()
  await clock.advance(1)

  t.strictSame(eventIds(await claim()), ['evt_3', 'evt_2', 'evt_1'])
})

t.test('a replay that is tried again stays behind first and later attempts', async (t) => {
  const { addWebhook, emit, claim, claimOne, complete, replay, clock } = createDeliveryKit()
  const webhook = await addWebhook()
  await emit()
  await complete(delivered(await claimOne()))
  await replay(webhook, { include: 'all' })
  await complete(retry(await claimOne(), { retryInMs: 1 }))
  await emit()
  await complete(retry(await claimOne(), { retryInMs: 2 }))
  await clock.advance(2)

  t.strictSame(eventIds(await claim()), ['evt_2', 'evt_1'])
})

t.test('among equals the one due for longest comes first', async (t) => {
  const { addWebhook, emit, claim, complete, clock } = createDeliveryKit()
  await addWebhook()
  for (let i = 0; i < 4; i++) await emit()
  const waits = [3, 1, 2, 1]
  const results = (await claim()).map((lease, index) => retry(lease, { retryInMs: waits[index] ?? 0 }))
  await complete(...results)
  await clock.advance(10)

  t.strictSame(eventIds(await claim()), ['evt_2', 'evt_4', 'evt_3', 'evt_1'])
})

t.test('first attempts are made in the order of their events', async (t) => {
  const { addWebhook, emit, claim, clock } = createDeliveryKit()
  await addWebhook()
  for (let i = 0; i < 3; i++) {
    await emit()
    await clock.advance(1)
  }

  t.strictSame(eventIds(await claim()), ['evt_1', 'evt_2', 'evt_3'])
})
