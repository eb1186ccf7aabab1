import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { memoryStorage } from '../../../src/memory/index.js'
import { hang, startReceiver } from '../../fixtures/receivers/receiver.js'
import { toLoopback } from '../../fixtures/api/webhook-api.js'
import { storeWebhook } from '../../fixtures/api/webhooks.js'

const backlog = 20_000
const rounds = 25
// What a machine under load adds to a median now and then, which says nothing about fairness.
const noiseMs = 25

function median (values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

t.test('20,000 deliveries due to an endpoint that never answers do not delay the event of another tenant', async (t) => {
  const stuck = await startReceiver(t)
  stuck.answer(hang)
  const healthy = await startReceiver(t)

  /** How long an event of the quiet tenant takes, from the call of emit until it has arrived. */
  async function createSide (flood: number) {
    const storage = memoryStorage()
    await storeWebhook(storage, 'flooding', { targetUrl: stuck.url, eventTypes: ['job.created'] })
    await storeWebhook(storage, 'quiet', { targetUrl: healthy.url, eventTypes: ['job.created'] })
    const recruiting = createRecruiting({ storage, delivery: { ...toLoopback, closeGraceMs: 0 } })
    t.teardown(() => recruiting.close())
    for (let count = 0; count < flood; count++) await recruiting.emit({ tenantSlug: 'flooding', type: 'job.created', data: {} })
    return {
      recruiting,
      async measure (): Promise<number> {
        const startedAt = performance.now()
        const arrived = healthy.received(healthy.requests.length + 1)
        await recruiting.emit({ tenantSlug: 'quiet', type: 'job.created', data: {} })
        await arrived
        return performance.now() - startedAt
      }
    }
  }

  const idle = await createSide(0)
  const flooded = await createSide(backlog)
  await stuck.received(4)
  const idleMs: number[] = []
  const floodedMs: number[] = []
  // In turns, so that other load on the machine affects both. The first rounds open the connections.
  for (let round = -3; round < rounds; round++) {
    const [usual, beside] = [await idle.measure(), await flooded.measure()]
    if (round < 0) continue
    idleMs.push(usual)
    floodedMs.push(beside)
  }

  t.ok((await flooded.recruiting.stats()).due >= backlog, 'the backlog was there all the while')
  t.equal(stuck.requests.length, 4, 'and no more than perEndpoint attempts of it')
  const [usual, beside] = [median(idleMs), median(floodedMs)]
  t.comment(`${beside.toFixed(1)} ms beside the backlog, ${usual.toFixed(1)} ms without`)
  t.ok(beside <= 2 * usual + noiseMs, `${beside} ms beside the backlog, ${usual} ms without`)
})
