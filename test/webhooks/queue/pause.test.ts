import t, { type Test } from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { memoryStorage } from '../../../src/storages/memory/index.js'
import { hang, startReceiver } from '../../fixtures/receivers/receiver.js'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { silentLogger } from '../../fixtures/delivery/silent-logger.js'

interface Line {
  webhook_id: number
  paused_until: string
  reason: string
}

/** A worker and its log lines about pauses. */
function startWithLog (t: Test, timeoutMs = 5000) {
  const machines = createMachines(t)
  const lines: Line[] = []
  const ignore = (): void => {}
  const info = (fields: object, message: string): void => { if (message === 'webhook paused') lines.push(fields as Line) }
  const engine = machines.start({ logger: { info, warn: ignore, error: ignore }, delivery: { timeoutMs } })
  return { ...machines, engine, lines }
}

t.test('a pause that several attempts in flight cause is logged once, and the next pause again', async (t) => {
  const { addWebhook, clock, engine, lines } = startWithLog(t)
  const receiver = await startReceiver(t)
  const id = await addWebhook(receiver.url)
  receiver.answer({ status: 503, headers: { 'retry-after': '600' } })
  for (let count = 0; count < 4; count++) await engine.emit(event)
  const startedAt = clock.now()
  await engine.drain()
  t.equal(receiver.requests.length, 4)
  t.strictSame(lines, [{
    webhook_id: id, tenant_slug: 'acme', paused_until: new Date(startedAt + 600_000).toISOString(), reason: 'retry_after', response_status: 503
  }])

  await clock.advance(800_000)
  await engine.drain()
  t.ok(receiver.requests.length > 4)
  t.equal(lines.length, 2)
})

t.test('without a usable Retry-After, the log names the status or the timeout as the reason', async (t) => {
  const { addWebhook, clock, engine, lines } = startWithLog(t, 1000)
  const receiver = await startReceiver(t)
  const id = await addWebhook(receiver.url)
  receiver.answer({ status: 429, headers: { 'retry-after': 'soon' } }, hang)
  await engine.emit(event)
  await engine.drain()
  await clock.advance(60_000)
  await engine.drain()
  t.match(lines, [
    { webhook_id: id, reason: 'http_status', response_status: 429 },
    { webhook_id: id, reason: 'timeout', response_status: null }
  ])
})

t.test('a worker of another environment', async (t) => {
  const { clock, start, addWebhook, storage, deliveries } = createMachines(t)
  const receiver = await startReceiver(t)
  const id = await addWebhook(receiver.url)
  const production = start({ delivery: { environment: 'production' } })
  await production.emit(event)
  await production.drain()
  await production.close()

  const errors: unknown[] = []
  const logger = {
    ...silentLogger,
    error: ({ err }: { err?: unknown }, message: string) => { errors.push([message, (err as Error).message]) }
  }
  const staging = start({ delivery: { environment: 'staging' }, logger })
  await staging.emit(event)

  await t.test('sends neither deliveries nor tests, and logs it once', async (t) => {
    await t.rejects(staging.drain(), { code: 'held' })
    for (let turn = 0; turn < 3; turn++) await clock.advance(1000)
    t.match(await staging.webhooks.sendTest('acme', id), { status: 'failed', error: 'held' })
    t.equal(receiver.requests.length, 1)
    t.strictSame(errors, [['deliveries are held', 'the database belongs to another delivery.environment: nothing is sent until you call adopt, or run npx fastify-recruiting-api adopt']])
  })

  await t.test('reports the hold in stats and to tenants, and is alive', async (t) => {
    const { held } = await staging.stats()
    t.equal(held?.reason, 'environment')
    t.match(await staging.health(), { alive: true, held })
    t.match(await staging.webhooks.find('acme', id), { health: { held: true } })
    await staging.close()
    t.match(await staging.health(), { alive: false, held: null })
  })

  await t.test('sends pending deliveries after adopt', async (t) => {
    const again = start({ delivery: { environment: 'staging' } })
    t.strictSame(await again.adopt({ pending: 'deliver' }), { reason: 'environment', pending: 1 })
    await again.drain()
    t.strictSame(await deliveries(id), [['delivered', 1], ['delivered', 1]])
    t.notOk('held' in ((await again.webhooks.find('acme', id))?.health ?? {}))
    t.equal((await storage.holds?.find('production'))?.reason, 'environment')
    await again.close()
    await t.rejects(again.adopt({ pending: 'deliver' }), { code: 'closed' })
  })
})

t.test('health shows no hold if it cannot be read', async (t) => {
  const storage = memoryStorage()
  storage.holds.find = () => Promise.reject(new Error('down'))
  const recruiting = createRecruiting({ storage, delivery: false, logger: silentLogger })
  t.teardown(() => recruiting.close())
  t.match(await recruiting.health(), { alive: true, held: null })
})

t.test('a storage without holds', async (t) => {
  const { webhooks, deliveries } = memoryStorage()
  const recruiting = createRecruiting({ storage: { webhooks, deliveries }, delivery: false })
  t.teardown(() => recruiting.close())
  t.equal((await recruiting.stats()).held, null)
  t.equal(await recruiting.adopt({ pending: 'discard' }), null)
  t.throws(() => createRecruiting({ storage: { webhooks, deliveries }, delivery: { environment: 'production' } }), {
    code: 'invalid_option', field: 'delivery.environment', message: 'delivery.environment: expected a storage with holds, got "production"'
  })
})
