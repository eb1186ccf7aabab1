import t from 'tap'
import type { RecruitingStorage } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { bearer, buildApp, keys, tenants } from '../fixtures/api/app.js'
import { buildAppWithRoutes, requestTo } from '../fixtures/api/routes.js'
import { recordEvents, storeWebhook } from '../fixtures/api/webhooks.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** Methods without a tenant. */
const shared = ['changes.isRecorded', 'changes.tokenSecret', 'feed.tokenSecret', 'webhooks.listResting']

t.test('all calls of requests to the storage take places of their tenant', async (t) => {
  const memory = memoryStorage({ tenants })
  await storeWebhook(memory, 'acme')
  await recordEvents(memory, 'acme', 1)
  const running: string[] = []
  const concurrent: string[][] = []
  const { storage } = spyStorage(memory, async ({ method }, real) => {
    if (shared.includes(method) || method.startsWith('idempotency.')) return real()
    running.push(method)
    if (running.length > 1) concurrent.push([...running])
    await nextTurn()
    running.splice(running.indexOf(method), 1)
    return real()
  })
  const { app, routes } = await buildAppWithRoutes(t, { storage: { ...storage, connections: { max: 1 } } })
  const answers = await Promise.all(routes.map((route) => app.inject(requestTo(route))))
  t.ok(answers.length > 20)
  t.notOk(answers.some(({ statusCode }) => statusCode >= 500))
  t.strictSame(concurrent, [])
})

/** A storage of ten connections in which the lists of acme never end before `release`. */
function createHeldStorage () {
  const running: string[] = []
  let release = (): void => {}
  const released = new Promise<void>((resolve) => { release = resolve })
  const { storage } = spyStorage(undefined, async ({ method, args: [tenant] }, real) => {
    if (method !== 'candidates.list') return real()
    running.push(String(tenant))
    if (tenant === 'acme') await released
    return real()
  })
  const shared: RecruitingStorage = { ...storage, connections: { max: 10 } }
  return { storage: shared, running, release }
}

t.test('one tenant\'s searches leave connections for others, and get 503 if too many of them wait', async (t) => {
  const { storage, running, release } = createHeldStorage()
  const app = await buildApp(t, { storage })
  const other = await buildApp(t, { storage })
  const list = (tenant: 'acme' | 'globex') => app.inject({
    url: `/api/v1/public/${tenant}/candidates`, headers: bearer(tenant === 'acme' ? keys.full : keys.globex)
  })
  const searches = Array.from({ length: 104 }, () => list('acme'))
  while (running.length < 4) await nextTurn()
  t.equal((await list('globex')).statusCode, 200)
  const headers = bearer(keys.full)
  const answer = await other.inject({ url: '/api/v1/public/acme/jobs', headers })
  t.match([answer.statusCode, answer.headers['retry-after'], answer.json().error.code], [503, '5', 'unavailable'])
  t.strictSame(running, ['acme', 'acme', 'acme', 'acme', 'globex'])
  t.match(await app.recruiting.webhooks.list({ tenantSlug: 'acme' }), { meta: { total: 0 } }, 'calls by code do not wait')
  release()
  const statuses = (await Promise.all(searches)).map(({ statusCode }) => statusCode)
  t.strictSame(new Set(statuses), new Set([200, 503]))
})
