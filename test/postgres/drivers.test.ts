import t from 'tap'
import type { PgClient, PgPool } from '../../src/postgres/index.js'
import { postgresStorage } from '../../src/postgres/index.js'
import { createWebhook } from '../../src/testing/support/samples.js'
import { startPostgresHost } from '../fixtures/postgres.js'

type Query = (text: string, values: unknown[]) => Promise<{ rows: unknown[] }>
type Callback = (error: unknown, result?: unknown) => void

/** How a driver may answer a statement on a connection of its pool. */
const ways: Record<string, (query: Query) => (text: string, values: unknown[], callback: Callback) => unknown> = {
  'a promise': (query) => (text, values) => query(text, values),
  'a callback': (query) => (text, values, callback) => {
    query(text, values).then((result) => callback(null, result), callback)
  },
  'a promise and a callback': (query) => (text, values, callback) => {
    const answer = query(text, values)
    answer.then((result) => callback(null, result), callback)
    return answer
  }
}

for (const [way, answerBy] of Object.entries(ways)) {
  t.test(`a driver may answer by ${way}`, async (t) => {
    const { pool, storage, saveCandidates } = await startPostgresHost(t)
    const released: unknown[] = []
    let broken: Error | null = null
    const wrapped: PgPool = {
      query: (text: string, values?: unknown[]) => pool.query(text, values),
      async connect () {
        const client = await pool.connect()
        const query: Query = async (text, values) => {
          if (broken !== null) throw broken
          return client.query(text, values)
        }
        return {
          query: answerBy(query) as PgClient['query'],
          release (destroy?: boolean) {
            released.push(destroy)
            client.release(destroy)
          }
        }
      }
    }
    const { candidates, webhooks } = postgresStorage(wrapped)

    await saveCandidates('acme', [{ id: 7, full_name: 'Ada' }])
    t.same(await candidates.list('acme', {
      filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 5, fields: ['id', 'full_name']
    }), [{ id: 7, full_name: 'Ada' }])
    t.equal(await candidates.count('acme', {}), 1)
    await webhooks.create('acme', createWebhook(await webhooks.nextId('acme')), 5)
    t.equal(await storage.webhooks.count('acme', {}), 1, 'a transaction is committed')
    t.ok(released.every((destroy) => destroy !== true))

    broken = new Error('the driver is broken')
    await t.rejects(candidates.count('acme', {}), broken)
    t.equal(released.at(-1), true, 'the connection is closed')
  })
}

t.test('a driver that throws at once is heard, and its connection closed', async (t) => {
  const released: unknown[] = []
  const fail = (): never => { throw new Error('the driver is broken') }
  const pool: PgPool = { query: fail, connect: async () => ({ query: fail, release: (destroy) => { released.push(destroy) } }) }
  await t.rejects(postgresStorage(pool).candidates.count('acme', {}), { message: 'the driver is broken' })
  t.same(released, [true])
})
