import { Type } from '@sinclair/typebox'
import t from 'tap'
import { defineList, type ListSource } from '../../src/index.js'
import { checkError } from '../fixtures/api/answers.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { requestList, storeItems } from '../fixtures/api/lists.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { notIntegers, overMaximum, rejectedSorts } from '../fixtures/api/rejected-queries.js'
import { type ListCall, noteRoutes, positionRoutes, positions } from '../fixtures/hosts/own-lists.js'
import { listTools } from '../fixtures/api/mcp.js'
import { changedIds, followSync, requestSync } from '../fixtures/sync/sync-client.js'
import { memoryStorage } from '../../src/storages/memory/index.js'

const accepted = [
  '', 'page=2&per_page=3', 'page=99', 'page=2147483647&per_page=200', 'page=01&per_page=0003', 'sort=-id', 'sort=name,-updated_at&per_page=3', 'sort=%2did',
  'sort=-status&per_page=2&page=3', 'filter[q]=name%201&per_page=1', 'filter[q]=%20%09NAME%2010%20', 'filter[q]=', 'filter[q]=%20', 'filter%5Bq%5D=%25',
  'filter[q]=a%26b%3D%3Cx%3E%3B', 'filter[status]=published&per_page=1', 'filter[status]=draft', 'filter[updated_after]=2026-01-01T00:03:00Z',
  'filter[updated_after]=2026-01-01T01:03:00%2B01:00&per_page=2', 'filter[updated_after]=2015-06-30T23:59:60Z', `filter[q]=${encodeURIComponent('😀'.repeat(200))}`
]

const rejected = [
  ...rejectedSorts, ...notIntegers.flatMap((value) => [`page=${value}`, `per_page=${value}`]),
  ...overMaximum.page.map((value) => `page=${value}`), ...overMaximum.per_page.map((value) => `per_page=${value}`),
  'page', 'unknown=1', 'page=1&page=1', 'filter[q]=a&filter%5Bq%5D=b', 'filter[unknown]=1', 'filter[q][]=a', 'filter=a', 'q=a', '__proto__=1', 'constructor=1',
  'filter[q]=%00', 'filter[q]=%ff', 'filter[q]=%ED%A0%80', 'filter[q]=%', `filter[q]=${'a'.repeat(201)}`, 'filter[status]=', `filter[status]=${'a'.repeat(65)}`,
  'filter[updated_after]=', 'filter[updated_after]=yesterday', 'filter[updated_after]=2026-01-01', 'filter[updated_after]=0000-01-01T00:00:00Z',
  'filter[updated_after]=9999-12-31T23:59:59-01:00', 'filter%255Bq%255D=ada'
]

t.test('a host\'s own list responds to every query like the API\'s lists', async (t) => {
  const { storage } = await storeItems(10)
  const calls: ListCall[] = []
  const app = await buildApp(t, { storage, errorDetails: true, openapi: false, routes: positionRoutes(storage, calls) })
  for (const [queries, status] of [[accepted, 200], [rejected, 400]] as const) {
    for (const query of queries) {
      const [ours, theirs] = await Promise.all(['jobs', 'positions'].map(async (list) => {
        const { statusCode, headers, body } = await requestList(app, list, query)
        return { statusCode, link: headers.link, body: body.replace(String(headers['x-request-id']), '') }
      }))
      t.equal(theirs?.statusCode, status, query.slice(0, 60))
      t.same(theirs, { ...ours, ...(ours?.link === undefined ? {} : { link: String(ours.link).replaceAll('/jobs?', '/positions?') }) }, query.slice(0, 60))
    }
    t.equal(calls.length, accepted.length * 2, 'a rejected query reads nothing')
  }
})

t.test('the source gets the tenant in the path, converted filters, and an order that ends with id', async (t) => {
  const { storage } = await storeItems(3)
  const calls: ListCall[] = []
  const app = await buildApp(t, { storage, routes: positionRoutes(storage, calls) })
  const query = 'filter[q]=+name+&filter[updated_after]=2026-01-01T01:00:00%2B01:00&filter[floor]=-3&filter[remote]=false&sort=-name&page=2&per_page=2'
  const answer = await app.inject({ url: `/api/v1/public/globex/positions?${query}`, headers: bearer(keys.globex) })
  t.same(answer.json(), { data: [], meta: { page: 2, per_page: 2, total: 2, total_pages: 1 } })
  const filter = { q: 'name', updated_after: '2026-01-01T00:00:00.000Z', floor: -3, remote: false }
  const sort = [{ field: 'name', direction: 'desc' }, { field: 'id', direction: 'desc' }]
  const rejected = await app.inject({ url: '/api/v1/public/globex/positions?filter[remote]=1', headers: bearer(keys.globex) })
  t.equal(rejected.statusCode, 400, 'a filter that is no boolean')
  t.strictSame(calls, [{ method: 'count', args: ['globex', filter] }, { method: 'list', args: ['globex', { filter, sort, offset: 2, limit: 2 }] }])
})

