import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { postgresStorage } from '../../../src/postgres/index.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { storeWebhook } from '../../fixtures/api/webhooks.js'

// A worker that polls as seldom as it may: what arrives sooner was told of.
const slowPoll = { allowHttp: true, allowNetworks: ['127.0.0.1/32'], pollMs: 60_000 }
const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const

t.test('word of due deliveries', async (t) => {
  const { server, pool, storage } = await startPostgresHost(t)
  const receiver = await startReceiver(t)
  await storeWebhook(storage, 'acme', { targetUrl: receiver.url, eventTypes: [event.type] })
  const emitter = createRecruiting({ storage, delivery: false })
  t.teardown(() => emitter.close())

  async function until (isTrue: () => boolean | Promise<boolean>): Promise<void> {
    while (!await isTrue()) await sleep(10)
  }

  async function untilListeners (count: number): Promise<void> {
    await until(async () => {
      const { rows } = await pool.query("select from pg_stat_activity where query like 'listen %'")
      return rows.length === count
    })
  }

  async function arrives (cause: () => Promise<unknown>): Promise<void> {
    const before = receiver.requests.length
    await cause()
    await until(() => receiver.requests.length > before)
  }

  t.test('a worker in another process is woken, and its pool can be ended as soon as it is closed', async () => {
    const own = new pg.Pool({ connectionString: server.url, max: 3, connectionTimeoutMillis: 5000 })
    const worker = createRecruiting({ storage: postgresStorage(own), delivery: slowPoll })
    await untilListeners(1)
    await arrives(() => emitter.emit(event))

    const client = await pool.connect()
    await client.query('begin')
    await emitter.emit(event, { transaction: client })
    await arrives(() => client.query('commit'))
    client.release()

    await worker.close()
    await own.end()
    await untilListeners(0)
  })

  t.test('engines that share a storage share its connection, until the last one is closed', async () => {
    const shared = postgresStorage(pool)
    const first = createRecruiting({ storage: shared, delivery: slowPoll })
    const second = createRecruiting({ storage: shared, delivery: slowPoll })
    await untilListeners(1)
    await first.close()
    await arrives(() => emitter.emit(event))
    await untilListeners(1)
    await second.close()
    await untilListeners(0)
    const third = createRecruiting({ storage: shared, delivery: slowPoll })
    await untilListeners(1)
    await third.close()
    await untilListeners(0)
  })

  t.test('a worker that is closed before it could listen leaves no connection behind', async () => {
    const own = new pg.Pool({ connectionString: server.url, connectionTimeoutMillis: 5000 })
    const worker = createRecruiting({ storage: postgresStorage(own), delivery: slowPoll })
    await worker.close()
    await own.end()
    await untilListeners(0)
  })

  t.test('a connection that breaks is replaced, and the log says so', async (t) => {
    const logged: string[] = []
    const logger = { info () {}, error () {}, warn (_fields: object, message: string) { logged.push(message) } }
    const worker = createRecruiting({ storage, delivery: slowPoll, logger })
    t.teardown(() => worker.close())
    await untilListeners(1)
    await pool.query("select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %'")
    await untilListeners(0)
    await untilListeners(1)
    await arrives(() => emitter.emit(event))
    t.ok(logged.includes('PostgreSQL notifications no longer arrive, polling for due deliveries'), logged.join())
  })

  t.test('a pool of one connection, which LISTEN would keep, is refused at the start', async (t) => {
    const own = server.createPool({ max: 1 })
    t.throws(() => createRecruiting({ storage: postgresStorage(own), delivery: slowPoll }), {
      code: 'invalid_option', field: 'pool', message: 'pool: expected 2 connections or more, because LISTEN keeps 1 of them, one for each storage that delivers, got 1'
    })
    const recording = createRecruiting({ storage: postgresStorage(own), delivery: false })
    await recording.emit(event)
    await recording.close()
    t.equal(own.totalCount, 1)
  })

  t.test('a second storage that would keep the last connection of a pool is refused at the start, until the first one ends', async (t) => {
    const own = server.createPool({ max: 2 })
    const storage = postgresStorage(own)
    const start = (over = postgresStorage(own)) => createRecruiting({ storage: over, delivery: slowPoll })
    const first = start(storage)
    const beside = start(storage)
    t.throws(() => start(), {
      code: 'invalid_option',
      field: 'pool',
      message: 'pool: expected 3 connections or more, because LISTEN keeps 2 of them, one for each storage that delivers, got 2'
    })
    await first.emit(event)
    await first.close()
    t.throws(() => start(), { code: 'invalid_option' }, 'while another engine uses the first storage')
    await beside.close()
    const second = start()
    await second.emit(event)
    await second.close()
  })

  t.test('a driver that knows no notifications polls', async (t) => {
    const plain = {
      query: (text: string, values?: unknown[]) => pool.query(text, values),
      async connect () {
        const client = await pool.connect()
        return {
          query: (text: string, values?: unknown[]) => client.query(text, values),
          release: (destroy?: boolean) => client.release(destroy)
        }
      }
    }
    const worker = createRecruiting({ storage: postgresStorage(plain), delivery: { ...slowPoll, pollMs: 20 } })
    t.teardown(() => worker.close())
    await arrives(() => emitter.emit(event))
    await untilListeners(0)
  })
})

t.test('making a storage opens no connection', async (t) => {
  const pool = new pg.Pool({ host: '127.0.0.1', port: 1 })
  postgresStorage(pool)
  t.equal(pool.totalCount, 0)
  await pool.end()
})
