import t from 'tap'
import Fastify from 'fastify'
import { type RecruitingStorage, createRecruiting } from '../../../src/index.js'
import { memoryStorage } from '../../../src/memory/index.js'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { hostileErrors } from '../../fixtures/hostile/hostile-errors.js'
import { captureLogs } from '../../fixtures/api/logs.js'
import { createManualClock } from '../../fixtures/delivery/manual-clock.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { watchRejections } from '../../fixtures/delivery/rejections.js'
import { runUntil } from '../../fixtures/api/webhook-api.js'

/** pino, as a host has it. */
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
    const engine = start({ logger: log })
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

type Break = (storage: RecruitingStorage, fail: () => Promise<never>) => void

const others: Array<[message: string, breakStorage: Break]> = [
  ['the storage is not ready', (storage, fail) => { storage.verify = fail }],
  ['pruning failed, will retry in an hour', ({ deliveries }, fail) => { deliveries.prune = fail }]
]

for (const [message, breakStorage] of others) {
  t.test(`so is one that makes a worker say "${message}"`, async (t) => {
    const rejections = watchRejections(t)
    const clock = createManualClock()
    const thrown = Object.values(hostileErrors)
    const storage = memoryStorage({ clock })
    const { log, lines } = createLog()
    breakStorage(storage, async () => { throw thrown.shift() })
    while (thrown.length > 0) {
      const engine = createRecruiting({ storage, logger: log, delivery: { clock } })
      await clock.advance(3_600_000)
      await runUntil(clock, engine.close())
    }
    t.equal(lines.length, Object.keys(hostileErrors).length)
    t.match(lines, lines.map(() => ({ level: 50, msg: message, err: { message: String } })))
    t.same(rejections, [])
  })
}
