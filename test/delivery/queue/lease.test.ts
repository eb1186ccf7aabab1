import t from 'tap'
import { createMachines, event } from '../../fixtures/delivery/engine.js'
import { hang, startReceiver } from '../../fixtures/receivers/receiver.js'

t.test('a claimed delivery belongs to its worker for leaseMs, and then to any worker', async (t) => {
  const receiver = await startReceiver(t)
  const { addWebhook, clock, start, storage } = createMachines(t)
  await addWebhook(receiver.url)
  receiver.answer(hang)
  const engine = start({ delivery: { timeoutMs: 5000, leaseMs: 10_000, pollMs: 60_000, closeGraceMs: 0 } })
  const { id } = await engine.emit(event)
  await receiver.received(1)
  const claimByAnother = () => storage.deliveries.claimDue({ limit: 1, perEndpoint: 4, leaseMs: 1000 })
  await clock.advance(9999)
  t.same(await claimByAnother(), [])
  await clock.advance(1)
  t.match(await claimByAnother(), [{ eventId: id, fence: 2 }])
})
