import t from 'tap'
import { createMachines, event } from '../../fixtures/delivery/engine.js'

const keyed = { ...event, idempotencyKey: 'hire-17' }
const conflict = {
  code: 'idempotency_conflict', field: 'idempotencyKey', message: 'idempotencyKey: was used before for a different event'
}

t.test('an event emitted again under its idempotency key is recorded once', async (t) => {
  const { addWebhook, deliveries, start } = createMachines(t)
  const id = await addWebhook('https://example.com/')
  const engine = start({ delivery: { worker: false } })
  const first = await engine.emit(keyed)
  await addWebhook('https://example.com/later')
  t.strictSame(await engine.emit(keyed), first, 'the answer is that of the first time')
  t.same(await deliveries(id), [['pending', 0]])
})

t.test('an event whose recording was not answered may have been recorded, and is recorded once if it is emitted again under its key', async (t) => {
  const { addWebhook, deliveries, start, storage } = createMachines(t)
  const id = await addWebhook('https://example.com/')
  const { record } = storage.deliveries
  storage.deliveries.record = async (...given) => {
    await record(...given)
    throw new Error('Connection terminated unexpectedly')
  }
  const engine = start({ delivery: { worker: false } })
  await t.rejects(engine.emit(keyed), { message: 'Connection terminated unexpectedly' })
  t.same(await deliveries(id), [['pending', 0]])
  storage.deliveries.record = record
  t.equal((await engine.emit(keyed)).deliveries, 1)
  t.same(await deliveries(id), [['pending', 0]])
})

t.test('of several at once with the same key, one is recorded and all get its id', async (t) => {
  const { addWebhook, deliveries, start } = createMachines(t)
  const id = await addWebhook('https://example.com/')
  const engines = [start({ delivery: { worker: false } }), start({ delivery: { worker: false } })]
  const results = await Promise.all([...engines, ...engines, ...engines].map((engine) => engine.emit(keyed)))
  t.equal(new Set(results.map((result) => result.id)).size, 1)
  t.same(await deliveries(id), [['pending', 0]])
})

const others: Array<[title: string, change: object]> = [
  ['data', { data: { id: 2 } }],
  ['type', { type: 'application.updated' }],
  ['subject', { subject: 'candidate:42' }],
  ['further subjects', { subjects: ['candidate:42', 'job:7'] }],
  ['time', { occurredAt: '2026-01-01T00:00:00Z' }]
]

for (const [title, change] of others) {
  t.test(`a key that was used for an event of another ${title} is a conflict, and nothing is recorded`, async (t) => {
    const { addWebhook, deliveries, start } = createMachines(t)
    const id = await addWebhook('https://example.com/')
    const engine = start({ delivery: { worker: false } })
    await engine.emit(keyed)
    await t.rejects(engine.emit({ ...keyed, ...change }), conflict)
    t.same(await deliveries(id), [['pending', 0]])
  })
}

t.test('the same instant in another form is the same event', async (t) => {
  const { start } = createMachines(t)
  const engine = start({ delivery: { worker: false } })
  const first = await engine.emit({ ...keyed, occurredAt: '2026-01-01T01:00:00+01:00' })
  t.equal((await engine.emit({ ...keyed, occurredAt: new Date('2026-01-01T00:00:00Z') })).id, first.id)
})

t.test('without a time of its own a repeated event may come later', async (t) => {
  const { clock, start } = createMachines(t)
  const engine = start({ delivery: { worker: false } })
  const first = await engine.emit(keyed)
  await clock.advance(60_000)
  t.equal((await engine.emit(keyed)).id, first.id)
})

t.test('a key of one tenant means nothing to another', async (t) => {
  const { start } = createMachines(t)
  const engine = start({ delivery: { worker: false } })
  const first = await engine.emit(keyed)
  t.not((await engine.emit({ ...keyed, tenantSlug: 'globex', data: { id: 2 } })).id, first.id)
})

t.test('events without a key are all recorded', async (t) => {
  const { addWebhook, deliveries, start } = createMachines(t)
  const id = await addWebhook('https://example.com/')
  const engine = start({ delivery: { worker: false } })
  await engine.emit(event)
  await engine.emit(event)
  t.equal((await deliveries(id)).length, 2)
})
