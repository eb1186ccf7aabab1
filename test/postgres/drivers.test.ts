import t from 'tap'
import type { PgClient, PgPool } from '../../src/postgres/index.js'
import { postgresStorage } from '../../src/postgres/index.js'
import { createWebhook } from '../../src/testing/support/samples.js'
import { startPostgresHost } from '../fixtures/postgres.js'

type Callback = (error: unknown, answer?: unknown) => void

/** How methods that have a parameter for a callback may answer. */
const ways: Record<string, (answer: () => Promise<unknown>, callback: Callback) => unknown> = {
  'a promise': (answer) => answer(),
  'a callback': (answer, callback) => {
    answer().then((value) => callback(null, value), callback)
  },
  'a callback, with null beside an error': (answer, callback) => {
    answer().then((value) => callback(null, value), (error) => callback(error, null))
  },
  'a callback, in an async function': async (answer, callback) => {
    answer().then((value) => callback(null, value), callback)
  },
  'a promise and a callback': (answer, callback) => {
    const promise = answer()
    promise.then((value) => callback(null, value), callback)
    return promise
  }
}

const firstPage = { filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 5, fields: ['id', 'full_name'] } as const

for (const [way, answerBy] of Object.entries(ways)) {
  t.test(`a driver may answer by ${way}`, async (t) => {
    const { pool, storage, saveCandidates } = await startPostgresHost(t)
    let connections = 0
    const released: unknown[] = []
    let broken: Error | null = null
    let refused: Error | null = null

    async function lend () {
      if (refused !== null) throw refused
      const client = await pool.connect()
      connections++
      const query = async (text: string, values: unknown[]) => {
        if (broken !== null) throw broken
        return client.query(text, values)
      }
      return {
        query: (text: string, values: unknown[], callback: Callback) => answerBy(() => query(text, values), callback),
        release (destroy?: boolean) {
          released.push(destroy)
          client.release(destroy)
        }
      }
    }

    const { candidates, webhooks } = postgresStorage({
      query: (text: string, values?: unknown[]) => pool.query(text, values),
      connect: (callback: Callback) => answerBy(lend, callback)
    } as unknown as PgPool)

    await saveCandidates('acme', [{ id: 7, full_name: 'Ada' }])
    t.same(await candidates.list('acme', firstPage), [{ id: 7, full_name: 'Ada' }])
    t.equal(await candidates.count('acme', {}), 1)
    await webhooks.create('acme', createWebhook(await webhooks.nextId('acme')), 5)
    t.equal(await storage.webhooks.count('acme', {}), 1, 'a transaction is committed')
    t.ok(released.every((destroy) => destroy !== true))

    broken = new Error('the driver is broken')
    await t.rejects(candidates.count('acme', {}), broken)
    t.equal(released.at(-1), true, 'the connection is closed')

    refused = new Error('there is no connection')
    await t.rejects(candidates.count('acme', {}), refused)
    t.equal(released.length, connections, 'each connection is given back once')
  })

  t.test(`a connection that comes too late is given back once, told by ${way}`, async (t) => {
    const released: unknown[] = []
    let connect = (_client: PgClient): void => {}
    const late = new Promise<PgClient>((resolve) => { connect = resolve })
    const { candidates } = postgresStorage({
      query: () => Promise.reject(new Error('nobody asks the pool')),
      connect: (callback: Callback) => answerBy(() => late, callback)
    } as unknown as PgPool, { queryTimeoutMs: 100 })
    await t.rejects(candidates.count('acme', {}), { code: 'storage_timeout' })
    connect({
      query: () => Promise.reject(new Error('nobody asks it')),
      release: (destroy) => { released.push(destroy) }
    })
    await new Promise(setImmediate)
    t.same(released, [undefined])
  })
}

t.test('a method without a parameter for a callback is given none, so that wrappers may await what they call', async (t) => {
  const { pool, saveCandidates } = await startPostgresHost(t)
  const given: unknown[][] = []
  const { candidates } = postgresStorage({
    query: (text: string, values?: unknown[]) => pool.query(text, values),
    async connect (...args: []) {
      given.push(args)
      const client = await pool.connect(...args)
      return {
        async query (...args: [string, unknown[]?]) {
          given.push(args)
          const result = await client.query(...args)
          return { rows: [...result.rows] }
        },
        release: (destroy?: boolean) => client.release(destroy)
      }
    }
  })
  await saveCandidates('acme', [{ id: 7, full_name: 'Ada' }])
  t.same(await candidates.list('acme', firstPage), [{ id: 7, full_name: 'Ada' }])
  t.ok(given.length >= 2)
  t.ok(given.flat().every((value) => typeof value !== 'function'))
})

t.test('a driver that throws at once is heard, its connection closed, and no timer left', async (t) => {
  const released: unknown[] = []
  const fail = (): never => { throw new Error('the driver is broken') }
  const release = (destroy?: boolean): void => { released.push(destroy) }
  const timers = countTimers()
  for (const connect of [fail, async () => ({ query: fail, release })]) {
    await t.rejects(postgresStorage({ query: fail, connect }).candidates.count('acme', {}), { message: 'the driver is broken' })
    t.equal(countTimers(), timers)
  }
  t.same(released, [true])
})

function countTimers (): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
}
