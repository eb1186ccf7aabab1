import t from 'tap'
import type { RecruitingStorage } from '../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../src/storages/memory/index.js'
import { allScopes, bearer, buildApp, keys, tenants } from '../fixtures/api/app.js'
import { buildAppWithRoutes, requestTo } from '../fixtures/api/routes.js'
import { recordEvents, storeWebhook } from '../fixtures/api/webhooks.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { positionRoutes } from '../fixtures/hosts/own-lists.js'
import { portal } from '../fixtures/portal/sessions.js'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** Methods without a tenant. */
const shared = [
  'changes.isRecorded', 'changes.tokenSecret', 'feed.tokenSecret', 'webhooks.listStates', 'idempotency.renew'
]

t.test('all calls of requests to the storage take places of their tenant', async (t) => {
  const memory = memoryStorage({ tenants })
  await storeWebhook(memory, 'acme')
  await recordEvents(memory, 'acme', 1)
  const running: string[] = []
  const concurrent: string[][] = []
  const { storage } = spyStorage(memory, async ({ method }, real) => {
    if (shared.includes(method)) return real()
    running.push(method)
    if (running.length > 1) concurrent.push([...running])
    await nextTurn()
    running.splice(running.indexOf(method), 1)
    return real()
  })
  const { app, routes } = await buildAppWithRoutes(t, {
    storage: { ...storage, connections: { max: 1 } },
    routes: positionRoutes(storage)
  })
  const answers = await Promise.all(routes.map((route, index) => {
    const { headers, ...request } = requestTo(route)
    const isKeyed = route.method === 'POST' && !route.path.startsWith('/api_keys')
    return app.inject({ ...request, headers: { ...headers, ...isKeyed ? { 'idempotency-key': `key-${index}` } : {} } })
  }))
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

t.test('a rotation takes a place, and a request with Idempotency-Key that gets none stores nothing', async (t) => {
  const { storage, running, release } = createHeldStorage()
  const lookup = memoryKeyLookup([{ key: 'owner', tenantSlug: 'acme', scopes: allScopes, id: 'key_owner' }])
  const { store } = lookup
  const { idempotency } = storage
  if (store === undefined || idempotency === undefined) throw new Error('both have stores')
  const calls: string[] = []
  const { find } = store
  store.find = (...args) => {
    calls.push('find')
    return Reflect.apply(find, store, args)
  }
  const counted = new Proxy(idempotency, {
    get (target, name) {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return (...args: unknown[]): unknown => {
        calls.push(String(name))
        return Reflect.apply(method, target, args)
      }
    }
  })
  const app = await buildApp(t, {
    storage: { ...storage, idempotency: counted }, portal: { ...portal, keys: { scopes: allScopes } }, keyLookup: lookup
  })
  const headers = bearer('owner')
  const searches = Array.from({ length: 110 }, () => app.inject({ url: '/api/v1/public/acme/candidates', headers }))
  while (running.length < 4) await nextTurn()
  const rotated = await app.inject({ method: 'POST', url: '/api/v1/public/acme/api_keys/key_none/rotate', headers })
  const keyed = await app.inject({
    method: 'POST', url: '/api/v1/public/acme/webhooks/1/dispatch_test', headers: { ...headers, 'idempotency-key': 'one' }
  })
  t.strictSame([rotated.statusCode, keyed.statusCode, calls], [503, 503, []])
  release()
  await Promise.all(searches)
})

t.test('a revocation that began ends, even if the tenant has no places left', async (t) => {
  const { storage, running, release } = createHeldStorage()
  const lookup = memoryKeyLookup([
    { key: 'owner', tenantSlug: 'acme', scopes: allScopes, id: 'key_owner' },
    { key: 'leaked', tenantSlug: 'acme', scopes: allScopes, id: 'key_leaked' }
  ])
  const { store } = lookup
  if (store === undefined) throw new Error('this lookup has a store')
  const { revoke } = store
  const app = await buildApp(t, { storage, portal: { ...portal, keys: { scopes: allScopes } }, keyLookup: lookup })
  const search = () => app.inject({ url: '/api/v1/public/acme/candidates', headers: bearer('owner') })
  let searches: Array<ReturnType<typeof search>> = []
  store.revoke = async (...args) => {
    const revoked = await Reflect.apply(revoke, store, args)
    searches = Array.from({ length: 110 }, search)
    while (running.length < 3) await nextTurn()
    return revoked
  }
  const target = { name: 'CRM', target_url: 'https://hooks.example.com/in', event_types: ['job.created'] }
  const webhooks = { url: '/api/v1/public/acme/webhooks', headers: bearer('leaked') }
  t.equal((await app.inject({ ...webhooks, method: 'POST', payload: target })).statusCode, 201)
  const answer = await app.inject({
    method: 'DELETE', url: '/api/v1/public/acme/api_keys/key_leaked?webhooks=disable', headers: bearer('owner')
  })
  t.match([answer.statusCode, answer.json()], [200, { data: { webhooks_count: 1 } }])
  release()
  await Promise.all(searches)
  t.equal((await app.inject({ ...webhooks, headers: bearer('owner') })).json().data[0].status, 'inactive')
})

/** Counts of a storage that end when the test ends them; `counts` has their filters. */
function createHeldCounts () {
  const counts: unknown[] = []
  const ends: Array<(total: number) => void> = []
  const { storage } = spyStorage(undefined, async ({ method, args: [, filter] }, real) => {
    if (method !== 'candidates.count') return real()
    counts.push(Reflect.get(Object(filter), 'q'))
    return new Promise((resolve) => ends.push(resolve))
  })
  return { storage: { ...storage, connections: { max: 10 } }, counts, ends }
}

t.test('requests share the next exact total, which is counted after they arrived', async (t) => {
  const { storage, counts, ends } = createHeldCounts()
  const app = await buildApp(t, { storage })
  const read = async (path = ''): Promise<number> => {
    const answer = await app.inject({ url: `/api/v1/public/acme/candidates${path}`, headers: bearer(keys.full) })
    return answer.json().meta.total
  }
  const first = read()
  while (counts.length < 1) await nextTurn()
  const later = [read(), read(), read()]
  const other = read('?filter[q]=ada')
  while (counts.length < 2) await nextTurn()
  ends[1]?.(5)
  t.equal(await other, 5)
  ends[0]?.(1)
  t.equal(await first, 1)
  while (counts.length < 3) await nextTurn()
  ends[2]?.(2)
  t.strictSame(await Promise.all(later), [2, 2, 2])
  t.strictSame(counts, [undefined, 'ada', undefined])
})

t.test('after a slow count, only one count of the tenant runs at a time', async (t) => {
  const { storage, counts, ends } = createHeldCounts()
  const app = await buildApp(t, { storage })
  const { performance } = globalThis
  let now = performance.now()
  t.intercept(performance, 'now', { value: () => now })
  const read = (q: string) => app.inject({
    url: `/api/v1/public/acme/candidates?filter[q]=${q}`, headers: bearer(keys.full)
  })
  const [first, second] = [read('a'), read('b')]
  while (counts.length < 2) await nextTurn()
  now += 1000
  for (const end of ends) end(0)
  await Promise.all([first, second])
  const later = ['c', 'd', 'e'].map(read)
  for (let ended = 3; ended <= 5; ended++) {
    while (counts.length < ended) await nextTurn()
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    t.equal(counts.length, ended)
    ends[ended - 1]?.(0)
  }
  await Promise.all(later)
})

t.test('a page and its total come from one read, and from two once that was slow', async (t) => {
  const calls: string[] = []
  const { storage } = spyStorage(undefined, async ({ method, args: [tenant] }, real) => {
    if (method.startsWith('candidates.')) calls.push(`${method} of ${tenant}`)
    return real()
  })
  let durationMs = 0
  const page: RecruitingStorage['candidates']['page'] = async (tenant) => {
    calls.push(`candidates.page of ${tenant}`)
    for (const endsAt = performance.now() + durationMs; performance.now() < endsAt;);
    return { rows: [{ id: 7, full_name: 'Ada', headline: null, source_id: null }], total: 1 }
  }
  const candidates = { ...storage.candidates, page }
  const app = await buildApp(t, { storage: { ...storage, candidates, connections: { max: 10 } } })
  const read = async (tenant: 'acme' | 'globex'): Promise<unknown[]> => {
    calls.splice(0)
    const answer = await app.inject({
      url: `/api/v1/public/${tenant}/candidates`, headers: bearer(tenant === 'acme' ? keys.full : keys.globex)
    })
    t.equal(answer.statusCode, 200)
    return calls
  }
  t.strictSame(await read('acme'), ['candidates.page of acme'])
  durationMs = 60
  t.strictSame(await read('acme'), ['candidates.page of acme'])
  t.strictSame(await read('acme'), ['candidates.count of acme', 'candidates.list of acme'])
  t.strictSame(await read('globex'), ['candidates.page of globex'])
})
