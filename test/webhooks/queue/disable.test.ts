import t, { type Test } from 'tap'
import type { HealthNotice } from '../../../src/index.js'
import { type Delivering, startDelivering } from '../../fixtures/delivery/delivering.js'
import { timeOf } from '../../fixtures/api/webhook-api.js'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { silentLogger } from '../../fixtures/delivery/silent-logger.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

const hour = 3_600_000
const fiveDays = 5 * 24 * hour

/** One attempt per delivery, so that each failure is final, and the default rule: 5 days and 10 deliveries. */
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

t.test('a webhook is disabled by its tenth failed delivery, 5 days after the first failed attempt', async (t) => {
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
    lastDetail: 'reset',
    lastResponseStatus: null,
    contact: null
  }])
})

t.test('the host is notified once when a webhook has been failing for half the time', async (t) => {
  const delivering = await startFailing(t)
  const { app, call, clock, webhook } = delivering
  await call('PATCH', `/webhooks/${webhook.id}`, { contact: 'ops@example.com' })
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
    lastDetail: null,
    lastResponseStatus: 500,
    contact: 'ops@example.com'
  }])
})

t.test('a receiver ends a delivery or disables the webhook by the header webhook-delivery', async (t) => {
  const { app, clock, drain, emit, log, receiver, status } = await startDelivering(t)
  const notices: HealthNotice[] = []
  app.recruiting.on('webhookDisabled', (notice) => notices.push(notice))
  const controlled = (status: number, control: string) => ({ status, headers: { 'webhook-delivery': control } })
  receiver.answer(
    controlled(500, 'abort'), controlled(503, 'Abort-Message'), controlled(200, 'abort'), controlled(200, 'constructor'), controlled(200, 'disable')
  )
  for (let count = 0; count < 6; count++) {
    t.equal(await status(), count < 5 ? 'active' : 'disabled')
    await emit()
    await drain()
  }
  t.same((await log()).map(({ status, attempt_count: attempts }) => [status, attempts]), [
    ['failed', 1], ['failed', 1], ['delivered', 1], ['delivered', 1], ['delivered', 1], ['skipped', 0]
  ])
  await clock.advance(60_000)
  t.match(notices, [{ kind: 'gone', failedDeliveries: 0, lastError: 'http_status', lastResponseStatus: 200 }])
})

t.test('a notice that cannot be confirmed is reported again, and others are confirmed immediately', async (t) => {
  const receiver = await startReceiver(t)
  receiver.answer(410)
  const { addWebhook, clock, start, storage: { deliveries } } = createMachines(t)
  const first = await addWebhook(receiver.url)
  const others = [await addWebhook(receiver.url), await addWebhook(receiver.url)]
  const { claimNotices, confirmNotice } = deliveries
  deliveries.claimNotices = async () => []
  const lines: Array<[fields: object, message: string]> = []
  const engine = start({ logger: { ...silentLogger, error: (fields, message) => { lines.push([fields, message]) } } })
  const reported: number[] = []
  engine.on('webhookDisabled', ({ webhookId }) => { reported.push(webhookId) })
  await engine.emit(event)
  await engine.drain()

  let stuck: number | undefined
  deliveries.claimNotices = async (options) => {
    const claimed = await claimNotices(options)
    stuck ??= claimed.find(({ notice }) => notice.webhookId === first)?.noticeId
    return claimed
  }
  deliveries.confirmNotice = async (id) => {
    if (id === stuck) throw new Error('the row is locked')
    return confirmNotice(id)
  }
  await clock.advance(30_000)
  t.same(reported.toSorted(), [first, ...others])
  t.match(lines, [[{ err: { message: 'the row is locked' }, webhook_id: first }, 'could not confirm a notice of a failing webhook, will report it again']])
  await clock.advance(60_000)
  t.same(reported.slice(3), [first])
})
