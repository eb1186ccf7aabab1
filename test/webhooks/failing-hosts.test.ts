import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createRecruiting, type Logger } from '../../src/index.js'
import { createMachines, event } from '../fixtures/delivery/engine.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'
import { watchRejections } from '../fixtures/delivery/rejections.js'
import { runUntil, toLoopback } from '../fixtures/api/webhook-api.js'

t.test('a worker survives a failing claim, and claims again after pollMs, not immediately', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const logged: string[] = []
  const logger = { info () {}, warn () {}, error (fields: object, message: string) { logged.push(message) } }
  const { claimDue } = storage.deliveries
  storage.deliveries.claimDue = async () => { throw new Error('storage is down') }
  const engine = start({ logger, delivery: { pollMs: 1000 } })
  await clock.advance(0)
  for (let count = 0; count < 10; count++) await engine.emit(event)
  await clock.advance(999)
  t.same(logged, ['storage failed, deliveries wait'])
  await clock.advance(1)
  await clock.advance(0)
  t.equal(logged.length, 2)
  storage.deliveries.claimDue = claimDue
  await clock.advance(1000)
  await engine.drain()
  t.same(await deliveries(id), Array.from({ length: 10 }, () => ['delivered', 1]))
})

function fail (): never {
  throw Object.freeze({ message: 'the mail server is gone' })
}

const failures: Array<[title: string, listener: () => unknown]> = [
  ['throws', fail],
  ['rejects', async () => fail()],
  ['returns a promise that throws', () => ({ then: fail })],
  ['returns an object whose getter throws', () => ({ get then () { return fail() } })]
]

for (const [title, listener] of failures) {
  t.test(`a listener that ${title} is logged, and stops neither other listeners nor deliveries`, async (t) => {
    const rejections = watchRejections(t)
    const receiver = await startReceiver(t)
    const { addWebhook, deliveries, start } = createMachines(t)
    const [gone, other] = [await addWebhook(receiver.url), await addWebhook(receiver.url)]
    const lines: Array<[fields: object, message: string]> = []
    const called: number[] = []
    const engine = start({
      logger: { info () {}, warn () {}, error: (fields, message) => { lines.push([fields, message]) } },
      delivery: { perEndpoint: 1, concurrency: 1 }
    })
    engine.on('webhookDisabled', listener)
    engine.on('webhookDisabled', ({ webhookId }) => { called.push(webhookId) })
    const off = (): void => { called.push(-1) }
    engine.on('webhookDisabled', off)
    engine.off('webhookDisabled', off)
    receiver.answer(410, 204)
    await engine.emit(event)
    await engine.drain()
    t.same([...await deliveries(gone), ...await deliveries(other)], [['failed', 1], ['delivered', 1]])
    t.same(called, [gone], 'only the remaining listener is called')
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
    const disableAfter = { failingForSeconds: 0, failedDeliveries: 5 }
    const engine = start({ logger, delivery: { retrySchedule: [0, 5], disableAfter } })
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

t.test('a worker without a logger that cannot reach its storage warns once a minute', async (t) => {
  const { clock, storage } = createMachines(t)
  const takeWarnings = t.capture(process, 'emitWarning', () => {})
  let claims = 0
  storage.deliveries.claimDue = async () => {
    claims++
    throw Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' })
  }
  const delivery = { ...toLoopback, pollMs: 1000, clock }
  const engine = createRecruiting({ storage, secretKeys: [randomBytes(32)], delivery })
  t.teardown(() => runUntil(clock, engine.close()))
  for (let second = 0; second < 59; second++) await clock.advance(1000)
  t.ok(claims > 5)
  t.strictSame(takeWarnings().map(({ args }) => args), [['storage failed, deliveries wait: ECONNREFUSED', {
    type: 'RecruitingWarning', detail: 'Pass a logger to createRecruiting to see every line. {}'
  }]])
  for (let second = 0; second < 30; second++) await clock.advance(1000)
  t.equal(takeWarnings().length, 1)
})
