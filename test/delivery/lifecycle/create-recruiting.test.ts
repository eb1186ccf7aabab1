import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { memoryStorage } from '../../../src/memory/index.js'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { toLoopback } from '../../fixtures/api/webhook-api.js'
import { storeWebhook } from '../../fixtures/api/webhooks.js'

t.test('createRecruiting needs only webhooks and deliveries, delivers at once, and has the members of app.recruiting', async (t) => {
  const receiver = await startReceiver(t)
  const storage = memoryStorage()
  const { webhooks, deliveries } = storage
  const engine = createRecruiting({ storage: { webhooks, deliveries } })
  t.teardown(() => engine.close())
  t.same(Object.keys(engine).sort(), ['adopt', 'as', 'changed', 'close', 'drain', 'emit', 'erase', 'findSubject', 'health', 'off', 'on', 'portal', 'prune', 'removeTenant', 'renameTenant', 'resealSecrets', 'stats', 'webhooks'])
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

t.test('the logger of createRecruiting hears of failures, and gets no secret, no body and no path', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, start } = createMachines(t)
  const id = await addWebhook(`${receiver.url}/path-with-token?token=query-with-token`, { secret: 'whsec_c2VjcmV0' })
  const lines: Array<[level: string, fields: object, message: string]> = []
  const write = (level: string) => (fields: object, message: string) => { lines.push([level, fields, message]) }
  const logger = { info: write('info'), warn: write('warn'), error: write('error') }
  const engine = start({ logger, delivery: { retrySchedule: [0, 5] } })
  receiver.answer({ status: 500, body: 'what the receiver says' })
  const { id: eventId } = await engine.emit({ ...event, data: { full_name: 'Ada Lovelace' } })
  await engine.drain()
  await clock.advance(6010)
  await engine.drain()
  const retryInMs = Object.entries(lines[0]?.[1] ?? {}).find(([name]) => name === 'retry_in_ms')?.[1]
  const shared = {
    webhook_id: id, delivery_id: 1, event_id: eventId, host: `127.0.0.1:${receiver.port}`, error: 'http_status', response_status: 500
  }
  t.strictSame(lines, [
    ['warn', { ...shared, attempt: 1, retry_in_ms: retryInMs }, 'delivery failed, will retry'],
    ['warn', { ...shared, attempt: 2 }, 'delivery failed, giving up']
  ])
  t.notMatch(JSON.stringify(lines), /whsec|Ada|token|says/)
})

t.test('an address in the storage that is none is blocked, and its log line has no host', async (t) => {
  const { addWebhook, deliveries, start } = createMachines(t)
  const id = await addWebhook('nonsense')
  const hosts: unknown[] = []
  const logger = { info () {}, warn (fields: object) { hosts.push(Object.entries(fields).find(([name]) => name === 'host')) }, error () {} }
  const engine = start({ logger })
  await engine.emit(event)
  await engine.drain()
  t.same(await deliveries(id), [['failed', 1]])
  t.strictSame(hosts, [['host', '']])
})

t.test('options for development open the loopback', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, deliveries, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const engine = createRecruiting({ storage, delivery: toLoopback })
  await engine.emit(event)
  await engine.drain()
  await engine.close()
  t.same(await deliveries(id), [['delivered', 1]])
})