const Row = Type.Object({ id: Type.Integer() })

for (const [what, source, message] of [
  ['count that returns text', { list: async () => [], count: async () => '5' as unknown as number }, 'count of a list returned a string, expected an integer from 0'],
  ['count that returns a fraction', { list: async () => [], count: async () => 0.5 }, 'count of a list returned 0.5, expected an integer from 0'],
  ['count that throws immediately', { list: async () => [], count () { throw new Error('canary') } }, 'canary'],
  ['list that rejects', { list: () => Promise.reject(new Error('canary')), count: () => Promise.reject(new Error('canary')) }, 'canary']
] as Array<[string, ListSource<{ id: number }, object>, string]>) {
  t.test(`a ${what} gets 500, and the log shows the reason`, async (t) => {
    const list = defineList(Row, { sort: ['id'] })
    const { logger, waitFor } = captureLogs()
    const app = await buildApp(t, {
      server: { logger },
      async routes (app) {
        app.get('/rows', { config: { scopes: [] }, schema: { querystring: list.query, response: { 200: list.page } } }, (request, reply) => list.read(request, reply, source))
      }
    })
    checkError(t, await requestList(app, 'rows'), 500)
    t.equal((await waitFor('request failed')).err?.message, message)
  })
}

t.test('read rejects a request whose query was not validated', async (t) => {
  const other = defineList(Row, { sort: ['id', 'name'] })
  const list = defineList(Row, { sort: ['id'] })
  const { logger, waitFor } = captureLogs()
  const source = { list: async () => [], count: async () => 0 }
  const app = await buildApp(t, {
    server: { logger },
    before (app) {
      app.get('/:tenant_slug/outside', { schema: { querystring: list.query } }, (request, reply) => list.read(request, reply, source))
    },
    async routes (app) {
      app.get('/rows', { config: { scopes: [] }, schema: { querystring: other.query, response: { 200: list.page } } }, (request, reply) => list.read(request, reply, source))
    }
  })
  checkError(t, await requestList(app, 'rows', 'sort=name'), 500)
  const message = "read expects a request of a route in the option routes whose querystring is this list's query"
  t.equal((await waitFor('request failed')).err?.message, message)
  t.match((await app.inject('/acme/outside?page=1&per_page=1&sort=id')).json(), { statusCode: 500, message })
})

t.test('a host\'s own list is in the document, with its parameters, its page and the Link header', async (t) => {
  const { storage } = await storeItems(1)
  const app = await buildApp(t, { storage, routes: positionRoutes(storage) })
  const { paths } = (await app.inject('/api/v1/public/openapi.json')).json()
  const { parameters, responses } = paths['/api/v1/public/{tenant_slug}/positions'].get
  const jobs = paths['/api/v1/public/{tenant_slug}/jobs'].get
  t.same(parameters.map(({ name, required }: { name: string, required: boolean }) => [name, required]), [
    ['tenant_slug', true], ['page', false], ['per_page', false], ['sort', false], ['filter[status]', false], ['filter[q]', false],
    ['filter[updated_after]', false], ['filter[floor]', false], ['filter[remote]', false]
  ])
  t.same(parameters.slice(0, 4), jobs.parameters.slice(0, 4))
  t.same(responses, { ...jobs.responses, 200: { ...jobs.responses[200], description: 'A page of positions' } })
})

t.test('without sort, a list has its default order', async (t) => {
  const list = defineList(Row, { sort: ['id', 'name'], defaultSort: '-name' })
  t.equal(list.query.properties.sort?.default, '-name')
  t.equal(defineList(Row, { sort: ['id', 'name'] }).query.properties.sort?.default, 'id')
  t.equal(defineList(Row, { sort: ['id'] }).page.description, 'A page of the list')
  t.equal(positions.page.description, 'A page of positions')
})

const someNotes = () => new Map([['acme', new Map([[1, 'one'], [2, 'two'], [3, 'three']])], ['globex', new Map([[1, 'theirs']])]])

