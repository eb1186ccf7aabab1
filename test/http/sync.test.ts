import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { candidatesFrom, jobsFrom, memoryChanges, memoryStorage } from '../../src/storages/memory/index.js'
import { createRecruiting } from '../../src/index.js'
import { bearer, buildApp, keys, tenants } from '../fixtures/api/app.js'
import { changedIds, followSync, requestSync } from '../fixtures/sync/sync-client.js'
import { checkError } from '../fixtures/api/answers.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'
import { captureLogs } from '../fixtures/api/logs.js'

t.test('a sync returns every item as in the list', async (t) => {
  const app = await buildApp(t)
  const { pages, token } = await followSync(app)
  t.same(pages, [{
    data: [
      { id: 1, deleted: false, candidate: { id: 1, full_name: 'Ada Lovelace', headline: 'Analyst', source_id: 7 } },
      { id: 2, deleted: false, candidate: { id: 2, full_name: 'Grace Hopper', headline: null, source_id: null } },
      { id: 3, deleted: false, candidate: { id: 3, full_name: 'Alan Turing', headline: 'Logician', source_id: 8 } }
    ],
    meta: { next_token: token, has_more: false, events_token: pages[0]?.meta.events_token }
  }])
  const jobs = await followSync(app, { resource: 'jobs', tenantSlug: 'globex', key: keys.globex })
  t.same(jobs.pages.map(({ data }) => data), [[{ id: 1, deleted: false, job: { id: 1, name: 'Henchman', status: 'published' } }]])
})

t.test('a sync returns later changes and deletions', async (t) => {
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
  t.same(changedIds((await followSync(app, { token })).pages), ['9', '2', '-1'], 'a token can be reused')
})

/** Loads the candidates, and returns the ids of the events that follow. */
async function loadThenFollow (app: FastifyInstance, between: () => unknown = () => {}, filter = '') {
  const { pages, token } = await followSync(app, { perPage: 2 })
  await between()
  const events = pages.map(({ meta }) => meta.events_token)
  const url = `/api/v1/public/acme/events?token=${events.at(-1)}${filter}`
  const { data } = (await app.inject({ url, headers: bearer(keys.full) })).json()
  return { token, earlier: events.slice(0, -1), ids: data.map(({ id }: { id: string }) => id) }
}

t.test('the last page of a load has the token of the events that follow, for any filter', async (t) => {
  const storage = memoryStorage({ tenants })
  const app = await buildApp(t, { storage })
  const change = async (type: 'candidate.updated' | 'job.updated' = 'candidate.updated') => {
    storage.candidates.save('acme', { id: 2, full_name: type })
    return (await app.recruiting.emit({ tenantSlug: 'acme', type, data: { id: 2 } })).id
  }
  await change()
  const later: string[] = []
  const loaded = await loadThenFollow(app, async () => { later.push(await change(), await change('job.updated')) })
  t.strictSame(loaded.ids, later)
  t.strictSame(loaded.earlier, [undefined])
  t.strictSame((await loadThenFollow(app, async () => { later.push(await change(), await change('job.updated')) }, '&filter[event_type]=job.updated')).ids, later.slice(3))
  t.notOk('events_token' in ((await followSync(app, { token: loaded.token })).pages.at(-1)?.meta ?? {}), 'later syncs have none')
})

t.test('a load ends once nothing is held back and nothing changes', async (t) => {
  const storage = memoryStorage({ tenants })
  const app = await buildApp(t, { storage })
  const emit = () => app.recruiting.emit({ tenantSlug: 'acme', type: 'candidate.updated', data: {} })
  const { changes, feed } = storage
  const [ofChanges, ofFeed] = [changes.stats, feed.stats]
  const held = async () => ({ heldBackMs: 1, heldBackBy: null })
  const counted = async () => {
    const { pages } = await followSync(app)
    return pages.map(({ data, meta }) => [data.length, 'events_token' in meta])
  }
  const waiting = (ms: number, read: typeof changes.stats) => () => ms-- > 0 ? held() : read()
  changes.stats = waiting(2, ofChanges)
  t.strictSame(await counted(), [[3, false], [0, false], [0, true]])
  changes.stats = ofChanges
  feed.stats = waiting(1, ofFeed)
  t.strictSame(await counted(), [[3, false], [0, true]])
  let left = 2
  feed.stats = async () => {
    if (left-- > 0) await emit()
    return ofFeed()
  }
  t.strictSame(await counted(), [[3, false], [0, false], [0, true]])
  left = 1
  feed.stats = ofFeed
  changes.stats = async () => {
    if (left-- > 0) storage.candidates.save('acme', { id: 1, full_name: 'Changed' })
    return ofChanges()
  }
  t.strictSame(await counted(), [[3, false], [1, true]])
})

