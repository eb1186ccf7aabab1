import t from 'tap'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { watchRejections } from '../../fixtures/delivery/rejections.js'

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
  t.test(`a listener that ${title} is logged, and keeps nobody from anything`, async (t) => {
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
    receiver.answer(410, 204)
    await engine.emit(event)
    await engine.drain()
    t.same([...await deliveries(gone), ...await deliveries(other)], [['failed', 1], ['delivered', 1]])
    t.same(told, [gone], 'the other listener')
    t.match(lines, [[{ err: { message: 'the mail server is gone' } }, 'a host listener failed']])
    await engine.close()
    t.equal(lines.length, 1)
    t.same(rejections, [])
  })
}