t.test('the sync of an own list returns all items, then changes and deletions', async (t) => {
  const rows = someNotes()
  const { routes } = noteRoutes(rows)
  const app = await buildApp(t, { storage: memoryStorage(), routes })
  const { pages, token } = await followSync(app, { resource: 'notes', perPage: 2 })
  t.same(pages.map(({ data }) => data), [
    [{ id: 1, deleted: false, note: { id: 1, text: 'one' } }, { id: 2, deleted: false, note: { id: 2, text: 'two' } }],
    [{ id: 3, deleted: false, note: { id: 3, text: 'three' } }]
  ])
  t.same(changedIds((await followSync(app, { resource: 'notes', tenantSlug: 'globex', key: keys.globex })).pages), ['1'])
  rows.get('acme')?.delete(1)
  rows.get('acme')?.set(9, 'nine')
  for (const id of [1, 9]) await app.recruiting.changed({ tenantSlug: 'acme', kind: 'note', id })
  await app.recruiting.changed({ tenantSlug: 'acme', kind: 'job', id: 2 })
  await app.recruiting.changed({ tenantSlug: 'globex', kind: 'note', id: 2 })
  const changed = await followSync(app, { resource: 'notes', token })
  t.same(changed.pages[0]?.data, [{ id: 9, deleted: false, note: { id: 9, text: 'nine' } }, { id: 1, deleted: true, note: null }])
  t.same(changedIds((await followSync(app, { resource: 'notes', token: changed.token })).pages), [])
})

t.test('a page of large items of an own list ends at 10 MB, and the next page follows', async (t) => {
  const rows = new Map([['acme', new Map([1, 2, 3, 4].map((id) => [id, 'x'.repeat(4_000_000)]))]])
  const app = await buildApp(t, { storage: memoryStorage(), routes: noteRoutes(rows).routes })
  const loaded = await followSync(app, { resource: 'notes' })
  t.same(loaded.pages.map(({ data }) => data.length), [3, 1])
  for (const id of [1, 2, 3, 4]) await app.recruiting.changed({ tenantSlug: 'acme', kind: 'note', id })
  const { pages } = await followSync(app, { resource: 'notes', token: loaded.token })
  t.same(pages.map(({ data }) => data.length), [3, 1])
})

t.test('the sync of an own list checks scopes, parameters and tokens like those of the API', async (t) => {
  const app = await buildApp(t, { storage: memoryStorage(), routes: noteRoutes(someNotes()).routes })
  checkError(t, await requestSync(app, { resource: 'notes', key: keys.none }), 403)
  for (const query of ['token=', 'per_page=0', 'per_page=201', 'page=1', 'token=a&token=b']) checkError(t, await requestList(app, 'notes/sync', query), 400, query)
  const others = [await followSync(app), await followSync(app, { resource: 'notes', tenantSlug: 'globex', key: keys.globex })]
  for (const token of ['x', ...others.map(({ token }) => token)]) checkError(t, await requestSync(app, { resource: 'notes', token }), 410)
})

t.test('the sync of an own list is in the document and a tool, only if its changes are recorded', async (t) => {
  const { routes } = noteRoutes(someNotes())
  for (const [isRecorded, status] of [[true, 200], [false, 404]] as const) {
    const storage = memoryStorage()
    storage.changes.isRecorded = async (kind) => kind !== 'note' || isRecorded
    const { logger, lines } = captureLogs()
    const app = await buildApp(t, { storage, routes, server: { logger }, mcp: true })
    const { paths, components } = (await app.inject('/api/v1/public/openapi.json')).json()
    const operation = paths['/api/v1/public/{tenant_slug}/notes/sync']?.get
    t.same(operation && [operation.operationId, Object.keys(operation.responses)], isRecorded ? ['syncNotes', ['200', '400', '401', '403', '404', '410', '500', '503']] : undefined)
    t.equal(components.schemas.NoteChange?.properties.note !== undefined, isRecorded)
    if (isRecorded) t.same(operation.parameters, paths['/api/v1/public/{tenant_slug}/jobs/sync'].get.parameters)
    if (isRecorded) t.match(operation.description, 'otherwise store `note`')
    t.equal((await listTools(app, keys.full)).some(({ name }) => name === 'sync_notes'), isRecorded)
    t.equal((await requestSync(app, { resource: 'notes' })).statusCode, status)
    const warnings = lines.filter(({ level }) => level === 40).map(({ msg }) => msg)
    t.same(warnings, isRecorded ? [] : ['changes of the kind note are not recorded, so /api/v1/public/:tenant_slug/notes/sync returns 404: call watch before the start'])
  }
})

