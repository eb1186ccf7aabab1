import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { kill, startProcess } from '../fixtures/crash/crash.js'
import { startPostgresServerHost } from '../fixtures/postgres/postgres.js'
import { type Answer, startReceiver } from '../fixtures/receivers/receiver.js'
import { storeWebhook } from '../fixtures/api/webhooks.js'

const endpoints = 10
const events = 500
const kills = 40
const restarts = 3
const concurrency = 16

t.test('two workers, 5,000 deliveries, endpoints that fail at random, 40 kills and 3 crashes of the server', async (t) => {
  const { server, pool, storage } = await startPostgresServerHost(t, { settings: ['fsync=on'] })
  const accepted = new Map<string, number>()
  const receivers = await Promise.all(Array.from({ length: endpoints }, () => startReceiver(t)))
  for (const [index, receiver] of receivers.entries()) {
    receiver.answer(answerAtRandom(accepted))
    await storeWebhook(storage, 'acme', { name: `Endpoint ${index}`, targetUrl: receiver.url, eventTypes: ['job.created'] })
  }
  const emitter = createRecruiting({ storage, delivery: false })
  t.teardown(() => emitter.close())
  for (let count = 0; count < events; count++) await emitter.emit({ tenantSlug: 'acme', type: 'job.created', data: { count } })

  const workers = [0, 1].map(() => startProcess(t, 'crash-worker', server.url))
  for (let count = 1; count <= kills; count++) {
    await sleep(500 + Math.random() * 1000)
    const [worker] = workers.splice(0, 1)
    if (worker !== undefined) await kill(worker)
    if (count % Math.ceil(kills / restarts) === 0 || count === kills) {
      await server.stop('immediate')
      await server.start()
    }
    workers.push(startProcess(t, 'crash-worker', server.url))
  }

  const left = async (): Promise<number> => Number((await pool.query('select count(*) from recruiting.queue')).rows[0].count)
  const startedAt = performance.now()
  while (await left() > 0 && performance.now() - startedAt < 180_000) await sleep(500)

  const { rows } = await pool.query(`
    select d.webhook_id || ' ' || e.id as key, d.status, d.response_status::text as last_status
    from recruiting.deliveries d join recruiting.events e on e.seq = d.event_seq`)
  t.equal(rows.length, endpoints * events)
  t.strictSame(rows.filter(({ status }) => status !== 'delivered'), [], 'none is lost')
  const delivered = [...accepted.values()].reduce((sum, times) => sum + times, 0)
  t.equal(accepted.size, endpoints * events, 'none is marked delivered that no receiver accepted')
  t.ok(rows.every(({ last_status: last }) => last === '204'))
  const repeats = delivered - accepted.size
  t.comment(`${repeats} of ${accepted.size} deliveries were repeated`)
  t.ok(repeats <= (kills + 2 * restarts) * concurrency, 'only what was under way when something died is repeated')
})

/** A third of the requests fail, one way or another. What is accepted is counted by endpoint and event. */
function answerAtRandom (accepted: Map<string, number>): Answer {
  return (response, { headers }) => {
    const luck = Math.random()
    if (luck < 0.1) return response.destroy()
    if (luck < 0.3) return response.writeHead(500).end()
    if (luck < 0.33) return
    const key = `${headers.host} ${headers['webhook-id']}`
    accepted.set(key, (accepted.get(key) ?? 0) + 1)
    response.writeHead(204).end()
  }
}
