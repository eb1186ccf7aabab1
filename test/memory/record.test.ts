import t from 'tap'
import { createDeliveryKit, createEvent } from './fixtures/delivery-kit.js'

t.test('an event makes one pending delivery, due now, for each active webhook that subscribes to its type', async (t) => {
  const { addWebhook, emit, log } = createDeliveryKit()
  const first = await addWebhook({ event_types: ['job.created', 'candidate.created'] })
  const second = await addWebhook()
  const unsubscribed = await addWebhook({ event_types: ['candidate.created.not', 'candidate'] })
  const foreign = await addWebhook({ tenantSlug: 'other' })

  t.strictSame(await emit({ fingerprint: 'print' }), { id: 'evt_1', deliveries: 2, fingerprint: 'print' })
  const delivery = {
    event_id: 'evt_1',
    event_type: 'candidate.created',
    status: 'pending',
    attempt_count: 0,
    response_status: null,
    error: null,
    next_attempt_at: '2026-01-01T00:00:00.000Z',
    created_at: '2026-01-01T00:00:00.000Z',
    delivered_at: null
  }
  t.strictSame(await log(first), [{ id: 1, ...delivery }])
  t.strictSame(await log(second), [{ id: 2, ...delivery }])
  t.strictSame(await log(unsubscribed), [])
  t.strictSame(await log(foreign, 'other'), [])
})

t.test('a webhook that is not active gets a skipped delivery, which is not counted', async (t) => {
  const { addWebhook, emit, log, claim } = createDeliveryKit()
  const webhook = await addWebhook({ status: 'inactive' })
  const { deliveries } = await emit()

  t.equal(deliveries, 0)
  t.hasStrict(await log(webhook), [{ status: 'skipped', attempt_count: 0, next_attempt_at: null }])
  t.strictSame(await claim(), [])
})

t.test('an event that nobody subscribes to is recorded all the same', async (t) => {
  const { emit } = createDeliveryKit()

  t.strictSame(await emit({ idempotencyKey: 'once' }), { id: 'evt_1', deliveries: 0, fingerprint: '' })
  t.strictSame(await emit({ idempotencyKey: 'once' }), { id: 'evt_1', deliveries: 0, fingerprint: '' })
})

t.test('an idempotency key that was used before records nothing and gives the result of the first time', async (t) => {
  const { webhooks, addWebhook, emit, log } = createDeliveryKit()
  const webhook = await addWebhook()
  const first = await emit({ idempotencyKey: 'once', fingerprint: 'first' })
  await addWebhook()
  await webhooks.update('acme', webhook.id, { status: 'inactive' })

  t.strictSame(first, { id: 'evt_1', deliveries: 1, fingerprint: 'first' })
  t.strictSame(await emit({ idempotencyKey: 'once', fingerprint: 'second' }), first)
  t.equal((await log(webhook)).length, 1)
})

t.test('of several at once with the same idempotency key, exactly one records', async (t) => {
  const { addWebhook, emit, log } = createDeliveryKit()
  const webhook = await addWebhook()
  const results = await Promise.all(['a', 'b', 'c'].map((fingerprint) => emit({ idempotencyKey: 'once', fingerprint })))

  t.strictSame(results, results.map(() => results[0]))
  t.equal((await log(webhook)).length, 1)
})

t.test('an idempotency key is unique for its tenant alone, and its absence is no key', async (t) => {
  const { addWebhook, emit, log } = createDeliveryKit()
  const webhook = await addWebhook()

  t.equal((await emit({ idempotencyKey: 'once' })).id, 'evt_1')
  t.equal((await emit({ idempotencyKey: 'once', tenantSlug: 'other' })).id, 'evt_2')
  t.equal((await emit()).id, 'evt_3')
  t.equal((await emit()).id, 'evt_4')
  t.equal((await log(webhook)).length, 3)
})

t.test('an event id is refused the second time, also for another tenant', async (t) => {
  const { addWebhook, deliveries, log } = createDeliveryKit()
  const webhook = await addWebhook()
  const foreign = await addWebhook({ tenantSlug: 'other' })
  await deliveries.record('acme', createEvent('evt_1'))

  const refusal = { code: 'invalid_event', field: 'id', message: 'id: is taken by another event' }
  await t.rejects(deliveries.record('acme', createEvent('evt_1')), refusal)
  await t.rejects(deliveries.record('other', { ...createEvent('evt_1'), idempotencyKey: 'once' }), refusal)
  t.equal((await log(webhook)).length, 1)
  t.strictSame(await log(foreign, 'other'), [])
})

t.test('a transaction is refused, and nothing is recorded', async (t) => {
  const { addWebhook, deliveries, log } = createDeliveryKit()
  const webhook = await addWebhook()

  await t.rejects(deliveries.record('acme', createEvent('evt_1'), { query () {} }), {
    code: 'invalid_event', field: 'transaction', message: 'transaction: the memory storage has no transactions'
  })
  t.strictSame(await log(webhook), [])
})

t.test('the body comes back byte for byte, whatever becomes of the object handed in', async (t) => {
  const { addWebhook, deliveries, claimOne } = createDeliveryKit()
  await addWebhook()
  const event = { ...createEvent('evt_1'), body: '{ "b":1,\n"a":"é\u{1f600}" }' }
  await deliveries.record('acme', event)
  event.body = 'changed'

  t.equal((await claimOne()).body, '{ "b":1,\n"a":"é\u{1f600}" }')
})
