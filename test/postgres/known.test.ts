import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgresHost } from '../fixtures/postgres.js'
import { createEvent, createWebhook, delivered, lenient, retry } from '../../src/testing/support/samples.js'

t.test('a claim goes on in long queues where the last one stopped', async (t) => {
  const { pool, storage: { webhooks, deliveries }, clear } = await startPostgresHost(t)
  t.beforeEach(async () => {
    await clear()
    // Whatever earlier claims know is forgotten after a second.
    await sleep(1000)
  })

  async function addWebhook (eventType = 'candidate.created'): Promise<number> {
    const id = await webhooks.nextId('acme')
    await webhooks.create('acme', { ...createWebhook(id), event_types: [eventType] }, 10)
    return id
  }

  /** Records an event that fell due so long ago. */
  async function record (id: string, secondsAgo: number, type = 'candidate.created'): Promise<void> {
    await deliveries.record('acme', { ...createEvent(id), type })
    await pool.query(`
      update recruiting.deliveries set next_attempt_at = next_attempt_at - $1 * interval '1 second'
      where event_seq = (select seq from recruiting.events where id = $2)`, [secondsAgo, id])
  }

  async function deliver (limit: number): Promise<string[]> {
    const claimed = await deliveries.claimDue({ limit, perEndpoint: 10, leaseMs: 60_000 })
    await deliveries.complete(claimed.map(delivered), lenient)
    return claimed.map(({ eventId }) => eventId)
  }

  t.test('but looks through everything once a second: something may have been committed late', async (t) => {
    await addWebhook()
    await record('evt_1', 3600)
    await record('evt_2', 3500)
    await record('evt_3', 3400)
    t.same(await deliver(1), ['evt_1'])
    t.same(await deliver(1), ['evt_2'])
    await record('evt_late', 3550)
    t.same(await deliver(10), ['evt_3'], 'the queue is not read from its start')
    await sleep(1000)
    t.same(await deliver(10), ['evt_late'])
  })

  t.test('and finds at once what has just been recorded, even if it was committed a second late', async (t) => {
    await addWebhook()
    await record('evt_1', 0)
    t.same(await deliver(1), ['evt_1'])
    await record('evt_2', 1)
    t.same(await deliver(1), ['evt_2'])
  })

  t.test('and finds endpoints before, between and after those it knows', async (t) => {
    const types = ['one', 'two', 'three', 'four', 'five']
    for (const type of types) await addWebhook(type)
    await record('evt_two', 60, 'two')
    await record('evt_four', 60, 'four')
    t.same(await deliver(10), ['evt_two', 'evt_four'])
    for (const type of types) await record(`evt_${type}_again`, 30, type)
    t.same((await deliver(10)).sort(), types.map((type) => `evt_${type}_again`).sort())
  })

  t.test('and claims nothing twice, whichever endpoint had the last turn', async (t) => {
    const types = ['one', 'two', 'three']
    for (const type of types) await addWebhook(type)
    await record('evt_two_first', 60, 'two')
    t.same(await deliver(1), ['evt_two_first'])
    for (const type of types) await record(`evt_${type}`, 50, type)
    t.same(await deliver(10), ['evt_three', 'evt_one', 'evt_two'], 'the one after it is next')
    for (const type of types) await record(`evt_${type}_again`, 30, type)
    t.same(await deliver(10), ['evt_three_again', 'evt_one_again', 'evt_two_again'])
  })

  t.test('and finds what waits for another attempt', async (t) => {
    await addWebhook()
    await record('evt_1', 60)
    await record('evt_2', 50)
    const [first] = await deliveries.claimDue({ limit: 1, perEndpoint: 10, leaseMs: 60_000 })
    if (first === undefined) throw new Error('nothing was claimed')
    t.same(await deliver(1), ['evt_2'])
    await deliveries.complete([retry(first, { retryInMs: 1 })], lenient)
    await sleep(5)
    t.same(await deliver(10), ['evt_1'])
  })
})
