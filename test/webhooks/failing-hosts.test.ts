import { randomBytes } from 'node:crypto'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { createRecruiting, type DeliveryStore, type Logger } from '../../src/index.js'
import { createMachines, event } from '../fixtures/delivery/engine.js'
import { hang, startReceiver } from '../fixtures/receivers/receiver.js'
import { hostileErrors } from '../fixtures/hostile/hostile-errors.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { watchRejections } from '../fixtures/delivery/rejections.js'
import { runUntil, toLoopback } from '../fixtures/api/webhook-api.js'

const down = async (): Promise<never> => { throw new Error('storage is down') }

/** Makes a method fail until it is repaired. */
function breakMethod (store: DeliveryStore, name: 'claimDue' | 'recordAttempts' | 'release'): () => void {
  const original = store[name]
  store[name] = down
  return () => { Object.assign(store, { [name]: original }) }
}

t.test('a worker outlives a storage that cannot claim, and asks again after its poll time, not at once', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const logged: string[] = []
  const logger = { info () {}, warn () {}, error (fields: object, message: string) { logged.push(message) } }
  const repair = breakMethod(storage.deliveries, 'claimDue')
  const engine = start({ logger, delivery: { pollMs: 1000 } })
  await clock.advance(0)
  for (let count = 0; count < 10; count++) await engine.emit(event)
  await clock.advance(999)
  t.same(logged, ['storage failed, deliveries wait'])
  await clock.advance(1)
  await clock.advance(0)
  t.equal(logged.length, 2)
  repair()
  await clock.advance(1000)
  await engine.drain()
  t.same(await deliveries(id), Array.from({ length: 10 }, () => ['delivered', 1]))
})

for (const method of ['recordAttempts', 'release'] as const) {
  t.test(`close resolves though the storage cannot ${method}, and the lease expires`, async (t) => {
    const receiver = await startReceiver(t)
    const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
    const id = await addWebhook(receiver.url)
    const logged: string[] = []
    const logger = { info () {}, warn () {}, error (fields: object, message: string) { logged.push(message) } }
    let answer = () => {}
    receiver.answer(method === 'recordAttempts' ? (response) => { answer = () => response.writeHead(204).end() } : hang, 204)
    const engine = start({ logger })
    await engine.emit(event)
    await receiver.received(1)
    const repair = breakMethod(storage.deliveries, method)
    const closing = engine.close()
    answer()
    if (method === 'release') await clock.advance(10_000)
    await closing
    t.same(logged, ['storage failed on close, deliveries in flight will repeat when their leases expire'])
    repair()
    t.match(await storage.deliveries.stats(), { pending: 1, leased: 1 })
    await clock.advance(60_000)
    await start().drain()
    t.same(await deliveries(id), [['delivered', 1]])
  })
}

/** pino, as a host has it. */
/** With keys, no line says that secrets are stored in plain text. */
const secretKeys = [randomBytes(32)]

function createLog () {
  const logs = captureLogs()
  return { ...logs, log: Fastify({ logger: logs.logger }).log }
}

for (const [what, thrown] of Object.entries(hostileErrors)) {
  t.test(`a storage that throws ${what} at a worker is logged in one line, and the worker goes on`, async (t) => {
    const rejections = watchRejections(t)
    const receiver = await startReceiver(t)
    const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
    const id = await addWebhook(receiver.url)
    const { log, lines, waitFor } = createLog()
    const { claimDue } = storage.deliveries
    storage.deliveries.claimDue = async () => {
      storage.deliveries.claimDue = claimDue
      throw thrown
    }
    const engine = start({ logger: log, secretKeys })
    await engine.emit(event)
    t.match(await waitFor('storage failed, deliveries wait'), { level: 50, err: { message: String } })
    await clock.advance(10)
    await engine.drain()
    t.same(await deliveries(id), [['delivered', 1]])
    t.equal(lines.length, 1)
    await engine.close()
    t.same(rejections, [])
  })
}

function fail (): never {
  throw Object.freeze({ message: 'the mail server is gone' })
}

const failures: Array<[title: string, listener: () => unknown]> = [
  ['throws', fail],
  ['rejects', async () => fail()],
  ['returns a promise that throws', () => ({ then: fail })],
  ['returns what throws when it is looked at', () => ({ get then () { return fail() } })]
]

