import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { mock } from 'node:test'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { postgresStorage } from '../../../src/storages/postgres/index.js'
import { createDue, createListening } from '../../../src/storages/postgres/deliveries/due.js'
import type { PgClient } from '../../../src/storages/postgres/pool.js'
import { begin, startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { storeWebhook } from '../../fixtures/api/webhooks.js'
import { watchPool } from '../../fixtures/postgres/watched-pool.js'

// A worker that polls as rarely as possible: deliveries that arrive sooner were announced.
const slowPoll = { allowHttp: true, allowNetworks: ['127.0.0.1/32'], pollMs: 60_000 }
const event = { tenantSlug: 'acme', type: 'application.created', data: { id: 1 } } as const

t.test('notifications of due deliveries', async (t) => {
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

  t.test('a worker in another process wakes up, and its pool can be ended once it is closed', async () => {
    const own = new pg.Pool({ connectionString: server.url, max: 3, connectionTimeoutMillis: 5000 })
    const worker = createRecruiting({ storage: postgresStorage(own), delivery: slowPoll })
    await untilListeners(1)
    await arrives(() => emitter.emit(event))

    const client = await begin(pool)
    await emitter.emit(event, { transaction: client })
    await arrives(() => client.finish())

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

  t.test('a worker closed before it listens leaves no connection behind', async () => {
    const own = new pg.Pool({ connectionString: server.url, connectionTimeoutMillis: 5000 })
    const worker = createRecruiting({ storage: postgresStorage(own), delivery: slowPoll })
    await worker.close()
    await own.end()
    await untilListeners(0)
  })

  t.test('a broken connection is replaced, and the log reports it', async (t) => {
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

  t.test('startup rejects a pool whose only connection LISTEN would keep', async (t) => {
    const own = server.createPool({ max: 1 })
    t.throws(() => createRecruiting({ storage: postgresStorage(own), delivery: slowPoll }), {
      code: 'invalid_option', field: 'pool', message: 'pool: expected 2 connections or more, because LISTEN keeps 1 of them, one for each storage that delivers, got 1'
    })
    const recording = createRecruiting({ storage: postgresStorage(own), delivery: false })
    await recording.emit(event)
    await recording.close()
    t.equal(own.totalCount, 1)
  })

  t.test("startup rejects a second storage that would keep a pool's last connection, until the first one is closed", async (t) => {
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

  t.test('a driver without notifications polls', async (t) => {
    const plain = watchPool(pool, () => {})
    const worker = createRecruiting({ storage: postgresStorage(plain), delivery: { ...slowPoll, pollMs: 20 } })
    t.teardown(() => worker.close())
    await arrives(() => emitter.emit(event))
    await untilListeners(0)
  })
})

t.test('creating a storage opens no connection', async (t) => {
  const pool = new pg.Pool({ host: '127.0.0.1', port: 1 })
  postgresStorage(pool)
  t.equal(pool.totalCount, 0)
  await pool.end()
})

/** A pool whose connections the test resolves or rejects. */
function createPool () {
  const asked: Array<{ resolve: (client: PgClient) => void, reject: (error: Error) => void }> = []
  const queries: string[] = []
  const released: unknown[] = []
  async function query (text: string): Promise<{ rows: unknown[] }> {
    queries.push(text)
    return { rows: [] }
  }
  const listeners = new Map<string, (error?: unknown) => void>()
  const client: PgClient = {
    query, on: (name, listener) => listeners.set(name, listener), release (destroy) { released.push(destroy) }
  }
  const connect = (): Promise<PgClient> => new Promise((resolve, reject) => { asked.push({ resolve, reject }) })
  return { asked, queries, released, listeners, client, pool: { query, connect } }
}

t.test('without a free connection it retries, after pauses that double up to 15 seconds', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { asked, queries, client, pool } = createPool()
  let notified = 0
  const lost: unknown[] = []
  const listening = createListening(pool, 'due', { onNotification: () => { notified++ }, onLost: (error) => { lost.push(error) } })
  t.teardown(() => listening.stop())
  listening.start()
  for (const pauseMs of [1000, 2000, 4000, 8000, 15_000, 15_000]) {
    const count = asked.length
    asked.at(-1)?.reject(new Error('no connection is free'))
    await turn()
    mock.timers.tick(pauseMs - 1)
    t.equal(asked.length, count, `no retry within ${pauseMs} ms`)
    mock.timers.tick(1)
    t.equal(asked.length, count + 1)
  }
  asked.at(-1)?.resolve(client)
  await turn()
  t.same([queries, notified], [['listen "due"'], 1])
  t.match(lost, [{ message: 'no connection is free' }], 'the loss is reported once')
})

/** Starts listening on a connection whose further queries return `answer`. */
async function startListening (t: Test, answer: () => Promise<{ rows: unknown[] }>) {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const pool = createPool()
  const lost: unknown[] = []
  const listening = createListening(pool.pool, 'due', { onNotification () {}, onLost: (error) => { lost.push(error) } })
  t.teardown(() => listening.stop())
  listening.start()
  let queries = 0
  pool.asked[0]?.resolve({ ...pool.client, query: () => queries++ === 0 ? Promise.resolve({ rows: [] }) : answer() })
  await turn()
  return { ...pool, lost, listening, count: () => queries }
}

t.test('a connection is tested every 30 seconds', async (t) => {
  const { asked, lost, count } = await startListening(t, async () => ({ rows: [] }))
  for (const asks of [2, 3, 4]) {
    mock.timers.tick(30_000)
    await turn()
    t.equal(count(), asks)
  }
  t.same([asked.length, lost], [1, []])
})

t.test('a connection that does not respond, or responds with an error, is replaced', async (t) => {
  for (const [answer, message] of [
    [() => new Promise<never>(() => {}), 'the server does not answer'],
    [() => Promise.reject(new Error('connection reset')), 'connection reset']
  ] as const) {
    await t.test(message, async (t) => {
      const { asked, lost, released } = await startListening(t, answer)
      mock.timers.tick(30_000)
      await turn()
      mock.timers.tick(10_000)
      await turn()
      mock.timers.tick(500)
      t.same([asked.length, released], [2, [true]])
      t.match(lost, [{ message }])
    })
  }
})

t.test('a response after the stop changes nothing', async (t) => {
  let answer = (_rows: { rows: unknown[] }): void => {}
  const { asked, lost, listening } = await startListening(t, () => new Promise((resolve) => { answer = resolve }))
  mock.timers.tick(30_000)
  listening.stop()
  answer({ rows: [] })
  await turn()
  mock.timers.tick(60_000)
  t.same([asked.length, lost], [1, []])
})

t.test('after the stop, a connection that arrives, fails or starts to listen is not used', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  let listen = (_rows: { rows: unknown[] }): void => {}
  const slow = () => new Promise<{ rows: unknown[] }>((resolve) => { listen = resolve })
  for (const isConnected of [true, false]) {
    for (const end of ['arrives', 'fails'] as const) {
      const { asked, queries, released, client, pool } = createPool()
      const fail = (): void => { t.fail(`it ${end}`) }
      const listening = createListening(pool, 'due', { onNotification: fail, onLost: fail })
      listening.start()
      if (isConnected) asked[0]?.resolve({ ...client, query: slow })
      await turn()
      listening.stop()
      if (isConnected) listen({ rows: [] })
      else if (end === 'arrives') asked[0]?.resolve(client)
      else asked[0]?.reject(new Error('the pool has ended'))
      await turn()
      mock.timers.tick(60_000)
      t.strictSame([asked.length, queries], [1, []])
      if (!isConnected && end === 'arrives') t.strictSame(released, [undefined])
    }
  }
})

/** Creates what `postgresStorage` uses to wake workers. The connection that listens is the pool's first one. */
async function startDue (t: Test, listener: () => void | Promise<boolean>) {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const pool = createPool()
  const sent: string[] = []
  const due = createDue(pool.pool, {
    async query (_operation: string, _text: string, values: unknown[]) {
      sent.push(String(values[1]))
      return []
    }
  } as never, 'recruiting')
  t.teardown(due.onDue(listener))
  pool.asked[0]?.resolve(pool.client)
  await turn()
  const pass = async (ms: number) => {
    mock.timers.tick(ms)
    await turn()
  }
  await pass(0)
  return { due, sent, pass, hear: (payload: string) => pool.listeners.get('notification')?.({ payload }) }
}

t.test('other processes hear only of what the workers of this one did not take', async (t) => {
  let answer: () => void | Promise<boolean> = async () => true
  const { due, sent, pass, hear } = await startDue(t, () => answer())
  due.notify()
  await pass(20)
  due.notifyLater()
  await pass(20)
  await pass(230)
  t.strictSame(sent, [])

  const answers = {
    'has no room': async () => false,
    'does not say': () => {},
    'is slow': () => new Promise<never>(() => {}),
    fails: () => Promise.reject(new Error('the storage has failed')),
    throws: () => { throw new Error('a fault') }
  }
  for (const [name, next] of Object.entries(answers)) {
    answer = next
    due.notify()
    await pass(20)
    await pass(30)
    t.match(sent.splice(0), [/^[a-f0-9]{12}\.\d+$/], name)
  }

  let calls = 0
  answer = async () => { calls++; return false }
  due.notify()
  await pass(20)
  hear(String(sent[0]))
  await pass(50)
  t.equal(calls, 1, 'a process does not hear its own notifications')
})

t.test('one of the processes that hear of a delivery takes it', async (t) => {
  let calls = 0
  let hasRoom = true
  const { sent, pass, hear } = await startDue(t, async () => { calls++; return hasRoom })
  t.equal(calls, 1, 'once it listens')
  hear('other.1')
  hear('other.2')
  await pass(0)
  t.equal(calls, 2, 'at once, as long as no other process was heard')
  const [own = ''] = sent.splice(0)
  t.match(own, /^taken [a-f0-9]{12} other\.1 other\.2$/)
  hear(own)

  mock.method(Math, 'random', () => 0.5)
  t.teardown(() => mock.restoreAll())
  for (const process of ['third', 'fourth', 'third']) hear(`taken ${process} other.1`)
  hear('other.3')
  hear('other.4')
  await pass(14)
  hear('taken third other.3 other.4')
  await pass(20)
  t.same([calls, sent], [2, []], 'another process came first')

  hear('other.5')
  await pass(14)
  hear('taken third other.4')
  await pass(1)
  t.same([calls, sent.splice(0).length], [3, 1], 'what no other process has taken, after half of 15 ms for each other one')

  hasRoom = false
  hear("x'; a notification of somebody else that is too long to be a token")
  await pass(15)
  t.same([calls, sent], [4, []], 'without room it leaves the delivery to others')
})
