import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { openDatabase } from '../../../examples/mirror/copy.js'
import { recruitingApi } from '../../../src/index.js'
import { memoryKeyLookup, memoryStorage, type MemoryStorage } from '../../../src/storages/memory/index.js'
import { findPort } from '../../fixtures/postgres/postgres-server.js'
import { runExample } from '../../fixtures/examples/run-example.js'

const key = 'acme-secret-key'

function storageOf (...names: string[]): MemoryStorage {
  const candidates = names.map((name, index) => ({ id: index + 1, full_name: name }))
  return memoryStorage({ tenants: { acme: { candidates } } })
}

async function serve (t: Test, storage: MemoryStorage, port: number): Promise<FastifyInstance> {
  const app = Fastify({ forceCloseConnections: true })
  await app.register(recruitingApi, {
    storage,
    keyLookup: memoryKeyLookup([{ key, tenantSlug: 'acme', scopes: ['candidates:read', 'jobs:read'] }]),
    delivery: { allowHttp: true, allowNetworks: ['127.0.0.0/8'] }
  })
  t.teardown(() => app.close())
  await app.listen({ port, host: '127.0.0.1' })
  return app
}

t.test('the mirror continues after a kill, follows webhooks, and starts again for another database', async (t) => {
  const [port, ownPort] = [await findPort(), await findPort()]
  const file = `${t.testdir({})}/mirror.db`
  const storage = storageOf('Ada', 'Grace')
  const app = await serve(t, storage, port)
  const { secret } = await app.recruiting.webhooks.create('acme', {
    name: 'mirror', target_url: `http://127.0.0.1:${ownPort}/`, event_types: ['candidate.created']
  })
  const start = () => runExample(t, '13-mirror.ts', {
    BASE_URL: `http://127.0.0.1:${port}/api/v1/public`, KEY: key, WEBHOOK_SECRET: secret, FILE: file, PORT: `${ownPort}`
  })
  const readNames = (): unknown[] => {
    const database = openDatabase(file)
    const rows = database.all("select item from items where resource = 'candidates' order by id", [])
    database.close()
    return rows.map(({ item }) => JSON.parse(String(item)).full_name)
  }

  const first = start()
  await first.output(/up to date: 2 candidates, 0 jobs/)
  await first.end('SIGKILL')
  storage.candidates.remove('acme', 1)
  storage.candidates.save('acme', { id: 2, full_name: 'Grace Hopper' })
  const second = start()
  await second.output(/up to date: 1 candidates, 0 jobs/)
  t.strictSame(readNames(), ['Grace Hopper'])
  t.equal((await fetch(`http://127.0.0.1:${ownPort}/`, { method: 'POST', body: '{}' })).status, 401, 'a forged notification')
  storage.candidates.save('acme', { id: 3, full_name: 'Alan' })
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'candidate.created', data: { id: 3 } })
  await second.output(/up to date: 2 candidates, 0 jobs/)
  await second.end('SIGKILL')

  await app.close()
  await serve(t, storageOf('Edsger'), port)
  const third = start()
  await third.output(/up to date: 1 candidates, 0 jobs/)
  t.strictSame(readNames(), ['Edsger'])
  await third.end('SIGKILL')
})