t.test('rows with a wrong id or in a wrong order get 500, and the log shows the reason', async (t) => {
  for (const [ids, message] of [
    [['1'], 'notes.listAfter returned a row whose id is a string, expected an integer up to 2^53-1'],
    [[2, 1], 'notes.listAfter returned the id 1 twice, or not in ascending order']
  ] as const) {
    const { routes, source } = noteRoutes(someNotes())
    source.listAfter = async () => ids.map((id) => ({ id: id as number, text: '' }))
    const { logger, waitFor } = captureLogs()
    const app = await buildApp(t, { storage: memoryStorage(), routes, server: { logger } })
    checkError(t, await requestSync(app, { resource: 'notes' }), 500)
    t.equal((await waitFor('request failed')).err?.message, message)
  }
})

t.test('the items of a sync can have text ids, in either letter case', async (t) => {
  const list = defineList(Type.Object({ id: Type.String() }), { sort: ['id'], kind: 'note' })
  const ids = new Set(['a-1', 'b-2'])
  const app = await buildApp(t, {
    storage: memoryStorage(),
    async routes (app) {
      app.get('/notes/sync', { config: { scopes: [] }, schema: { querystring: list.sync.query, response: { 200: list.sync.page } } }, (request) => list.sync.read(request, {
        listAfter: async (_tenant, { after }) => [...ids].filter((id) => id > (after ?? '')).map((id) => ({ id })),
        findMany: async (_tenant, wanted) =>
          [...new Set(wanted.map((id) => id.toLowerCase()))].filter((id) => ids.has(id)).map((id) => ({ id }))
      }))
    }
  })
  const { pages, token } = await followSync(app, { resource: 'notes' })
  t.same(changedIds(pages), ['a-1', 'b-2'])
  for (const id of ['A-1', 'c-3']) await app.recruiting.changed({ tenantSlug: 'acme', kind: 'note', id })
  t.same(changedIds((await followSync(app, { resource: 'notes', token })).pages), ['a-1', '-A-1', '-c-3'])
})

const define = defineList as (item: unknown, options: unknown) => unknown

const names = 'an array of different names, one of them id'
const rejectedOwnListOptions: Array<[options: unknown, field: string, expected: string, shown: string]> = [
  [undefined, 'options', 'an object', 'undefined'],
  [{ sort: ['id'], filter: {} }, 'filter', 'a known name such as filters', '"filter"'],
  [{ sort: 'id' }, 'sort', names, '"id"'],
  [{ sort: ['id', 'id'] }, 'sort', names, 'an array'],
  [{ sort: ['id'], defaultSort: 'name' }, 'defaultSort', 'one of id, with a leading - if descending', '"name"'],
  [{ sort: ['id'], filters: [] }, 'filters', 'an object', 'an array'],
  [{ sort: ['id'], filters: { 'a]': Type.String() } }, 'filters.a]', 'a name of letters, digits and _', '"a]"'],
  [{ sort: ['id'], filters: { open: Type.Number() } }, 'filters.open', 'a schema of text, integers or booleans', '"number"'],
  [{ sort: ['id'], filters: { stage: null } }, 'filters.stage', 'a schema of text, integers or booleans', 'null'],
  [{ sort: ['id'], filters: { q: Type.Integer() } }, 'filters.q', 'a schema of text', '"integer"'],
  [{ sort: ['id'], kind: 'Note' }, 'kind', 'candidate, job or the kind of an own list: 1 to 32 of a-z, 0-9 and _, beginning with a letter', '"Note"'],
  [{ sort: ['id'], kind: 'job' }, 'kind', 'another name than those of candidates and jobs', '"job"']
]

t.test('an invalid option of a list is rejected with its name', async (t) => {
  for (const [options, field, expected, shown] of rejectedOwnListOptions) {
    t.throws(() => define(Row, options), { code: 'invalid_option', field, message: `${field}: expected ${expected}, got ${shown}` }, field)
  }
  t.throws(() => define('Row', { sort: ['id'] }), { code: 'invalid_option', field: 'item', message: 'item: expected a schema, got "Row"' })
  const item = { code: 'invalid_option', field: 'item', message: /^item: expected the schema of an object whose id is text or an integer, got / }
  for (const row of [Type.Object({ id: Type.Number() }), Type.Object({}), Type.Array(Row)]) t.throws(() => define(row, { sort: ['id'], kind: 'note' }), item)
})
