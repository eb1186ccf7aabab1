import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createListening } from '../../../src/postgres/deliveries/listening.js'
import type { PgClient } from '../../../src/postgres/pool.js'

/** A pool that gives a connection, or fails to, when the test says so. */
function createPool () {
  const asked: Array<{ resolve: (client: PgClient) => void, reject: (error: Error) => void }> = []
  const queries: string[] = []
  const released: unknown[] = []
  async function query (text: string): Promise<{ rows: unknown[] }> {
    queries.push(text)
    return { rows: [] }
  }
  const listeners = new Map<string, (error?: unknown) => void>()
  const client: PgClient = { query, on: (name, listener) => listeners.set(name, listener), release (destroy) { released.push(destroy) } }
  const connect = (): Promise<PgClient> => new Promise((resolve, reject) => { asked.push({ resolve, reject }) })
  return { asked, queries, released, listeners, client, pool: { query, connect } }
}

t.test('a connection that arrives after the stop is released unused', async (t) => {
  const { asked, queries, released, client, pool } = createPool()
  const listening = createListening(pool, 'due', { onNotification: () => t.fail('notified'), onLost: () => t.fail('lost') })
  listening.start()
  listening.stop()
  asked[0]?.resolve(client)
  await turn()
  t.strictSame([queries, released], [[], [undefined]])
})

t.test('a pool that has no connection is asked again, after pauses that double up to 15 seconds', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { asked, queries, client, pool } = createPool()
  let told = 0
  const lost: unknown[] = []
  const listening = createListening(pool, 'due', { onNotification: () => { told++ }, onLost: (error) => { lost.push(error) } })
  t.teardown(() => listening.stop())
  listening.start()
  for (const pauseMs of [1000, 2000, 4000, 8000, 15_000, 15_000]) {
    const count = asked.length
    asked.at(-1)?.reject(new Error('no connection is free'))
    await turn()
    mock.timers.tick(pauseMs - 1)
    t.equal(asked.length, count, `nobody asks within ${pauseMs} ms`)
    mock.timers.tick(1)
    t.equal(asked.length, count + 1)
  }
  asked.at(-1)?.resolve(client)
  await turn()
  t.same([queries, told], [['listen "due"'], 1])
  t.match(lost, [{ message: 'no connection is free' }], 'the loss is told once')
})

t.test('a pool that fails after the stop is not queried again', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { asked, pool } = createPool()
  const listening = createListening(pool, 'due', { onNotification: () => t.fail('notified'), onLost: () => t.fail('lost') })
  listening.start()
  listening.stop()
  asked[0]?.reject(new Error('the pool has ended'))
  await turn()
  mock.timers.tick(60_000)
  t.equal(asked.length, 1)
})

/** A listening that has its connection, whose further queries are answered by `answer`. */
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

t.test('a connection is asked every 30 seconds whether it lives', async (t) => {
  const { asked, lost, count } = await startListening(t, async () => ({ rows: [] }))
  for (const asks of [2, 3, 4]) {
    mock.timers.tick(30_000)
    await turn()
    t.equal(count(), asks)
  }
  t.same([asked.length, lost], [1, []])
})

t.test('a connection that does not answer, or answers with an error, is replaced', async (t) => {
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

t.test('a connection that breaks or ends is replaced, once', async (t) => {
  const { asked, listeners, lost } = await startListening(t, async () => ({ rows: [] }))
  listeners.get('error')?.(new Error('broken'))
  listeners.get('end')?.()
  mock.timers.tick(500)
  t.equal(asked.length, 2)
  t.match(lost, [{ message: 'broken' }])
})

t.test('an answer after the stop changes nothing', async (t) => {
  let answer = (_rows: { rows: unknown[] }): void => {}
  const { asked, lost, listening } = await startListening(t, () => new Promise((resolve) => { answer = resolve }))
  mock.timers.tick(30_000)
  listening.stop()
  answer({ rows: [] })
  await turn()
  mock.timers.tick(60_000)
  t.same([asked.length, lost], [1, []])
})

t.test('a connection that listens only after the stop is not used', async (t) => {
  const { asked, client, pool } = createPool()
  let answer = (_rows: { rows: unknown[] }): void => {}
  const listening = createListening(pool, 'due', { onNotification: () => t.fail('notified'), onLost: () => t.fail('lost') })
  listening.start()
  asked[0]?.resolve({ ...client, query: () => new Promise((resolve) => { answer = resolve }) })
  await turn()
  listening.stop()
  answer({ rows: [] })
  await turn()
})