t.test('a load ends although writers never pause, and its events begin before the first change that it may lack', async (t) => {
  for (const isChangeHeld of [true, false]) {
    const storage = memoryStorage({ tenants })
    const app = await buildApp(t, { storage })
    const ids: string[] = []
    const emit = async () => { ids.push((await app.recruiting.emit({ tenantSlug: 'acme', type: 'candidate.updated', data: {} })).id) }
    await emit()
    const read = storage.feed.end
    let reads = 0
    storage.feed.end = async (tenant) => {
      const end = await read(tenant)
      // The first is the begin of the load.
      reads++
      await emit()
      return end
    }
    if (isChangeHeld) storage.changes.stats = async () => ({ heldBackMs: 1, heldBackBy: null })
    const loaded = await loadThenFollow(app)
    t.equal(reads, 12)
    t.strictSame(loaded.ids, isChangeHeld ? ids.slice(1) : ids.slice(12))
  }
})

t.test('without a feed, a load has no token of events', async (t) => {
  const { feed, ...storage } = memoryStorage({ tenants })
  const app = await buildApp(t, { storage })
  t.strictSame(Object.keys((await followSync(app)).pages[0]?.meta ?? {}), ['next_token', 'has_more'])
})

t.test('a page has 100 items unless the client requests another number', async (t) => {
  const many = Array.from({ length: 201 }, (_, index) => ({ id: index + 1, full_name: 'x' }))
  const app = await buildApp(t, { storage: memoryStorage({ tenants: { acme: { candidates: many } } }) })
  t.same((await followSync(app)).pages.map(({ data }) => data.length), [100, 100, 1])
  t.same((await followSync(app, { perPage: 200 })).pages.map(({ data }) => data.length), [200, 1])
})

t.test('a page of large items ends at 10 MB, and the next page follows', async (t) => {
  const storage = memoryStorage({ tenants: { acme: {} } })
  const app = await buildApp(t, { storage })
  const save = (): void => {
    for (const id of [1, 2, 3, 4, 5]) storage.candidates.save('acme', { id, full_name: 'x', headline: 'x'.repeat(6e6) })
  }
  const { token } = await followSync(app)
  save()
  const sizes = [await followSync(app), await followSync(app, { token })].map(({ pages }) => {
    t.same(changedIds(pages), ['1', '2', '3', '4', '5'])
    return pages.map(({ data }) => data.length)
  })
  t.same(sizes, [[2, 2, 1], [2, 2, 1]])
})

t.test('a change whose id is invalid for the resource is omitted', async (t) => {
  const storage = memoryStorage({ tenants })
  const app = await buildApp(t, { storage })
  const { token } = await followSync(app)
  await storage.changes.record('acme', { kind: 'candidate', id: 'not a number', deleted: false })
  t.same(changedIds((await followSync(app, { token })).pages), [])
})

