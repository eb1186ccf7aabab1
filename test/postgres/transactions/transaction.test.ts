import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { storeWebhook } from '../../fixtures/api/webhooks.js'

const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const

t.test('events in the host\'s own transaction', async (t) => {
  const { pool, storage, schema, clear, lockWaited } = await startPostgresHost(t)
  const recruiting = createRecruiting({ storage, delivery: false })
  t.teardown(() => recruiting.close())
  await pool.query('create table applications (id int)')

  t.beforeEach(async () => {
    await clear()
    for (const name of ['CRM', 'Slack']) await storeWebhook(storage, 'acme', { name, eventTypes: [event.type] })
  })

  const claim = () => storage.deliveries.claimDue({ limit: 10, perEndpoint: 10, leaseMs: 60_000 })
  const count = async (table: string): Promise<number> => (await pool.query(`select from ${schema}.${table}`)).rows.length

  async function withClient (work: (client: pg.PoolClient) => Promise<unknown>): Promise<void> {
    const client = await pool.connect()
    try {
      await work(client)
    } finally {
      client.release()
    }
  }

  t.test('a commit sends, and nothing is sent before', async (t) => {
    await withClient(async (client) => {
      await client.query('begin')
      await client.query('insert into applications values (1)')
      t.match(await recruiting.emit(event, { transaction: client }), { deliveries: 2 })
      t.strictSame(await claim(), [])
      await client.query('commit')
    })
    t.equal((await claim()).length, 2)
  })

  t.test('a rollback sends nothing and leaves nothing', async (t) => {
    await withClient(async (client) => {
      await client.query('begin')
      await recruiting.emit({ ...event, idempotencyKey: 'k' }, { transaction: client })
      await client.query('rollback')
    })
    t.strictSame(await claim(), [])
    t.equal(await count('events'), 0)
    t.match(await recruiting.emit({ ...event, idempotencyKey: 'k' }), { deliveries: 2 })
  })

  t.test('an emit that waited for the key of another says how many deliveries it made, whatever came meanwhile', async (t) => {
    await withClient(async (client) => {
      await client.query('begin')
      await recruiting.emit({ ...event, idempotencyKey: 'k' }, { transaction: client })
      const waiting = recruiting.emit({ ...event, idempotencyKey: 'k' })
      await lockWaited('record_event')
      await storeWebhook(storage, 'acme', { name: 'Teams', eventTypes: [event.type] })
      await client.query('rollback')
      const { deliveries } = await waiting
      t.equal(await count('queue'), deliveries)
      t.equal((await claim()).length, deliveries)
    })
  })

  t.test('a savepoint that is rolled back takes its event with it', async (t) => {
    await withClient(async (client) => {
      await client.query('begin; savepoint before')
      await recruiting.emit(event, { transaction: client })
      await client.query('rollback to before')
      await recruiting.emit(event, { transaction: client })
      await client.query('commit')
    })
    t.equal(await count('events'), 1)
  })

  t.test('a client of the host\'s is given a text and values, and no callback: a wrapper may mean something else by it', async (t) => {
    await withClient(async (client) => {
      const third: unknown[] = []
      const wrapper = {
        query (text: string, values: unknown[], options?: unknown) {
          third.push(options)
          return client.query(text, values)
        }
      }
      await client.query('begin')
      t.match(await recruiting.emit({ ...event, subject: 'candidate:1' }, { transaction: wrapper }), { deliveries: 2 })
      t.equal(await recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' }, { transaction: wrapper }), 1)
      await client.query('commit')
      t.same(third, [undefined, undefined, undefined])
    })
  })

  t.test('two transactions that emit to the same endpoints do not wait for one another', async (t) => {
    await withClient((first) => withClient(async (second) => {
      for (const client of [first, second]) await client.query("begin; set local lock_timeout = '2s'")
      await recruiting.emit(event, { transaction: first })
      await recruiting.emit(event, { transaction: second })
      // Nor does an open one hold up a worker, or a change of the webhook.
      t.strictSame(await claim(), [])
      const { rows: [{ id }] } = await pool.query(`select id::int from ${schema}.webhooks limit 1`)
      await storage.webhooks.update('acme', id, { name: 'Changed' })
      await second.query('commit')
      t.equal((await claim()).length, 2)
      await first.query('commit')
    }))
    t.equal((await claim()).length, 2)
  })

  t.test('a host with another search path can emit', async (t) => {
    await withClient(async (client) => {
      await client.query('begin; create temp table events (x int); create temp table webhooks (x int); set local search_path to pg_catalog')
      t.match(await recruiting.emit(event, { transaction: client }), { deliveries: 2 })
      t.equal((await client.query('show search_path')).rows[0].search_path, 'pg_catalog')
      await client.query('rollback')
    })
  })

  t.test('of many emits at once with one idempotency key, one records', async (t) => {
    const results = await Promise.all(Array.from({ length: 20 }, () => recruiting.emit({ ...event, idempotencyKey: 'once' })))
    t.equal(new Set(results.map(({ id }) => id)).size, 1)
    t.ok(results.every(({ deliveries }) => deliveries === 2))
    t.equal(await count('queue'), 2)
    await t.rejects(recruiting.emit({ ...event, data: { id: 2 }, idempotencyKey: 'once' }), { code: 'idempotency_conflict' })
  })

  t.test('an emit waits for the transaction that used its idempotency key, and takes over if that rolls back', async (t) => {
    await withClient(async (client) => {
      await client.query('begin')
      await recruiting.emit({ ...event, idempotencyKey: 'shared' }, { transaction: client })
      const waiting = recruiting.emit({ ...event, idempotencyKey: 'shared' })
      t.equal(await Promise.race([waiting, sleep(100, 'waits')]), 'waits')
      await client.query('rollback')
      t.match(await waiting, { deliveries: 2 })
    })
    t.equal(await count('events'), 1)
  })

  t.test('a transaction that cannot see the event of its idempotency key fails, rather than losing it', async (t) => {
    await withClient(async (client) => {
      await client.query('begin isolation level repeatable read')
      await client.query('select from applications')
      await recruiting.emit({ ...event, idempotencyKey: 'seen' })
      await t.rejects(recruiting.emit({ ...event, idempotencyKey: 'seen' }, { transaction: client }))
      await client.query('rollback')
    })
  })

  t.test('erasing follows the transaction too', async (t) => {
    const subject = { tenantSlug: 'acme', subject: 'candidate:42' }
    await recruiting.emit({ ...event, ...subject, data: { name: 'Ada' } })
    await withClient(async (client) => {
      await client.query('begin')
      t.equal(await recruiting.erase(subject, { transaction: client }), 1)
      await client.query('rollback')
      const [claimed] = await claim()
      t.match(claimed?.body, /Ada/)
      await storage.deliveries.release(claimed === undefined ? [] : [claimed])
      await client.query('begin')
      t.equal(await recruiting.erase(subject, { transaction: client }), 1)
      await client.query('commit')
    })
    t.strictSame(await claim(), [])
    const { rows } = await pool.query(`select body from ${schema}.events where body like '%Ada%'`)
    t.strictSame(rows, [])
  })

  t.test('values other than transactions are refused', async (t) => {
    for (const transaction of [null, 'begin', {}, { query: 'select' }]) {
      await t.rejects(recruiting.emit(event, { transaction }), { code: 'invalid_event', field: 'transaction' })
      await t.rejects(recruiting.erase({ tenantSlug: 'acme', subject: 'x' }, { transaction }), { code: 'invalid_event', field: 'transaction' })
    }
    t.equal(await count('events'), 0)
  })
})
