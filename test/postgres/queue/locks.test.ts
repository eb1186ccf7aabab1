import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { postgresStorage } from '../../../src/postgres/index.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { type Answer, startReceiver } from '../../fixtures/receivers/receiver.js'
import { startStopwatch } from '../../fixtures/stopwatch.js'
import { storeWebhook } from '../../fixtures/api/webhooks.js'

const delivery = { allowHttp: true, allowNetworks: ['127.0.0.1/32'], pollMs: 50 }
const type = 'application.created'
/** Less than the time limit of a query, which ends a wait for a lock. */
const lockedMs = 3000

/** What a host may hold locked in a transaction that runs long; `$1` is the webhook. */
const locks: Record<string, (client: pg.PoolClient, webhookId: number) => Promise<unknown>> = {
  'a replay': (client, id) => client.query("insert into recruiting.queue (event_seq, webhook_id, lane, due_at, created_at) select seq, $1, 3, now(), now() from recruiting.events where type = 'job.created' for key share", [id]),
  'an erase': (client) => client.query("select recruiting.erase_subject_v1('locked', 'candidate:1')"),
  'a PATCH': (client, id) => client.query("update recruiting.webhooks set name = 'x', revision = revision + 1 where id = $1", [id]),
  'a rotate_secret': (client, id) => client.query("update recruiting.webhooks set secret = 'x' where id = $1", [id]),
  'a DELETE': (client, id) => client.query('delete from recruiting.webhooks where id = $1', [id])
}

t.test('while a transaction holds a lock', async (t) => {
  const { pool, storage, clear } = await startPostgresHost(t)

  for (const [name, lock] of Object.entries(locks)) {
    for (const status of [204, 410, 503]) {
      t.test(`of ${name}, others are delivered by two workers, and what was answered ${status} is completed once when it ends`, async (t) => {
        await clear()
        const receiver = await startReceiver(t)
        const engines = [1, 2].map(() => createRecruiting({ storage: postgresStorage(pool), delivery }))
        t.teardown(() => Promise.all(engines.map((engine) => engine.close())))
        const [engine] = engines
        let answerLocked = (_status: number): void => {}
        const forLocked: Answer = (response) => { answerLocked = (code) => response.writeHead(code).end() }
        receiver.answer((response, request) => request.path === '/locked' ? forLocked(response, request) : response.writeHead(204).end())
        const locked = await storeWebhook(storage, 'locked', { targetUrl: `${receiver.url.replace('/hook', '/locked')}`, eventTypes: [type] })
        await storeWebhook(storage, 'others', { targetUrl: receiver.url, eventTypes: [type] })
        const emit = (tenantSlug: string) => engine?.emit({ tenantSlug, type, data: {}, subject: 'candidate:1' })

        /** The longest time from emit to arrival, of ten events. */
        async function timeOthers (): Promise<number> {
          const times: number[] = []
          while (times.length < 10) {
            const stop = startStopwatch()
            const arrived = receiver.received(receiver.requests.length + 1)
            await emit('others')
            await arrived
            times.push(stop())
          }
          return Math.max(...times)
        }

        const idle = await timeOthers()
        await emit('locked')
        await receiver.received(11)
        const client = await pool.connect()
        await client.query('begin')
        await lock(client, locked.id)
        answerLocked(status)
        const slowest = await timeOthers()
        t.ok(slowest <= 2 * idle + lockedMs, `the slowest took ${slowest} ms, without a lock ${idle} ms`)
        const isCompleted = async (): Promise<boolean> =>
          (await pool.query("select from recruiting.deliveries where webhook_id <> $1 and status = 'delivered'", [locked.id])).rows.length === 20
        while (!await isCompleted()) await sleep(10)
        await client.query('rollback')
        client.release()

        const log = async () => (await storage.deliveries.list('locked', locked.id, { filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 5 }))
          .map((each) => [each.status, each.attempt_count])
        const expected = { 204: 'delivered', 410: 'failed', 503: 'pending' }[status]
        while ((await log()).some(([, attempts]) => attempts === 0)) await sleep(10)
        t.same(await log(), [[expected, 1]])
        t.equal(receiver.requests.filter(({ path }) => path === '/locked').length, 1, 'it was attempted once')
      })
    }
  }
})

t.test('a verdict on a locked webhook is carried out when the lock ends, and nothing is claimed meanwhile', async (t) => {
  const { pool, storage: { webhooks, deliveries } } = await startPostgresHost(t)
  const { id, target_url: targetUrl } = await storeWebhook({ webhooks }, 'acme')
  for (const event of ['evt_1', 'evt_2']) {
    await deliveries.record('acme', { id: event, type, body: '{}', subject: null, tombstone: null, idempotencyKey: null, fingerprint: '' })
  }
  const claim = () => deliveries.claimDue({ limit: 1, perEndpoint: 5, leaseMs: 60_000 })
  const [lease] = await claim()
  const client = await pool.connect()
  await client.query('begin; select from recruiting.webhooks for update')
  await deliveries.recordAttempts([{
    webhookId: id, deliveryId: Number(lease?.deliveryId), fence: Number(lease?.fence), targetUrl, outcome: 'failed', isGone: true, durationMs: 1, responseStatus: 410, error: 'http_status', responseExcerpt: null
  }], { failingForSeconds: 1e9, failedDeliveries: 1e9, warnAfterSeconds: 1e9 })
  t.same(await claim(), [])
  t.same(await deliveries.claimNotices({ limit: 5, leaseMs: 0 }), [])
  await client.query('commit')
  client.release()
  t.match(await deliveries.claimNotices({ limit: 5, leaseMs: 0 }), [{ notice: { kind: 'gone', webhookId: id } }])
  t.match(await webhooks.find('acme', id), { status: 'disabled' })
})
