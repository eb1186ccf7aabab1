import t from 'tap'
import Fastify from 'fastify'
import recruitingApi, { type Logger } from '../../../src/index.js'
import { memoryKeyLookup } from '../../../src/memory/index.js'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { watchRejections } from '../../fixtures/delivery/rejections.js'
import { toLoopback } from '../../fixtures/api/webhook-api.js'

function fail (): never {
  throw new Error('the disk is full')
}

const failLater = async (): Promise<never> => fail()

const loggers: Array<[title: string, logger: Logger]> = [
  ['throws', { info: fail, warn: fail, error: fail }],
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
    storage.deliveries.claimDue = async () => fail()
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

t.test('a logger of the host that throws does not stop the deliveries of the plugin', async (t) => {
  const rejections = watchRejections(t)
  const receiver = await startReceiver(t)
  const { addWebhook, clock, deliveries, storage } = createMachines(t)
  const id = await addWebhook(receiver.url)
  const app = Fastify()
  app.log.warn = fail
  await app.register(recruitingApi, { storage, keyLookup: memoryKeyLookup([]), delivery: { ...toLoopback, clock } })
  await app.ready()
  receiver.answer(410)
  await app.recruiting.emit(event)
  await app.recruiting.drain()
  t.same(await deliveries(id), [['failed', 1]])
  await app.close()
  t.strictSame(rejections, [])
})
