import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { createRandom } from '../../../examples/demo/data/random.js'
import { openDatabase } from '../../../examples/mirror/copy.js'
import { recruitingApi } from '../../../src/index.js'
import { memoryKeyLookup, memoryStorage, type MemoryStorage } from '../../../src/memory/index.js'
import { findPort } from '../../fixtures/postgres/postgres-server.js'
import { runExample, type RunningExample } from '../../fixtures/examples/run-example.js'

const key = 'acme-secret-key'

/** Serves a storage, at a port of its own unless one is given, and calls `onSync` for each page of a sync. */
async function serve (t: Test, storage: MemoryStorage, { port = 0, onSync = () => {} } = {}): Promise<{ app: FastifyInstance, port: number }> {
  const app = Fastify({ forceCloseConnections: true })
  app.addHook('onResponse', async ({ url }) => { if (url.includes('/sync')) onSync() })
  await app.register(recruitingApi, {
    storage,
    keyLookup: memoryKeyLookup([{ key, tenantSlug: 'acme', scopes: ['candidates:read', 'jobs:read'] }]),
    delivery: { allowHttp: true, allowNetworks: ['127.0.0.0/8'] }
  })
  t.teardown(() => app.close())
  return { app, port: Number(new URL(await app.listen({ port, host: '127.0.0.1' })).port) }
}

function createFolder (t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'recruiting-mirror-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return join(folder, 'mirror.db')
}

/** Reads the copy that the program left. */
function readCopy (file: string, resource: string): unknown[] {
  const database = openDatabase(file)
  const rows = database.all('select item from items where resource = ? order by id', [resource])
  database.close()
  return rows.map(({ item }) => JSON.parse(String(item)))
}

async function readTable (app: FastifyInstance, resource: string): Promise<unknown[]> {
  const rows: unknown[] = []
  for (let page = 1; ; page++) {
    const answer = await app.inject({ url: `/api/v1/public/acme/${resource}?per_page=200&page=${page}`, headers: { authorization: `Bearer ${key}` } })
    const { data, meta } = answer.json()
    rows.push(...data)
    if (page >= meta.total_pages) return rows
  }
}

function createRows (prefix: string, count: number): Array<{ id: number, full_name: string }> {
  return Array.from({ length: count }, (_, index) => ({ id: index + 1, full_name: `${prefix} ${index + 1}` }))
}

t.test('the mirror is exact after it was killed at random moments, while rows changed and the server got another database', async (t) => {
  const seed = Number(process.env.SEED ?? Date.now() % 1e9)
  t.comment(`SEED=${seed}`)
  const random = createRandom(seed)
  const file = createFolder(t)
  let storage = memoryStorage({ tenants: { acme: { candidates: createRows('Before', 3000), jobs: [{ id: 1, name: 'Nurse', status: 'published' }] } } })
  let mirror: RunningExample | null = null

  // Each page changes some rows, and one in eight has the program killed within the next milliseconds.
  function onSync (): void {
    for (let count = 0; count < 5; count++) {
      const id = random.integer(1, 3100)
      if (random.chance(0.3)) storage.candidates.remove('acme', id)
      else storage.candidates.save('acme', { id, full_name: `Changed ${random.integer(1, 1e6)}` })
    }
    if (random.chance(0.125)) setTimeout(() => mirror?.end('SIGKILL'), random.integer(0, 15))
  }

  let { app, port } = await serve(t, storage, { onSync })
  const start = () => runExample(t, '13-mirror.ts', { BASE_URL: `http://127.0.0.1:${port}/api/v1/public`, KEY: key, WEBHOOK_SECRET: 'whsec_c2VjcmV0', FILE: file, PORT: '0' })
  const kills = 6
  for (let count = 0; count < kills; count++) {
    if (count === kills / 2) {
      await app.close()
      storage = memoryStorage({ tenants: { acme: { candidates: createRows('After', 2500) } } })
      app = (await serve(t, storage, { port, onSync })).app
    }
    mirror = start()
    // It ends before, if it is killed.
    await mirror.output(/up to date/).catch(() => {})
    storage.candidates.save('acme', { id: 1, full_name: `While it was down ${count}` })
    await mirror.end('SIGKILL')
  }

  await app.close()
  const quiet = await serve(t, storage, { port })
  const last = start()
  await last.output(/up to date/)
  await last.end('SIGKILL')
  t.strictSame(readCopy(file, 'candidates'), await readTable(quiet.app, 'candidates'))
  t.strictSame(readCopy(file, 'jobs'), await readTable(quiet.app, 'jobs'))
})

t.test('a webhook brings a change at once, and a forged one is refused', async (t) => {
  const storage = memoryStorage({ tenants: { acme: { candidates: createRows('Name', 2) } } })
  const { app, port } = await serve(t, storage)
  const receiverPort = await findPort()
  const { secret } = await app.recruiting.webhooks.create('acme', {
    name: 'mirror', target_url: `http://127.0.0.1:${receiverPort}/`, event_types: ['candidate.created']
  })
  const mirror = runExample(t, '13-mirror.ts', {
    BASE_URL: `http://127.0.0.1:${port}/api/v1/public`, KEY: key, WEBHOOK_SECRET: secret, FILE: createFolder(t), PORT: String(receiverPort)
  })
  await mirror.output(/up to date: 2 candidates, 0 jobs/)
  t.equal((await fetch(`http://127.0.0.1:${receiverPort}/`, { method: 'POST', body: '{}' })).status, 401)
  storage.candidates.save('acme', { id: 3, full_name: 'New' })
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'candidate.created', data: { id: 3 } })
  await mirror.output(/up to date: 3 candidates, 0 jobs/)
})
