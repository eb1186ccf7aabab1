import t from 'tap'
import { createRecruiting } from '../../../../src/index.js'
import { postgresStorage } from '../../../../src/postgres/index.js'
import { systemClock } from '../../../../src/shared/clock.js'
import { startPostgresHost } from '../../../fixtures/postgres/postgres.js'
import { startReceiver } from '../../../fixtures/receivers/receiver.js'
import { storeWebhook } from '../../../fixtures/api/webhooks.js'
import { createStoryTables, goodStory, tellStory } from '../../../fixtures/postgres/host-story.js'
import { timeUntil } from '../../../fixtures/postgres/postgres-outage.js'
import { startPostgres } from '../../../fixtures/postgres/postgres-server.js'

const hourMs = 3_600_000

t.test('an hour between the clocks of two workers changes nothing', async (t) => {
  const { pool, storage } = await startPostgresHost(t)
  const receiver = await startReceiver(t)
  receiver.answer(500, 500, 204)
  await storeWebhook(storage, 'acme', { targetUrl: receiver.url, eventTypes: ['job.created'] })
  const workers = [-hourMs, 0, hourMs].map((skewMs) => createRecruiting({
    storage: postgresStorage(pool),
    delivery: {
      allowHttp: true,
      allowNetworks: ['127.0.0.1/32'],
      pollMs: 50,
      retrySchedule: [0, 1, 1],
      clock: { ...systemClock, now: () => Date.now() + skewMs }
    }
  }))
  t.teardown(() => Promise.all(workers.map((worker) => worker.close())))
  await workers[0]?.emit({ tenantSlug: 'acme', type: 'job.created', data: {} })

  const tookMs = await timeUntil(() => receiver.requests.length === 3)
  t.ok(tookMs >= 2000, `the retries came after ${tookMs} ms`)
  await workers[0]?.drain()
  t.equal(receiver.requests.length, 3)
  const { rows: [delivery] } = await pool.query('select status, jsonb_array_length(earlier) + 1 as attempts, created_at from recruiting.deliveries')
  t.match(delivery, { status: 'delivered', attempts: 3 })
  t.ok(Math.abs(delivery.created_at.getTime() - Date.now()) < hourMs / 2)
})

for (const [aheadMs, words] of [[hourMs, 'ahead of'], [-hourMs, 'behind']] as const) {
  t.test(`everything works for a process whose clock is an hour ${words} that of the server`, async (t) => {
    const pool = (await startPostgres(t)).createPool()
    await createStoryTables(pool)
    t.strictSame(await tellStory(t, pool, { aheadMs }), goodStory)
  })
}
