import Fastify from 'fastify'
import t from 'tap'
import recruitingApi, { createRecruiting } from '../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../src/storages/memory/index.js'
import { buildApp } from '../fixtures/api/app.js'
import { createMachines, event } from '../fixtures/delivery/engine.js'
import { hang, startReceiver } from '../fixtures/receivers/receiver.js'
import { runUntil, toLoopback } from '../fixtures/api/webhook-api.js'
import { storeWebhook } from '../fixtures/api/webhooks.js'

t.test('a host delivers once it is ready, including earlier events', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const app = Fastify()
  await app.register(recruitingApi, { storage, keyLookup: memoryKeyLookup([]), delivery: { ...toLoopback, clock } })
  await app.recruiting.emit(event)
  await clock.advance(60_000)
  t.same(await deliveries(id), [['pending', 0]])
  await app.ready()
  await app.recruiting.drain()
  t.same(await deliveries(id), [['delivered', 1]])
  await app.close()
})

t.test('deliveries finish before the host\'s onClose hooks run, regardless of the order of registration', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  let answer = () => {}
  receiver.answer((response) => { answer = () => response.writeHead(204).end() })
  const seen: unknown[] = []
  const app = Fastify()
  app.addHook('onClose', async () => { seen.push(await deliveries(id)) })
  await app.register(recruitingApi, { storage, keyLookup: memoryKeyLookup([]), delivery: { ...toLoopback, clock } })
  app.addHook('onClose', async () => {
    seen.push(await deliveries(id))
    // A running request can emit.
    t.match(await app.recruiting.emit(event), { deliveries: 1 })
    await t.rejects(app.recruiting.drain(), { code: 'closed' })
  })
  await app.ready()
  await app.recruiting.emit(event)
  await receiver.received(1)
  const closing = app.close()
  answer()
  await closing
  t.same(seen, [[['delivered', 1]], [['delivered', 1], ['pending', 0]]])
})

t.test('a host that was never ready closes without delivering', async (t) => {
  const { clock, storage } = createMachines(t)
  const app = Fastify()
  await app.register(recruitingApi, { storage, keyLookup: memoryKeyLookup([]), delivery: { clock } })
  await app.close()
  t.equal(clock.timerCount, 0)
})

t.test('createRecruiting needs only webhooks and deliveries, delivers immediately, and has the members of app.recruiting', async (t) => {
  const receiver = await startReceiver(t)
  const storage = memoryStorage()
  const { webhooks, deliveries } = storage
  const engine = createRecruiting({ storage: { webhooks, deliveries } })
  t.teardown(() => engine.close())
  t.same(Object.keys(engine).sort(), ['adopt', 'as', 'changed', 'close', 'drain', 'emit', 'erase', 'findSubject', 'health', 'off', 'on', 'portal', 'prune', 'removeTenant', 'renameTenant', 'resealSecrets', 'resumeTenant', 'stats', 'subscriptions', 'suspendTenant', 'webhooks'])
  await storeWebhook(storage, 'acme', { targetUrl: receiver.url })
  await engine.emit(event)
  await engine.drain()
  t.match((await engine.stats()).attempts, { blocked: 1, delivered: 0 }, 'by the default rules the loopback is blocked')
  t.equal(receiver.requests.length, 0)
})

for (const [title, delivery] of [['false', false], ['{ worker: false }', { worker: false }]] as const) {
  t.test(`with delivery ${title} createRecruiting records and delivers nothing`, async (t) => {
    const receiver = await startReceiver(t)
    const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
    const id = await addWebhook(receiver.url)
    const engine = createRecruiting({ storage, delivery })
    t.match(await engine.emit(event), { deliveries: 1 })
    await clock.advance(60_000)
    t.same(await deliveries(id), [['pending', 0]])
    t.match(await engine.stats(), { pending: 1, due: 1, leased: 0, oldestDueMs: 60_000, inFlight: 0 })
    await engine.close()
    await start().drain()
    t.same(await deliveries(id), [['delivered', 1]])
  })
}

t.test('the logger of createRecruiting gets failures, but no secret, body or path', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, start } = createMachines(t)
  const id = await addWebhook(`${receiver.url}/path-with-token?token=query-with-token`, { secret: 'whsec_c2VjcmV0' })
  const lines: Array<[level: string, fields: object, message: string]> = []
  const write = (level: string) => (fields: object, message: string) => { lines.push([level, fields, message]) }
  const logger = { info: write('info'), warn: write('warn'), error: write('error') }
  const engine = start({ logger, delivery: { retrySchedule: [0, 5], responseExcerptBytes: 4096 } })
  receiver.answer({ status: 500, headers: { 'content-type': 'text/plain' }, body: 'what the receiver says' })
  const { id: eventId } = await engine.emit({ ...event, data: { full_name: 'Ada Lovelace' } })
  await engine.drain()
  await clock.advance(6010)
  await engine.drain()
  const failures = lines.filter(([, , message]) => message.startsWith('delivery failed'))
  const retryInMs = Object.entries(failures[0]?.[1] ?? {}).find(([name]) => name === 'retry_in_ms')?.[1]
  const shared = {
    webhook_id: id, delivery_id: 1, event_id: eventId, host: `127.0.0.1:${receiver.port}`, error: 'http_status', response_status: 500
  }
  t.strictSame(failures, [
    ['warn', { ...shared, attempt: 1, retry_in_ms: retryInMs }, 'delivery failed, will retry'],
    ['warn', { ...shared, attempt: 2 }, 'delivery failed, giving up']
  ])
  t.notMatch(JSON.stringify(lines), /whsec|Ada|token|says/)
})

