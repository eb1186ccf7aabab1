import t from 'tap'
import { candidatesFrom, jobsFrom, memoryChanges, memoryStorage } from '../../src/memory/index.js'
import { buildApp, keys, tenants } from '../fixtures/api/app.js'
import { changedIds, followSync, requestSync } from '../fixtures/sync/sync-client.js'

const names = Array.from({ length: 7 }, (_, index) => ({ id: index + 1, full_name: `Name ${index + 1}` }))

t.test('a sync gives every item as the list shows it', async (t) => {
  const app = await buildApp(t)
  const { pages, token } = await followSync(app)
  t.same(pages, [{
    data: [
      { id: 1, deleted: false, candidate: { id: 1, full_name: 'Ada Lovelace', headline: 'Analyst', source_id: 7 } },
      { id: 2, deleted: false, candidate: { id: 2, full_name: 'Grace Hopper', headline: null, source_id: null } },
      { id: 3, deleted: false, candidate: { id: 3, full_name: 'Alan Turing', headline: 'Logician', source_id: 8 } }
    ],
    meta: { next_token: token, has_more: false }
  }])
  const jobs = await followSync(app, { resource: 'jobs', tenantSlug: 'globex', key: keys.globex })
  t.same(jobs.pages.map(({ data }) => data), [[{ id: 1, deleted: false, job: { id: 1, name: 'Henchman', status: 'published' } }]])
})

t.test('a sync gives what changed since, and that an item is gone', async (t) => {
  const storage = memoryStorage({ tenants })
  const app = await buildApp(t, { storage })
  const { token } = await followSync(app)
  storage.candidates.save('acme', { id: 9, full_name: 'New' })
  storage.candidates.save('acme', { id: 2, full_name: 'Changed' })
  storage.candidates.remove('acme', 1)
  storage.candidates.remove('acme', 77)
  storage.candidates.save('globex', { id: 50, full_name: 'Theirs' })
  storage.jobs.remove('acme', 1)

  const changed = await followSync(app, { token })
  t.same(changed.pages[0]?.data, [
    { id: 9, deleted: false, candidate: { id: 9, full_name: 'New', headline: null, source_id: null } },
    { id: 2, deleted: false, candidate: { id: 2, full_name: 'Changed', headline: null, source_id: null } },
    { id: 1, deleted: true, candidate: null }
  ])
  t.same(changedIds((await followSync(app, { token: changed.token })).pages), [])
  t.same(changedIds((await followSync(app, { token })).pages), ['9', '2', '-1'], 'a token can be used again')
})

t.test('pages of any size give the same items, whatever changes between them', async (t) => {
  for (const perPage of [1, 2, 3, 7, 200]) {
    const storage = memoryStorage({ tenants: { acme: { candidates: names } } })
    const app = await buildApp(t, { storage })
    const first = JSON.parse((await requestSync(app, { perPage })).body)
    storage.candidates.remove('acme', 1)
    storage.candidates.remove('acme', 6)
    storage.candidates.save('acme', { id: 4, full_name: 'Changed' })
    storage.candidates.save('acme', { id: 8, full_name: 'New' })
    const copy = new Map<unknown, unknown>(first.data.map((item: { id: number, candidate: unknown }) => [item.id, item.candidate]))
    const { pages } = await followSync(app, { perPage, token: first.meta.next_token })
    for (const { id, deleted, candidate } of pages.flatMap(({ data }) => data)) {
      if (deleted) copy.delete(id)
      else copy.set(id, candidate)
    }
    t.ok(pages.every(({ data }) => data.length <= perPage))
    const list = await app.inject({ url: '/api/v1/public/acme/candidates', headers: { authorization: `Bearer ${keys.full}` } })
    t.same([...copy.values()].sort((a, b) => Number(Reflect.get(Object(a), 'id')) - Number(Reflect.get(Object(b), 'id'))), list.json().data, `pages of ${perPage}`)
  }
})

t.test('a sync of an empty tenant ends at once, and finds what comes later', async (t) => {
  const storage = memoryStorage()
  const app = await buildApp(t, { storage })
  const { pages, token } = await followSync(app)
  t.same(pages, [{ data: [], meta: { next_token: token, has_more: false } }])
  storage.candidates.save('acme', { id: 1, full_name: 'First' })
  t.same(changedIds((await followSync(app, { token })).pages), ['1'])
})

t.test('a page has 100 items unless the client asks for another number', async (t) => {
  const many = Array.from({ length: 201 }, (_, index) => ({ id: index + 1, full_name: 'x' }))
  const app = await buildApp(t, { storage: memoryStorage({ tenants: { acme: { candidates: many } } }) })
  t.same((await followSync(app)).pages.map(({ data }) => data.length), [100, 100, 1])
  t.same((await followSync(app, { perPage: 200 })).pages.map(({ data }) => data.length), [200, 1])
})

t.test('an item that changed while a page was full comes once in a page', async (t) => {
  const storage = memoryStorage({ tenants: { acme: { candidates: names } } })
  const app = await buildApp(t, { storage })
  const { token } = await followSync(app)
  for (const id of [1, 2, 1, 3, 1]) storage.candidates.save('acme', { id, full_name: `again ${id}` })
  t.same(changedIds((await followSync(app, { token })).pages), ['2', '3', '1'])
})

t.test('a change whose id cannot be one of the resource is left out', async (t) => {
  const storage = memoryStorage({ tenants })
  const app = await buildApp(t, { storage })
  const { token } = await followSync(app)
  await storage.changes.record('acme', { kind: 'candidate', id: 'not a number', deleted: false })
  t.same(changedIds((await followSync(app, { token })).pages), [])
})

t.test('functions that return all rows are synced with changes beside them', async (t) => {
  const created = '2026-01-01T00:00:00.000Z'
  const rows = new Map(['b', 'a'].map((id) => [id, { id, full_name: id, created_at: created, updated_at: created }]))
  const ids = { candidate: 'string', job: 'string' } as const
  const { webhooks, deliveries } = memoryStorage()
  const storage = {
    webhooks,
    deliveries,
    changes: memoryChanges(),
    candidates: candidatesFrom((tenantSlug) => tenantSlug === 'acme' ? [...rows.values()] : [], { ids }),
    jobs: jobsFrom(() => [], { ids })
  }
  const app = await buildApp(t, { storage, ids })
  const { pages, token } = await followSync(app, { perPage: 1 })
  t.same(changedIds(pages), ['a', 'b'])
  rows.delete('a')
  await app.recruiting.changed({ tenantSlug: 'acme', kind: 'candidate', id: 'a', deleted: true })
  await app.recruiting.changed({ tenantSlug: 'acme', kind: 'candidate', id: 'b' })
  t.same(changedIds((await followSync(app, { token })).pages), ['-a', 'b'])
})
