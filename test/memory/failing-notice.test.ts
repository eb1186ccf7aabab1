import t from 'tap'
import type { AttemptResult, HealthNotice, HealthRule, Lease } from '../../src/ports/index.js'
import { createDeliveryKit, delivered, failed, retry } from './fixtures/delivery-kit.js'
import type { DeliveryKit } from './fixtures/delivery-kit.js'

const rule: HealthRule = { failingForSeconds: 120, failedDeliveries: 2, warnAfterSeconds: 60 }

const failing: HealthNotice = {
  kind: 'failing',
  tenantSlug: 'acme',
  webhookId: 1,
  failingSince: '2026-01-01T00:00:00.000Z',
  failedDeliveries: 0,
  lastError: 'http_status',
  lastResponseStatus: 503
}

async function attempt (kit: DeliveryKit, createResult: (lease: Lease) => AttemptResult): Promise<HealthNotice[]> {
  await kit.emit()
  return kit.deliveries.complete([createResult(await kit.claimOne())], rule)
}

async function createFailingKit (): Promise<DeliveryKit> {
  const kit = createDeliveryKit()
  await kit.addWebhook()
  await attempt(kit, retry)
  return kit
}

t.test('the host is told once that a webhook has been failing for long, and the webhook stays active', async (t) => {
  const kit = await createFailingKit()
  const { clock, webhooks } = kit
  await clock.advance(59_999)
  t.strictSame(await attempt(kit, retry), [])
  await clock.advance(1)

  t.strictSame(await attempt(kit, retry), [failing])
  t.strictSame(await attempt(kit, failed), [])
  t.hasStrict(await webhooks.find('acme', 1), { status: 'active' })
})

t.test('it is told again when the webhook fails for long after something was delivered', async (t) => {
  const kit = await createFailingKit()
  await kit.clock.advance(60_000)
  t.strictSame(await attempt(kit, retry), [failing])
  await attempt(kit, delivered)
  t.strictSame(await attempt(kit, retry), [])
  await kit.clock.advance(60_000)

  t.strictSame(await attempt(kit, failed), [{
    ...failing,
    failingSince: '2026-01-01T00:01:00.000Z',
    failedDeliveries: 1,
    lastError: 'timeout',
    lastResponseStatus: null
  }])
})

t.test('it is told again after the webhook was made active', async (t) => {
  const kit = await createFailingKit()
  await kit.clock.advance(60_000)
  t.strictSame(await attempt(kit, retry), [failing])
  await kit.webhooks.update('acme', 1, { status: 'active' })
  await attempt(kit, retry)
  await kit.clock.advance(60_000)

  t.strictSame(await attempt(kit, retry), [{ ...failing, failingSince: '2026-01-01T00:01:00.000Z' }])
})

t.test('a webhook that is disabled by the same call is not said to be failing, too', async (t) => {
  const kit = await createFailingKit()
  await attempt(kit, failed)
  await attempt(kit, failed)
  await kit.clock.advance(120_000)

  t.strictSame(await attempt(kit, retry), [{ ...failing, kind: 'disabled', failedDeliveries: 2 }])
})

t.test('a webhook that is not active is not said to be failing', async (t) => {
  const kit = await createFailingKit()
  await kit.emit()
  const lease = await kit.claimOne()
  await kit.clock.advance(60_000)
  await kit.webhooks.update('acme', 1, { status: 'inactive' })

  t.strictSame(await kit.deliveries.complete([retry(lease)], rule), [])
})
