import t from 'tap'
import type { AttemptResult, HealthNotice, Lease } from '../../src/ports/index.js'
import { createDeliveryKit, delivered, failed, retry } from './fixtures/delivery-kit.js'
import type { DeliveryKit } from './fixtures/delivery-kit.js'

const rule = { failingForSeconds: 60, failedDeliveries: 2, warnAfterSeconds: Number.POSITIVE_INFINITY }

const disabled: HealthNotice = {
  kind: 'disabled',
  tenantSlug: 'acme',
  webhookId: 1,
  failingSince: '2026-01-01T00:00:00.000Z',
  failedDeliveries: 2,
  lastError: 'timeout',
  lastResponseStatus: null
}

async function attempt (kit: DeliveryKit, createResult: (lease: Lease) => AttemptResult): Promise<HealthNotice[]> {
  await kit.emit()
  return kit.deliveries.complete([createResult(await kit.claimOne())], rule)
}

t.test('a webhook is disabled once it has failed for long enough and often enough', async (t) => {
  const kit = createDeliveryKit()
  const { webhooks, addWebhook, clock, emit, log, claim } = kit
  const webhook = await addWebhook()
  t.strictSame(await attempt(kit, failed), [])
  await clock.advance(59_999)
  t.strictSame(await attempt(kit, failed), [])
  await emit()
  await clock.advance(1)

  t.strictSame(await attempt(kit, failed), [{ ...disabled, failedDeliveries: 3 }])
  t.strictSame(await webhooks.find('acme', 1), {
    ...webhook, status: 'disabled', updated_at: '2026-01-01T00:01:00.000Z'
  })
  t.strictSame((await log(webhook)).map(({ status }) => status), ['failed', 'failed', 'failed', 'skipped'])
  t.strictSame(await claim(), [])
})

t.test('deliveries that will be tried again count for the time, not for the number', async (t) => {
  const kit = createDeliveryKit()
  await kit.addWebhook()
  await attempt(kit, retry)
  await kit.clock.advance(60_000)

  t.strictSame(await attempt(kit, failed), [])
  t.strictSame(await attempt(kit, retry), [])
  t.strictSame(await attempt(kit, failed), [disabled])
})

t.test('a failed attempt that will be tried again can be the last straw', async (t) => {
  const kit = createDeliveryKit()
  const { webhooks } = kit
  const webhook = await kit.addWebhook()
  await attempt(kit, failed)
  await attempt(kit, failed)
  await kit.clock.advance(60_000)

  t.strictSame(await attempt(kit, retry), [{ ...disabled, lastError: 'http_status', lastResponseStatus: 503 }])
  t.hasStrict(await webhooks.find('acme', 1), { status: 'disabled' })
  t.hasStrict((await kit.log(webhook)).at(-1), { status: 'skipped', attempt_count: 1 })
})

t.test('a delivery that arrives in between clears the record', async (t) => {
  const kit = createDeliveryKit()
  await kit.addWebhook()
  await attempt(kit, failed)
  await attempt(kit, failed)
  await kit.clock.advance(60_000)
  await attempt(kit, delivered)

  t.strictSame(await attempt(kit, failed), [])
  t.strictSame(await attempt(kit, failed), [])
  await kit.clock.advance(60_000)
  t.strictSame(await attempt(kit, failed), [
    { ...disabled, failingSince: '2026-01-01T00:01:00.000Z', failedDeliveries: 3 }
  ])
})

t.test('deliveries given up before something arrived do not count any more', async (t) => {
  const kit = createDeliveryKit()
  await kit.addWebhook()
  await attempt(kit, failed)
  await attempt(kit, failed)
  await attempt(kit, delivered)
  await attempt(kit, failed)
  await kit.clock.advance(60_000)

  t.strictSame(await attempt(kit, retry), [])
  t.strictSame(await attempt(kit, failed), [disabled])
})

t.test('what was delivered in the same call saves a webhook, before or after the failure', async (t) => {
  for (const order of [[0, 1], [1, 0]]) {
    const kit = createDeliveryKit()
    await kit.addWebhook()
    await attempt(kit, failed)
    await kit.emit()
    await kit.emit()
    const [first, second] = await kit.claim()
    if (!first || !second) throw new Error('nothing is due')
    await kit.clock.advance(60_000)
    const results: AttemptResult[] = [failed(first), delivered(second)]

    const reordered = order.flatMap((index) => results.slice(index, index + 1))
    t.strictSame(await kit.deliveries.complete(reordered, rule), [])
  }
})

