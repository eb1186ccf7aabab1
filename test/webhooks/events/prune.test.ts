import t from 'tap'
import { createMachines, type Engine, event } from '../../fixtures/delivery/engine.js'

const day = 86_400_000

t.test('the process does other work between two batches of prune', async (t) => {
  const { addWebhook, clock, start } = createMachines(t)
  await addWebhook('https://example.com/', { status: 'inactive' })
  const engine = start({ delivery: { worker: false, retentionDays: 1 } })
  for (let count = 0; count < 5000; count++) await engine.emit(event)
  await clock.advance(day + 1)
  let turns = 0
  let isPruning = true
  const working = (async () => {
    for (; isPruning; turns++) await new Promise(setImmediate)
  })()
  t.equal(await engine.prune(), 10_000)
  isPruning = false
  await working
  t.ok(turns >= 5, `${turns} turns`)
})

t.test('failed pruning is logged and retried an hour later', async (t) => {
  const { addWebhook, clock, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook('https://example.com/', { status: 'inactive' })
  const logged: string[] = []
  const logger = { info () {}, warn () {}, error (fields: object, message: string) { logged.push(message) } }
  const prune = storage.deliveries.prune
  storage.deliveries.prune = async () => { throw new Error('storage is down') }
  const engine = start({ logger, delivery: { retentionDays: 1, pollMs: 60_000 } })
  await engine.emit(event)
  await clock.advance(2 * day)
  t.same(new Set(logged), new Set(['pruning failed, will retry in an hour']))
  t.equal(logged.length, 48)
  storage.deliveries.prune = prune
  await clock.advance(3_600_000)
  t.same(await deliveries(id), [])
})

for (const [how, prune] of [['in the background', null], ['by code', (engine: Engine) => engine.prune()]] as const) {
  t.test(`close waits for the batch that is pruned ${how}, and starts no other`, async (t) => {
    const { clock, start, storage } = createMachines(t)
    let batches = 0
    let goOn = () => {}
    storage.deliveries.prune = () => new Promise((resolve) => {
      batches++
      goOn = () => resolve(1000)
    })
    const engine = start()
    const pruned = prune?.(engine)
    if (prune === null) await clock.advance(600_000)
    let isClosed = false
    const closing = engine.close().then(() => { isClosed = true })
    await clock.advance(9999)
    t.strictSame([isClosed, batches], [false, 1])
    goOn()
    await closing
    t.equal(await pruned, prune === null ? undefined : 1000)
    await clock.advance(0)
    t.strictSame([batches, clock.timerCount], [1, 0])
    await t.rejects(engine.prune(), { code: 'closed' })
  })
}

t.test('close waits for a batch no longer than closeGraceMs', async (t) => {
  const { clock, start, storage } = createMachines(t)
  storage.deliveries.prune = () => new Promise(() => {})
  const engine = start()
  await clock.advance(600_000)
  const closing = engine.close()
  await clock.advance(10_000)
  await closing
})
