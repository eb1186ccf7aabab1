import { AsyncLocalStorage } from 'node:async_hooks'
import t from 'tap'
import type { PgClient } from '../../src/postgres/index.js'
import { postgresStorage } from '../../src/postgres/index.js'
import { createWebhook } from '../../src/testing/support/samples.js'
import { startPostgresHost } from '../fixtures/postgres/postgres.js'

const firstPage = { filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 5, fields: ['id', 'full_name'] } as const

t.test('a driver needs a pool that lends connections, and nothing else', async (t) => {
  const { pool, storage, saveCandidates } = await startPostgresHost(t)
  let connections = 0
  const released: unknown[] = []
  let broken: Error | null = null
  let refused: Error | null = null
  const { candidates, webhooks } = postgresStorage({
    query: () => Promise.reject(new Error('nobody asks the pool')),
    async connect () {
      if (refused !== null) throw refused
      const client = await pool.connect()
      connections++
      return {
        async query (text: string, values?: unknown[]) {
          if (broken !== null) throw broken
          return client.query(text, values)
        },
        release (destroy?: boolean) {
          released.push(destroy)
          client.release(destroy)
        }
      }
    }
  })

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

t.test('a connection that arrives too late is released once', async (t) => {
  const released: unknown[] = []
  let connect = (_client: PgClient): void => {}
  const { candidates } = postgresStorage({
    query: () => Promise.reject(new Error('nobody asks the pool')),
    connect: () => new Promise((resolve) => { connect = resolve })
  }, { queryTimeoutMs: 100 })
  await t.rejects(candidates.count('acme', {}), { code: 'storage_timeout' })
  connect({
    query: () => Promise.reject(new Error('nobody asks it')),
    release: (destroy) => { released.push(destroy) }
  })
  await new Promise(setImmediate)
  t.same(released, [undefined])
})

t.test('statements run in the async context of their own request, though they share one connection', async (t) => {
  const { server, storage } = await startPostgresHost(t)
  const own = server.createPool({ max: 1 })
  const tenant = new AsyncLocalStorage<string>()
  const seen: Array<[string | undefined, string]> = []
  const { webhooks } = postgresStorage({
    query: (text, values) => own.query(text, values),
    async connect () {
      const client = await own.connect()
      return {
        query (text: string, values?: unknown[]) {
          seen.push([tenant.getStore(), String(values?.[0] ?? '')])
          return client.query(text, values)
        },
        release: (destroy?: boolean) => client.release(destroy)
      }
    }
  })
  const tenants = ['acme', 'globex', 'initech']
  await Promise.all(tenants.map((slug) => tenant.run(slug, async () => {
    await webhooks.create(slug, createWebhook(await webhooks.nextId(slug)), 5)
    await webhooks.count(slug, {})
    t.equal(tenant.getStore(), slug)
  })))
  const statements = seen.filter(([, value]) => tenants.includes(value))
  t.equal(statements.length, 6)
  for (const [slug, value] of statements) t.equal(slug, value)
  t.ok(seen.every(([slug]) => slug !== undefined))
  t.equal(await storage.webhooks.count('acme', {}), 1)
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
