import t from 'tap'
import { createDeliveryKit } from './fixtures/delivery-kit.js'
import { delivered, failed, retry } from '../../src/testing/support/samples.js'

t.test('listeners are called by everything that makes deliveries due', async (t) => {
  const { deliveries, webhooks, addWebhook, emit, claimOne, recordAttempts, replay } = createDeliveryKit()
  let calls = 0
  deliveries.onDue(() => { calls++ })
  const heard = async (act: () => unknown): Promise<number> => {
    const before = calls
    await act()
    return calls - before
  }

  t.equal(await heard(() => emit()), 0, 'nobody subscribes')
  const webhook = await addWebhook()
  t.equal(await heard(() => emit()), 1)
  const lease = await claimOne()
  t.equal(await heard(() => deliveries.release([lease])), 1)
  t.equal(await heard(() => deliveries.release([lease])), 0)
  t.equal(await heard(async () => recordAttempts(failed(await claimOne()))), 0)
  t.equal(await heard(() => replay(webhook)), 1)
  t.equal(await heard(() => replay(webhook)), 0)
  t.equal(await heard(async () => recordAttempts(retry(await claimOne()))), 0)
  t.equal(await heard(() => webhooks.update('acme', webhook.id, { name: 'x' })), 0)
  t.equal(await heard(() => webhooks.update('acme', webhook.id, { status: 'inactive' })), 0)
  t.equal(await heard(() => emit()), 0, 'skipped')
  t.equal(await heard(() => webhooks.update('acme', webhook.id, { status: 'active' })), 1)
  await emit()
  t.equal(await heard(async () => recordAttempts(delivered(await claimOne()))), 0)
})

t.test('a listener can claim the recorded event', async (t) => {
  const { deliveries, addWebhook, emit, claim } = createDeliveryKit()
  await addWebhook()
  const claims: Array<ReturnType<typeof claim>> = []
  deliveries.onDue(() => { claims.push(claim()) })
  await emit()

  t.hasStrict(await Promise.all(claims), [[{ eventId: 'evt_1' }]])
})

t.test('each listener stops independently, and may be stopped twice', async (t) => {
  const { deliveries, addWebhook, emit } = createDeliveryKit()
  await addWebhook()
  let calls = 0
  const listener = (): void => { calls++ }
  const endFirst = deliveries.onDue(listener)
  const endSecond = deliveries.onDue(listener)
  await emit()
  t.equal(calls, 2)

  endFirst()
  endFirst()
  await emit()
  t.equal(calls, 3)
  endSecond()
  await emit()
  t.equal(calls, 3)
})

t.test('a listener that throws breaks neither the call nor other listeners, and a warning tells of it', async (t) => {
  const { deliveries, addWebhook, emit, log } = createDeliveryKit()
  const webhook = await addWebhook()
  const warnings: unknown[] = []
  const { emitWarning } = process
  t.teardown(() => { process.emitWarning = emitWarning })
  process.emitWarning = (warning: unknown) => { warnings.push(warning) }
  const broken = new Error('broken')
  let calls = 0
  deliveries.onDue(() => { throw broken })
  // eslint-disable-next-line no-throw-literal
  deliveries.onDue(() => { throw 'text' })
  deliveries.onDue(() => { calls++ })

  t.hasStrict(await emit(), { deliveries: 1 })
  t.equal((await log(webhook)).length, 1)
  t.equal(calls, 1)
  t.strictSame(warnings, [broken, 'text'])
})