t.test('after close, every call but close throws', async (t) => {
  const { start, storage } = createMachines(t)
  const engine = start()
  const closing = engine.close()
  const closed = { name: 'RecruitingApiError', code: 'closed', field: '', message: 'the engine is closed' }
  await t.rejects(engine.emit(event), closed, 'as soon as close begins')
  await closing
  await t.rejects(engine.emit(event), closed)
  await t.rejects(engine.drain(), closed)
  await t.rejects(engine.prune(), closed)
  await t.rejects(engine.stats(), closed)
  await t.rejects(engine.resealSecrets(), closed)
  t.match(await storage.deliveries.stats(), { pending: 0 })
})

const down = async (): Promise<never> => { throw new Error('storage is down') }

t.test('a worker is alive while the storage answers its claims, and reports the last claim', async (t) => {
  const { clock, start } = createMachines(t)
  const startedAt = clock.now()
  const engine = start({ delivery: { pollMs: 1000 } })
  t.same(await engine.health(), { alive: true, lastClaimAt: null, oldestDueMs: 0, held: null, inFlight: 0 }, 'nothing was claimed yet')
  await clock.advance(0)
  await clock.advance(60_000)
  const { lastClaimAt, ...health } = await engine.health()
  t.same(health, { alive: true, oldestDueMs: 0, held: null, inFlight: 0 })
  t.ok(Date.parse(lastClaimAt ?? '') > startedAt + 58_000, `last claim at ${lastClaimAt}`)
})

t.test('a server also reports its health, even after it was closed', async (t) => {
  const app = await buildApp(t)
  t.match(await app.recruiting.health(), { alive: true, held: null, inFlight: 0 })
  await app.close()
  t.match(await app.recruiting.health(), { alive: false, oldestDueMs: null })
})

for (const [what, claimDue] of [['fail', down], ['never end', () => new Promise<never>(() => {})]] as const) {
  t.test(`a worker whose claims ${what} for longer than 30 seconds and its poll time is not alive`, async (t) => {
    const { addWebhook, clock, start, storage } = createMachines(t)
    await addWebhook('https://10.0.0.1/')
    const engine = start({ delivery: { pollMs: 1000, worker: true } })
    await clock.advance(0)
    await clock.advance(1000)
    const { lastClaimAt } = await engine.health()
    const { claimDue: repaired } = storage.deliveries
    let end: () => void = () => {}
    const ended = new Promise<never>((_resolve, reject) => { end = () => reject(new Error('ended')) })
    storage.deliveries.claimDue = () => Promise.race([claimDue(), ended])
    await engine.emit(event)
    await clock.advance(Date.parse(lastClaimAt ?? '') + 31_000 - clock.now())
    t.match(await engine.health(), { alive: true, lastClaimAt, oldestDueMs: Number, held: null, inFlight: 0 })
    await clock.advance(1)
    t.match(await engine.health(), { alive: false, lastClaimAt })
    storage.deliveries.claimDue = repaired
    end()
    await clock.advance(2000)
    t.equal((await engine.health()).alive, true)
  })
}

t.test('a worker whose slots are all in use is alive', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, start } = createMachines(t)
  await addWebhook(receiver.url)
  receiver.answer(hang)
  const engine = start({ delivery: { concurrency: 1, pollMs: 1000, timeoutMs: 60_000 } })
  await engine.emit(event)
  await clock.advance(0)
  await receiver.received(1)
  await clock.advance(40_000)
  const { alive, inFlight } = await engine.health()
  t.same([alive, inFlight], [true, 1])
})

t.test('a storage that does not answer makes the lag unknown, and health never rejects', async (t) => {
  const { start, storage } = createMachines(t)
  const engine = start()
  for (const stats of [down, () => { throw new Error('storage is down') }]) {
    storage.deliveries.stats = stats
    t.match(await engine.health(), { alive: true, oldestDueMs: null })
  }
})

t.test('a process that only emits is alive until it is closed', async (t) => {
  const { clock, storage } = createMachines(t)
  const engine = createRecruiting({ storage, delivery: false })
  await clock.advance(600_000)
  t.same(await engine.health(), { alive: true, lastClaimAt: null, oldestDueMs: 0, held: null, inFlight: 0 })
  await engine.close()
  t.same(await engine.health(), { alive: false, lastClaimAt: null, oldestDueMs: null, held: null, inFlight: 0 })
})

t.test('a worker is not alive once it stops claiming, and its storage is not queried', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, start, storage } = createMachines(t)
  await addWebhook(receiver.url)
  receiver.answer(hang)
  const engine = start({ delivery: { pollMs: 1000, timeoutMs: 60_000, closeGraceMs: 5000 } })
  await engine.emit(event)
  await clock.advance(0)
  await receiver.received(1)
  storage.deliveries.stats = () => { throw new Error('the host has closed its pool') }
  const closing = engine.close()
  t.match(await engine.health(), { alive: false, oldestDueMs: null, held: null, inFlight: 1 })
  await runUntil(clock, closing)
  t.match(await engine.health(), { alive: false, oldestDueMs: null, held: null, inFlight: 0 })
})
