import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import t, { type Test } from 'tap'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { createMachines, event } from '../fixtures/delivery/engine.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

const names = ['emit', 'attempt', 'retry', 'pause', 'give-up', 'disable'] as const

/** Collects the messages on the package's channels while a test runs. */
function listen (t: Test): Array<[name: string, message: unknown]> {
  const told: Array<[name: string, message: unknown]> = []
  for (const name of names) {
    const listener = (message: unknown) => told.push([name, message])
    subscribe(`fastify-recruiting-api:${name}`, listener)
    t.teardown(() => unsubscribe(`fastify-recruiting-api:${name}`, listener))
  }
  return told
}

t.test('the channels publish an event, its attempts and the consequences of each', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, start, storage } = createMachines(t)
  const webhookId = await addWebhook(receiver.url)
  const engine = start({ delivery: { retrySchedule: [0, 5, 5] } })
  const told = listen(t)
  receiver.answer(500, 503, 410)
  const { id: eventId } = await engine.emit(event)
  await engine.drain()
  const failingSince = new Date(clock.now()).toISOString()
  for (let count = 0; count < 2; count++) {
    await clock.advance(6010)
    await engine.drain()
  }
  const durations = (await storage.deliveries.find('acme', webhookId, 1))?.attempts.map(({ duration_ms: ms }) => ms) ?? []
  const attempt = (number: number, responseStatus: number) => ({
    tenantSlug: 'acme',
    webhookId,
    deliveryId: 1,
    eventId,
    eventType: 'application.created',
    attempt: number,
    durationMs: durations[number - 1],
    responseStatus,
    error: 'http_status',
    detail: null
  })
  const waits = told.flatMap(([name, message]) => name === 'retry' ? [(message as { retryInMs: number }).retryInMs] : [])
  t.strictSame(told, [
    ['emit', { tenantSlug: 'acme', eventId, eventType: 'application.created', deliveries: 1 }],
    ['attempt', attempt(1, 500)],
    ['retry', { ...attempt(1, 500), retryInMs: waits[0] }],
    ['attempt', attempt(2, 503)],
    ['retry', { ...attempt(2, 503), retryInMs: waits[1] }],
    ['pause', { ...attempt(2, 503), pauseMs: Math.min(Number(waits[1]), 60_000) }],
    ['attempt', attempt(3, 410)],
    ['give-up', attempt(3, 410)],
    ['disable', {
      kind: 'gone', tenantId: 'acme', tenantSlug: 'acme', webhookId, failingSince, failedDeliveries: 1, lastError: 'http_status', lastDetail: null, lastResponseStatus: 410, contact: null
    }]
  ])
})

t.test('an event emitted again with its idempotency key is published once', async (t) => {
  const { start } = createMachines(t)
  const engine = start({ delivery: { worker: false } })
  const told = listen(t)
  const keyed = { ...event, idempotencyKey: 'application-1' }
  const { id } = await engine.emit(keyed)
  await engine.emit(keyed)
  await t.rejects(engine.emit({ ...keyed, data: { id: 2 } }), { code: 'idempotency_conflict' })
  t.strictSame(told, [['emit', { tenantSlug: 'acme', eventId: id, eventType: 'application.created', deliveries: 0 }]])
})

t.test('stats count attempts by result and duration', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, start } = createMachines(t)
  await addWebhook(receiver.url)
  const engine = start()
  receiver.answer(204, 500, (response) => response.destroy())
  for (let count = 0; count < 3; count++) {
    await engine.emit(event)
    await engine.drain()
  }
  const { durationMs, ...stats } = await engine.stats()
  t.strictSame(stats, {
    pending: 2,
    due: 0,
    leased: 0,
    atLeast: { pending: false, due: false },
    suspendedTenants: 0,
    oldestDueMs: 0,
    attempts: { delivered: 1, postponed: 0, timeout: 0, connection: 1, tls: 0, blocked: 0, http_status: 1 },
    inFlight: 0,
    inFlightLimit: 128,
    changes: { heldBackMs: 0, heldBackBy: null, missed: [] },
    feed: { heldBackMs: 0, heldBackBy: null },
    subscriptions: { live: 0, failing: 0, lagMs: 0 },
    held: null
  })
  t.equal(durationMs.count, 3)
  t.same(durationMs.buckets.map(({ upTo }) => upTo), [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 15_000])
  t.equal(durationMs.buckets.at(-1)?.count, 3)
  t.ok(durationMs.buckets.every(({ count }, index, all) => count >= (all[index - 1]?.count ?? 0)), 'cumulative')
})

const atLeast = { pending: false, delivered: false, failed: false }
const quiet = { pending: 0, oldestDueMs: 0, failing: 0, delivered: 0, failed: 0, atLeast, suspendedSince: null }

t.test('stats of a tenant are looked up by its id', async (t) => {
  const storage = memoryStorage()
  const ids = new Map([['acme', 42], ['globex', 43]])
  const recruiting = createRecruiting({ storage, delivery: false, tenantId: (slug) => ids.get(slug) ?? null })
  t.teardown(() => recruiting.close())
  await recruiting.webhooks.create('acme', { name: 'CRM', target_url: 'https://example.com/', event_types: ['application.created'] })
  await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  t.match(await recruiting.stats({ tenantSlug: 'acme' }), { ...quiet, pending: 1, oldestDueMs: Number })
  t.strictSame(await recruiting.stats({ tenantSlug: 'globex' }), quiet)
  ids.set('globex', 42)
  t.match(await recruiting.stats({ tenantSlug: 'globex' }), { pending: 1 })
  await t.rejects(recruiting.stats({ tenantSlug: 'nobody' }), { code: 'unknown_tenant' })
})

t.test('wrong arguments are rejected and never read all tenants', async (t) => {
  const storage = memoryStorage()
  let reads = 0
  const { stats } = storage.deliveries
  storage.deliveries.stats = async () => { reads++; return stats() }
  const recruiting = createRecruiting({ storage, delivery: false })
  for (const [of, field] of [
    [null, 'options'], ['acme', 'options'], [[], 'options'], [{}, 'tenantSlug'], [{ tenantSlug: '' }, 'tenantSlug'], [{ tenantSlug: 5 }, 'tenantSlug'],
    [{ tenantSlug: undefined }, 'tenantSlug'], [{ tenant: 'acme' }, 'tenant'], [{ tenantSlug: 'acme', tenantId: 1 }, 'tenantId']
  ] as const) {
    await t.rejects(recruiting.stats(of as never), { code: 'invalid_input', field }, JSON.stringify(of))
  }
  t.equal(reads, 0)
  t.match(await recruiting.stats(), { pending: 0, inFlight: 0 })
  t.equal(reads, 1)
  await recruiting.removeTenant('acme')
  await t.rejects(recruiting.stats({ tenantSlug: 'acme' }), { code: 'tenant_resting' })
  await recruiting.close()
  await t.rejects(recruiting.stats({ tenantSlug: 'acme' }), { code: 'closed' })
  await t.rejects(recruiting.stats(), { code: 'closed' })
})