for (const [title, listener] of failures) {
  t.test(`a listener that ${title} is logged, and stops neither other listeners nor deliveries`, async (t) => {
    const rejections = watchRejections(t)
    const receiver = await startReceiver(t)
    const { addWebhook, deliveries, start } = createMachines(t)
    const [gone, other] = [await addWebhook(receiver.url), await addWebhook(receiver.url)]
    const lines: Array<[fields: object, message: string]> = []
    const told: number[] = []
    const engine = start({
      logger: { info () {}, warn () {}, error: (fields, message) => { lines.push([fields, message]) } },
      delivery: { perEndpoint: 1, concurrency: 1 }
    })
    engine.on('webhookDisabled', listener)
    engine.on('webhookDisabled', ({ webhookId }) => { told.push(webhookId) })
    const off = (): void => { told.push(-1) }
    engine.on('webhookDisabled', off)
    engine.off('webhookDisabled', off)
    receiver.answer(410, 204)
    await engine.emit(event)
    await engine.drain()
    t.same([...await deliveries(gone), ...await deliveries(other)], [['failed', 1], ['delivered', 1]])
    t.same(told, [gone], 'the other listener, but not one that was taken off')
    t.match(lines, [[{ err: { message: 'the mail server is gone' } }, 'a host listener failed']])
    await engine.close()
    t.equal(lines.length, 1)
    t.same(rejections, [])
  })
}

function failFailingLogger (): never {
  throw new Error('the disk is full')
}

const failLater = async (): Promise<never> => failFailingLogger()

const loggers: Array<[title: string, logger: Logger]> = [
  ['throws', { info: failFailingLogger, warn: failFailingLogger, error: failFailingLogger }],
  ['rejects', { info: failLater, warn: failLater, error: failLater }]
]

for (const [title, logger] of loggers) {
  t.test(`a logger that ${title} stops neither the worker nor the process`, async (t) => {
    const rejections = watchRejections(t)
    const receiver = await startReceiver(t)
    const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
    const id = await addWebhook(receiver.url)
    const engine = start({ logger, delivery: { retrySchedule: [0, 5], disableAfter: { failingForSeconds: 0, failedDeliveries: 5 } } })
    receiver.answer(500, 204, 204)
    await engine.emit(event)
    await engine.drain()
    await clock.advance(6010)
    await engine.drain()
    t.same(await deliveries(id), [['delivered', 2]])

    const { claimDue } = storage.deliveries
    storage.deliveries.claimDue = async () => failFailingLogger()
    await engine.emit(event)
    await clock.advance(0)
    storage.deliveries.claimDue = claimDue
    await clock.advance(10)
    await engine.drain()
    t.same(await deliveries(id), [['delivered', 2], ['delivered', 1]])
    await engine.close()
    t.strictSame(rejections, [])
  })
}

/** An engine without a logger, and the process warnings that come of it. */
function startWithoutLogger (t: Test) {
  const machines = createMachines(t)
  const { clock, storage } = machines
  const warnings = t.capture(process, 'emitWarning', () => {})
  return {
    ...machines,
    start () {
      const engine = createRecruiting({ storage, secretKeys, delivery: { ...toLoopback, pollMs: 1000, clock } })
      t.teardown(() => runUntil(clock, engine.close()))
      return engine
    },
    /** Those since the last call. */
    takeWarnings: () => warnings().map(({ args }) => args)
  }
}

t.test('a worker without a logger that cannot reach its storage warns once a minute', async (t) => {
  const { clock, start, storage, takeWarnings } = startWithoutLogger(t)
  let claims = 0
  storage.deliveries.claimDue = async () => {
    claims++
    throw Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' })
  }
  start()
  for (let second = 0; second < 59; second++) await clock.advance(1000)
  t.ok(claims > 5)
  t.strictSame(takeWarnings(), [['storage failed, deliveries wait: ECONNREFUSED', {
    type: 'RecruitingWarning', detail: 'Pass a logger to createRecruiting to see every line. {}'
  }]])
  for (let second = 0; second < 30; second++) await clock.advance(1000)
  t.equal(takeWarnings().length, 1)
})

t.test('a storage that is not ready warns besides, as does each of its sentences', async (t) => {
  const { start, storage, takeWarnings } = startWithoutLogger(t)
  Object.assign(storage, { verify: async () => ['an index is missing', 'the pool is small'] })
  await start().drain()
  Object.assign(storage, { verify: async () => { throw new Error('run the migrations') } })
  await start().drain()
  t.same(takeWarnings().map(([text]) => text), ['an index is missing', 'the pool is small', 'the storage is not ready: run the migrations'])
})

t.test('a delivery that fails without a logger warns with the fields of its log line', async (t) => {
  const { addWebhook, start, takeWarnings } = startWithoutLogger(t)
  const receiver = await startReceiver(t)
  const id = await addWebhook(`${receiver.url}/path-with-token`)
  receiver.answer(410)
  const engine = start()
  await engine.emit(event)
  await engine.drain()
  const warnings = takeWarnings()
  t.match(warnings, [
    ['delivery failed, giving up', { type: 'RecruitingWarning', detail: `{"webhook_id":${id},` }],
    ['webhook disabled, it returned 410', { type: 'RecruitingWarning', detail: `{"webhook_id":${id},` }]
  ])
  t.notMatch(JSON.stringify(warnings), /token/)
})