t.test('making a webhook active clears the record', async (t) => {
  const kit = createDeliveryKit()
  await kit.addWebhook()
  await attempt(kit, failed)
  await attempt(kit, failed)
  await kit.clock.advance(60_000)
  await kit.webhooks.update('acme', 1, { status: 'active' })

  t.strictSame(await attempt(kit, failed), [])
  await kit.clock.advance(60_000)
  t.strictSame(await attempt(kit, failed), [{ ...disabled, failingSince: '2026-01-01T00:01:00.000Z' }])
  t.hasStrict(await kit.webhooks.update('acme', 1, { status: 'active' }), { status: 'active' })
  t.strictSame(await attempt(kit, failed), [])
})

t.test('a change that says nothing of the status leaves the record alone', async (t) => {
  const kit = createDeliveryKit()
  await kit.addWebhook()
  await attempt(kit, failed)
  await kit.clock.advance(60_000)
  await kit.webhooks.update('acme', 1, { name: 'New name' })

  t.strictSame(await attempt(kit, failed), [disabled])
})

t.test('a webhook that is gone is disabled at once, and its other deliveries are skipped', async (t) => {
  const { deliveries, addWebhook, emit, claim, log, clock } = createDeliveryKit()
  const webhook = await addWebhook()
  const other = await addWebhook()
  for (let i = 0; i < 3; i++) await emit()
  const [gone, , later] = await claim({ limit: 3 })
  if (!gone || !later) throw new Error('nothing is due')

  t.strictSame(await deliveries.complete([failed(gone, { isGone: true }), retry(later)], rule), [
    { ...disabled, kind: 'gone', failedDeliveries: 1, lastError: 'http_status', lastResponseStatus: 410 }
  ])
  t.strictSame((await log(webhook)).map(({ status }) => status), ['failed', 'skipped', 'skipped'])
  t.strictSame((await log(other)).map(({ status }) => status), ['pending', 'pending', 'pending'])
  await clock.advance(1e9)
  t.strictSame((await claim()).filter(({ webhookId }) => webhookId === 1), [])
})

t.test('a webhook that is gone is disabled even if something was delivered in the same call', async (t) => {
  const { deliveries, addWebhook, emit, claim, clock } = createDeliveryKit()
  await addWebhook()
  await emit()
  await emit()
  const [gone, last] = await claim()
  if (!gone || !last) throw new Error('nothing is due')
  await clock.advance(1000)

  t.strictSame(await deliveries.complete([failed(gone, { isGone: true }), delivered(last)], rule), [{
    ...disabled,
    kind: 'gone',
    failingSince: '2026-01-01T00:00:01.000Z',
    failedDeliveries: 0,
    lastError: 'http_status',
    lastResponseStatus: 410
  }])
})

t.test('a webhook is disabled once, and only while it is active', async (t) => {
  const { webhooks, deliveries, addWebhook, emit, claim } = createDeliveryKit()
  await addWebhook()
  await addWebhook({ tenantSlug: 'other' })
  for (let i = 0; i < 2; i++) {
    await emit()
    await emit({ tenantSlug: 'other' })
  }
  const leases = await claim()
  const [first, second, third, fourth] = leases.map((lease) => failed(lease, { isGone: true }))
  if (!first || !second || !third || !fourth) throw new Error('nothing is due')
  await webhooks.update('other', 2, { status: 'inactive' })

  t.equal((await deliveries.complete([first, second, third], rule)).length, 1)
  t.strictSame(await deliveries.complete([fourth], rule), [])
  t.hasStrict(await webhooks.find('other', 2), { status: 'inactive' })
})

t.test('a failure without an error is reported as one of its status', async (t) => {
  const { deliveries, addWebhook, emit, claimOne } = createDeliveryKit()
  await addWebhook()
  await emit()
  const result: AttemptResult = { ...failed(await claimOne(), { isGone: true }), error: null }

  t.hasStrict(await deliveries.complete([result], rule), [{ kind: 'gone', lastError: 'http_status' }])
})

t.test('an event for a disabled webhook is skipped', async (t) => {
  const { deliveries, addWebhook, emit, claimOne, log } = createDeliveryKit()
  const webhook = await addWebhook()
  await emit()
  await deliveries.complete([failed(await claimOne(), { isGone: true })], rule)

  t.hasStrict(await emit(), { deliveries: 0 })
  t.hasStrict((await log(webhook)).at(-1), { status: 'skipped' })
})
