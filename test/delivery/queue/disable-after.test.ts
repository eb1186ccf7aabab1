import t, { type Test } from 'tap'
import type { HealthNotice } from '../../../src/index.js'
import { type Delivering, startDelivering } from '../../fixtures/delivery/delivering.js'
import { timeOf } from '../../fixtures/api/webhook-api.js'

const hour = 3_600_000
const fiveDays = 5 * 24 * hour

/** One attempt a delivery, so that each failure is final, and the default rule: 5 days and 10 deliveries. */
async function startFailing (t: Test): Promise<Delivering> {
  const delivering = await startDelivering(t, { delivery: { retrySchedule: [0], pollMs: 60_000 } })
  delivering.receiver.answer(500)
  return delivering
}

async function fail ({ drain, emit }: Delivering, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    await emit()
    await drain()
  }
}

t.test('a webhook is disabled by its tenth failed delivery, 5 days after the first attempt that failed', async (t) => {
  const delivering = await startFailing(t)
  const { app, clock, receiver, status, webhook } = delivering
  const notices: HealthNotice[] = []
  app.recruiting.on('webhookDisabled', (notice) => notices.push(notice))
  const failingSince = timeOf(clock)
  await fail(delivering, 9)
  await clock.skip(fiveDays)
  t.equal(await status(), 'active')
  receiver.answer((response) => response.destroy())
  await fail(delivering, 1)
  t.equal(await status(), 'disabled')
  t.strictSame(notices, [{
    kind: 'disabled',
    tenantId: 'acme',
    tenantSlug: 'acme',
    webhookId: webhook.id,
    failingSince,
    failedDeliveries: 10,
    lastError: 'connection',
    lastResponseStatus: null
  }])
})

t.test('ten failed deliveries within 5 days do not disable a webhook', async (t) => {
  const delivering = await startFailing(t)
  await fail(delivering, 10)
  await delivering.clock.skip(fiveDays - 1)
  await fail(delivering, 1)
  t.equal(await delivering.status(), 'active')
  await delivering.clock.advance(1)
  await fail(delivering, 1)
  t.equal(await delivering.status(), 'disabled')
})

t.test('nine failed deliveries in more than 5 days do not disable a webhook', async (t) => {
  const delivering = await startFailing(t)
  await fail(delivering, 8)
  await delivering.clock.skip(2 * fiveDays)
  await fail(delivering, 1)
  t.equal(await delivering.status(), 'active')
})

t.test('attempts that will be repeated do not count as failed deliveries', async (t) => {
  const { clock, drain, emit, receiver, retry, status } = await startDelivering(t, {
    delivery: { retrySchedule: Array.from({ length: 20 }, () => 0), disableAfter: { failingForSeconds: 0, failedDeliveries: 2 } }
  })
  receiver.answer(500)
  await emit()
  await drain()
  await clock.advance(10)
  await retry()
  t.equal(receiver.requests.length, 20)
  t.equal(await status(), 'active')
})

t.test('one delivery that succeeds starts both counts again', async (t) => {
  const delivering = await startFailing(t)
  const { clock, receiver, status } = delivering
  await fail(delivering, 9)
  await clock.skip(fiveDays)
  receiver.answer(204, 500)
  await fail(delivering, 1)
  await fail(delivering, 9)
  await clock.skip(fiveDays)
  t.equal(await status(), 'active')
  await fail(delivering, 1)
  t.equal(await status(), 'disabled')
})

t.test('made active by the client, a webhook starts with a clean record', async (t) => {
  const delivering = await startFailing(t)
  const { call, clock, status, webhook } = delivering
  await fail(delivering, 9)
  await clock.skip(fiveDays)
  await call('PATCH', `/webhooks/${webhook.id}`, { status: 'active' })
  await fail(delivering, 9)
  await clock.skip(fiveDays)
  t.equal(await status(), 'active')
  await fail(delivering, 1)
  t.equal(await status(), 'disabled')
})

t.test('the host is notified once when a webhook has been failing for half the time', async (t) => {
  const delivering = await startFailing(t)
  const { app, clock, webhook } = delivering
  const notices: HealthNotice[] = []
  app.recruiting.on('webhookFailing', (notice) => notices.push(notice))
  const failingSince = timeOf(clock)
  await fail(delivering, 1)
  await clock.skip(fiveDays / 2 - 1)
  await fail(delivering, 1)
  t.strictSame(notices, [])
  await clock.advance(1)
  await fail(delivering, 2)
  t.strictSame(notices, [{
    kind: 'failing',
    tenantId: 'acme',
    tenantSlug: 'acme',
    webhookId: webhook.id,
    failingSince,
    failedDeliveries: 3,
    lastError: 'http_status',
    lastResponseStatus: 500
  }])
})

t.test('a rule of the host replaces the default', async (t) => {
  const { clock, drain, emit, receiver, status } = await startDelivering(t, {
    delivery: { retrySchedule: [0], disableAfter: { failingForSeconds: 60, failedDeliveries: 1 } }
  })
  receiver.answer(500)
  await emit()
  await drain()
  t.equal(await status(), 'active')
  await clock.advance(60_000)
  await emit()
  await drain()
  t.equal(await status(), 'disabled')
})
