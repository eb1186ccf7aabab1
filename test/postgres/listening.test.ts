import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { createListening } from '../../src/postgres/listening.js'
import type { PgClient } from '../../src/postgres/pool.js'

/** A pool that gives a connection, or fails to, when the test says so. */
function createPool () {
  const asked: Array<{ resolve: (client: PgClient) => void, reject: (error: Error) => void }> = []
  const queries: string[] = []
  const released: unknown[] = []
  async function query (text: string): Promise<{ rows: unknown[] }> {
    queries.push(text)
    return { rows: [] }
  }
  const client: PgClient = { query, on () {}, release (destroy) { released.push(destroy) } }
  const connect = (): Promise<PgClient> => new Promise((resolve, reject) => { asked.push({ resolve, reject }) })
  return { asked, queries, released, client, pool: { query, connect } }
}

t.test('a connection that comes after the stop is given back unused', async (t) => {
  const { asked, queries, released, client, pool } = createPool()
  const listening = createListening(pool, 'due', () => t.fail('told of something'))
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
  const listening = createListening(pool, 'due', () => { told++ })
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
})

t.test('a pool that fails after the stop is asked no more', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { asked, pool } = createPool()
  const listening = createListening(pool, 'due', () => t.fail('told of something'))
  listening.start()
  listening.stop()
  asked[0]?.reject(new Error('the pool has ended'))
  await turn()
  mock.timers.tick(60_000)
  t.equal(asked.length, 1)
})