t.test('functions that return all rows are synced with recorded changes', async (t) => {
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

t.test('a process without a server records changes', async (t) => {
  const storage = memoryStorage()
  const app = await buildApp(t, { storage })
  const { token } = await followSync(app, { resource: 'jobs' })
  const recruiting = createRecruiting({ storage, delivery: false })
  t.equal(await recruiting.changed({ tenantSlug: 'acme', kind: 'job', id: 7, deleted: true }), undefined)
  t.same((await recruiting.stats()).changes, { heldBackMs: 0, heldBackBy: null, missed: [] })
  await recruiting.close()
  t.same(changedIds((await followSync(app, { resource: 'jobs', token })).pages), ['-7'])
  await t.rejects(recruiting.changed({ tenantSlug: 'acme', kind: 'job', id: 7 }), { code: 'closed' })
})

t.test('an invalid change is rejected, and the error names the field', async (t) => {
  const storage = memoryStorage({ ids: { job: 'string' } })
  const app = await buildApp(t, { storage, ids: { job: 'string' } })
  const start = await storage.changes.begin('acme', 'candidate')
  const valid = { tenantSlug: 'acme', kind: 'candidate', id: 1, deleted: false }
  const wrong: Array<[object, string]> = [
    [{ tenantSlug: '' }, 'tenantSlug'], [{ tenantSlug: 'a\nb' }, 'tenantSlug'], [{ kind: 'Person' }, 'kind'], [{ kind: 'jobs' }, 'kind'], [{ kind: undefined }, 'kind'],
    [{ id: '1' }, 'id'], [{ id: 0 }, 'id'], [{ id: -1 }, 'id'], [{ id: 1.5 }, 'id'], [{ id: 2 ** 53 }, 'id'], [{ id: undefined }, 'id'],
    [{ kind: 'job', id: 1 }, 'id'], [{ kind: 'person', id: 0 }, 'id'], [{ kind: 'person', id: 'a/b' }, 'id'], [{ kind: 'job', id: 'a/b' }, 'id'], [{ kind: 'job', id: '' }, 'id'], [{ kind: 'job', id: 'x'.repeat(65) }, 'id'],
    [{ deleted: 'yes' }, 'deleted'], [{ delete: true }, 'delete']
  ]
  for (const [change, field] of wrong) {
    await t.rejects(app.recruiting.changed({ ...valid, ...change } as never), { code: 'invalid_input', field }, JSON.stringify(change))
  }
  await t.rejects(app.recruiting.changed(null as never), { code: 'invalid_input' })
  await t.rejects(app.recruiting.changed(valid as never, { transacton: 1 } as never), { code: 'invalid_event', field: 'transacton' })
  await t.rejects(app.recruiting.changed(valid as never, { transaction: {} }), { code: 'invalid_event', field: 'transaction' })
  t.same((await storage.changes.list('acme', 'candidate', { after: start, limit: 10 }))?.ids, [])
})

const many = { acme: { candidates: Array.from({ length: 5 }, (_, index) => ({ id: index + 1, full_name: 'x' })) }, globex: {} }

/** Returns the token after the first page of a tenant's path. */
async function tokenOf (app: FastifyInstance, path: string, tenantSlug = 'acme'): Promise<string> {
  const key = tenantSlug === 'acme' ? keys.full : keys.globex
  const answer = await app.inject({ url: `/api/v1/public/${tenantSlug}/${path}`, headers: bearer(key) })
  return answer.json().meta.next_token
}

t.test('forged tokens, and tokens of another tenant, resource or database, get the same 410', async (t) => {
  const app = await buildApp(t)
  const other = await buildApp(t)
  for (const path of ['candidates/sync', 'events']) {
    const token = await tokenOf(app, path)
    const [content = '', signature = ''] = token.split('.')
    const tokens = {
      'another resource': await tokenOf(app, 'jobs/sync'),
      'another tenant': await tokenOf(app, path, 'globex'),
      'another database': await tokenOf(other, path),
      'changed content': `${content.slice(0, -1)}${content.endsWith('A') ? 'B' : 'A'}.${signature}`,
      'a changed signature': `${content}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
      'no signature': content,
      'an empty signature': `${content}.`,
      'an additional part': `${token}.x`,
      'no content': `.${signature}`,
      'more than 512 characters': token + 'A'.repeat(512),
      'a made-up text': 'NOW',
      'text in another script': 'жетон'
    }
    const read = (given: string) =>
      app.inject({ url: `/api/v1/public/acme/${path}?token=${encodeURIComponent(given)}`, headers: bearer(keys.full) })
    for (const [what, given] of Object.entries(tokens)) checkError(t, await read(given), 410, `${path}: ${what}`)
    t.equal((await read(token)).statusCode, 200)
  }
})

t.test('a token older than the stored changes gets 410, even during the first pass', async (t) => {
  const clock = createManualClock()
  const storage = memoryStorage({ tenants: many, clock })
  const app = await buildApp(t, { storage, changesRetentionDays: 7 })
  const old = await followSync(app)
  const middle = JSON.parse((await requestSync(app, { perPage: 2 })).body).meta.next_token
  storage.candidates.remove('acme', 5)
  await clock.advance(6 * 24 * 3600 * 1000)
  t.equal(await app.recruiting.prune(), 0)
  t.equal((await requestSync(app, { token: old.token })).statusCode, 200)
  const { token } = await followSync(app)
  await clock.advance(2 * 24 * 3600 * 1000)
  t.equal(await app.recruiting.prune(), 1)
  for (const expired of [old.token, middle]) checkError(t, await requestSync(app, { token: expired }), 410)
  t.equal((await requestSync(app, { token })).statusCode, 200)
})

t.test('a token of the first pass expires when the kind of the ids changes', async (t) => {
  const storage = memoryStorage({ ids: { candidate: 'string' }, tenants: { acme: { candidates: [{ id: 'a', full_name: 'x' }, { id: 'b', full_name: 'x' }] } } })
  const before = await buildApp(t, { storage, ids: { candidate: 'string' } })
  const { meta } = JSON.parse((await requestSync(before, { perPage: 1 })).body)
  const after = await buildApp(t, { storage: { ...storage, candidates: memoryStorage().candidates } })
  checkError(t, await requestSync(after, { token: meta.next_token }), 410)
})

t.test('invalid parameters get 400 before a token is read, in sync and in the feed', async (t) => {
  const app = await buildApp(t)
  const many = Array.from({ length: 101 }, () => 'job.closed').join()
  const since = '2030-01-01T00:00:00Z'
  const ofBoth = [
    'token=', 'token=%20', 'token=x&per_page=0', 'per_page=201', 'per_page=x', 'per_page=', 'page=1', 'sort=id', 'filter[q]=a',
    'token=a&token=b', 'token=%00'
  ]
  const ofFeed = [
    ...['', 'job.closed,', 'job.close', 'job.closed, job.created', 'toString', many]
      .map((types) => `filter[event_type]=${types}`),
    ...['', '2030-01-01', '0000-01-01T00:00:00Z', `${since}&token=now`, `${since}&since=${since}`]
      .map((time) => `since=${time}`)
  ]
  for (const [path, queries] of [['candidates/sync', ofBoth], ['events', [...ofBoth, ...ofFeed]]] as const) {
    for (const query of queries) {
      checkError(t, await app.inject({ url: `/api/v1/public/acme/${path}?${query}`, headers: bearer(keys.full) }), 400, `${path}?${query}`)
    }
  }
})

t.test('a source without the sync methods has no sync; the other resource has one', async (t) => {
  const storage = memoryStorage({ tenants })
  const { listAfter, ...candidates } = storage.candidates
  const app = await buildApp(t, { storage: { ...storage, candidates } })
  checkError(t, await requestSync(app), 404)
  const withoutValue = { ...storage, candidates: { ...candidates, listAfter: undefined as never } }
  checkError(t, await requestSync(await buildApp(t, { storage: withoutValue })), 404, 'a method that is undefined')
  t.equal((await requestSync(app, { resource: 'jobs' })).statusCode, 200)
})

t.test('without changes, there is no sync, in the API or the document, and no change can be recorded', async (t) => {
  const { changes, ...storage } = memoryStorage({ tenants })
  const app = await buildApp(t, { storage })
  for (const resource of ['candidates', 'jobs'] as const) {
    for (const query of [{}, { token: '', key: keys.none }]) checkError(t, await requestSync(app, { resource, ...query }), 404)
  }
  const { paths } = (await app.inject('/api/v1/public/openapi.json')).json()
  t.notMatch(Object.keys(paths).join(), 'sync')
  await t.rejects(app.recruiting.changed({ tenantSlug: 'acme', kind: 'job', id: 1 }), { code: 'invalid_option', field: 'storage.changes' })
  t.equal((await app.recruiting.stats()).changes, null)
  t.equal(await app.recruiting.prune(), 0)
})

t.test('rows with the same id, or in the wrong order, get 500, and the log names the method', async (t) => {
  const message = 'candidates.listAfter returned the id 1 twice, or not in ascending order'
  const row = (id: number) => ({ id, full_name: 'x', headline: null, source_id: null })
  for (const ids of [[1, 1], [2, 1]]) {
    const logs = captureLogs()
    const storage = memoryStorage({ tenants })
    storage.candidates.listAfter = async () => ids.map(row)
    const app = await buildApp(t, { storage, server: { logger: logs.logger } })
    checkError(t, await requestSync(app), 500)
    t.same(logs.lines.filter(({ level }) => level === 50).map(({ err }) => err?.message), [message])
  }
  const storage = memoryStorage({ tenants })
  const app = await buildApp(t, { storage })
  const { meta } = JSON.parse((await requestSync(app, { perPage: 2 })).body)
  storage.candidates.listAfter = async () => [row(2)]
  checkError(t, await requestSync(app, { token: meta.next_token }), 500, 'a row of the previous page')
})

t.test('a secret that could not be read is read again', async (t) => {
  const storage = memoryStorage({ tenants })
  const { tokenSecret } = storage.changes
  let reads = 0
  storage.changes.tokenSecret = () => ++reads === 1 ? Promise.reject(new Error('down')) : tokenSecret()
  const app = await buildApp(t, { storage })
  checkError(t, await requestSync(app), 500)
  t.same(changedIds((await followSync(app)).pages), ['1', '2', '3'])
  await followSync(app)
  t.equal(reads, 2)
})
