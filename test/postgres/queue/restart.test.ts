import t from 'tap'
import { apiKeys, migrate, postgresKeyLookup, postgresStorage, watch } from '../../../src/postgres/index.js'
import { createCli } from '../../fixtures/cli/cli.js'
import { startPostgresHost } from '../../fixtures/postgres/postgres.js'
import { startTcpProxy } from '../../fixtures/receivers/tcp-proxy.js'

const fields = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'
const fatal = Buffer.concat([Buffer.from('E'), length(fields), Buffer.from(fields)])

function length (text: string): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(4 + text.length)
  return bytes
}

/** Adds the news that the server stops to its answer of this number; the first is that of a new connection. */
function stopWith (number: number): (chunk: Buffer) => Buffer {
  let answers = 0
  return (chunk) => {
    // The message ReadyForQuery ends each answer.
    const isAnswer = chunk.subarray(-6, -1).equals(Buffer.from('Z\0\0\0\x05'))
    return isAnswer && ++answers === number ? Buffer.concat([chunk, fatal]) : chunk
  }
}

for (const number of [1, 2, 3]) {
  t.test(`a restart of the server whose news come with answer ${number} of a connection does not end the process`, async (t) => {
    const { pool, server, storage: { webhooks } } = await startPostgresHost(t)
    await pool.query('create table people (id bigint primary key, company text)')
    const { port } = await startTcpProxy(t, server.port, () => stopWith(number))
    const createPool = () => server.createPool({ port })
    const proxied = server.url.replace(`:${server.port}/`, `:${port}/`)

    const calls: Array<[name: string, call: () => Promise<unknown>]> = [
      ['migrate', () => migrate(createPool())],
      ['watch', () => watch(createPool(), 'people', { kind: 'candidate', id: 'id', tenant: 'company' })],
      ['a storage', () => postgresStorage(createPool()).webhooks.find('acme', 1)],
      ['a transaction', () => postgresStorage(createPool()).webhooks.removeTenant('acme', { limit: 1 })],
      ['a lookup', () => postgresKeyLookup(createPool())({ tenantSlug: 'acme', tenantId: 'acme', key: 'secret' })],
      ['keys', () => apiKeys(createPool()).list({ tenantSlug: 'acme' })],
      ['the command', () => createCli(proxied)('doctor --wait-seconds 0')]
    ]
    for (const [name, call] of calls) {
      await t.test(name, async () => {
        await call().catch((error: unknown) => t.match(error, { message: /terminat|not queryable/ }))
      })
    }

    // The third answer comes after 30 s.
    if (number < 3) {
      await t.test('listening', async () => {
        const { onDue } = postgresStorage(createPool()).deliveries
        await new Promise<void>((resolve) => {
          const stop = onDue(() => {}, () => {
            stop()
            resolve()
          })
        })
      })
    }
    t.equal(await webhooks.find('acme', 1), null, 'the server runs')
  })
}

t.test('storages, lookups and calls that share a pool add one listener', async (t) => {
  const { pool } = await startPostgresHost(t)
  for (let count = 0; count < 20; count++) {
    await postgresStorage(pool).webhooks.find('acme', count)
    await postgresKeyLookup(pool)({ tenantSlug: 'acme', tenantId: 'acme', key: 'secret' })
    await migrate(pool)
  }
  const client = await pool.connect()
  t.strictSame([pool.listenerCount('error'), pool.listenerCount('acquire'), client.listenerCount('error')], [1, 1, 1])
  client.release()
})
