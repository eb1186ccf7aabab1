import { Type } from '@sinclair/typebox'
import type { FastifyContextConfig, InjectOptions } from 'fastify'
import t from 'tap'
import { type AuditEntry, createRecruiting, defineList, type Deprecation, type RecruitingRoutes } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'

const base = '/api/v1/public/acme'
const headers = bearer(keys.full)
const deprecated = { since: '2026-03-01', sunset: '2026-09-01T12:00:00+02:00', link: 'https://example.com/changes' }
const Note = Type.Object({ id: Type.Integer() })
const notes = defineList(Note, { sort: ['id'] })

const routes: RecruitingRoutes = async (app) => {
  const config = { scopes: ['candidates:read'] }
  const response = { 200: Type.Object({ data: Note }) }
  app.get('/notes', { config: { ...config, deprecated }, exposeHeadRoute: true, schema: { operationId: 'listNotes', querystring: notes.query, response: { 200: notes.page } } }, (request, reply) => {
    return notes.read(request, reply, { list: async () => [{ id: 1 }], count: async () => 1 })
  })
  app.get('/notes/:id', { config: { ...config, deprecated: { since: '2026-03-01T10:00:00Z' } }, schema: { operationId: 'getNote', description: 'A note.', response } }, async () => ({ data: { id: 1 } }))
  app.get('/memos', { config, schema: { operationId: 'listMemos', response } }, async () => ({ data: { id: 1 } }))
}

t.test('a deprecated route announces it in every response, next to its other links', async (t) => {
  const app = await buildApp(t, { routes })
  const requests: InjectOptions[] = [{ url: `${base}/notes`, headers }, { method: 'HEAD', url: `${base}/notes`, headers }, { url: `${base}/notes?page=0`, headers }, { url: `${base}/notes` }]
  const links = '<https://example.com/changes>; rel="deprecation"; type="text/html"'
  const page = `<${base}/notes?page=1&per_page=25&sort=id>`
  for (const [index, request] of requests.entries()) {
    const answer = await app.inject(request)
    t.equal(answer.statusCode, [200, 200, 400, 401][index])
    t.equal(answer.headers['deprecation'], '@1772323200')
    t.equal(answer.headers['sunset'], 'Tue, 01 Sep 2026 10:00:00 GMT')
    t.equal(answer.headers.link, index < 2 ? `${page}; rel="first", ${page}; rel="last", ${links}` : links)
  }
  const one = await app.inject({ url: `${base}/notes/1`, headers })
  t.match(one.headers, { deprecation: '@1772359200', sunset: undefined, link: undefined })
  const other = await app.inject({ url: `${base}/memos`, headers })
  t.match(other.headers, { deprecation: undefined, sunset: undefined, link: undefined })
})

t.test('the document marks deprecated operations and events', async (t) => {
  const events = { 'note.made': Type.Object({}, { description: 'A note was made', deprecated }), 'memo.made': Type.Object({}), 'memo.sent': Type.Object({}, { deprecated: true }) }
  const app = await buildApp(t, { events, routes })
  const { paths, webhooks } = (await app.inject('/api/v1/public/openapi.json')).json()
  const at = (path: string) => paths[`/api/v1/public/{tenant_slug}${path}`].get
  t.match(at('/notes'), { deprecated: true, description: /^Deprecated since 2026-03-01; will be removed on 2026-09-01\. See https:\/\/example\.com\/changes\n\nNeeds/ })
  t.match(at('/notes/{id}'), { deprecated: true, description: /^Deprecated since 2026-03-01\.\n\nA note\.\n\nNeeds/ })
  t.equal(at('/memos').deprecated, undefined)
  t.match(webhooks['note.made'].post, { deprecated: true, summary: 'A note was made', description: /^Deprecated since 2026-03-01; will be removed on 2026-09-01\. See \S+\n\nSent/ })
  t.match(webhooks['memo.sent'].post, { deprecated: true, description: /^Sent/ })
  t.equal(webhooks['memo.made'].post.deprecated, undefined)
  t.notMatch(JSON.stringify(webhooks['note.made']), 'sunset')
})

t.test('the audit shows who still calls a deprecated operation', async (t) => {
  const entries: AuditEntry[] = []
  const app = await buildApp(t, { routes, onAudit: (entry) => { entries.push(entry) } })
  for (const path of ['/notes', '/memos', '/unknown']) await app.inject({ url: `${base}${path}`, headers })
  t.same(entries.map(({ operationId, isDeprecated, keyId }) => [operationId, isDeprecated, typeof keyId]), [['listNotes', true, 'string'], ['listMemos', false, 'string'], [null, false, 'string']])
})

const date = 'a date such as 2026-03-01, or an RFC 3339 date-time'
const wrong: Array<[given: unknown, path: string, expected: string, shown: string]> = [
  [true, '', 'an object with since', 'true'],
  [{}, '.since', date, 'undefined'],
  [{ since: '2026-02-30' }, '.since', date, '"2026-02-30"'],
  [{ since: '2026-03-01', sunset: 'soon' }, '.sunset', `${date}, not before since`, '"soon"'],
  [{ since: '2026-03-01', sunset: '2026-02-28' }, '.sunset', `${date}, not before since`, '"2026-02-28"'],
  [{ since: '2026-03-01', link: 'javascript:x' }, '.link', 'an https: or http: URL', '"javascript:x"'],
  [{ since: '2026-03-01', until: '2026-09-01' }, '.until', 'since, sunset or link', '"until"']
]

t.test('an invalid deprecation is rejected with its path', async (t) => {
  for (const [given, path, expected, shown] of wrong) {
    const register: RecruitingRoutes = async (app) => {
      const config: FastifyContextConfig = { scopes: [], deprecated: given as Deprecation }
      app.get('/notes', { config, schema: { response: { 200: Type.Object({}) } } }, async () => ({}))
    }
    await t.rejects(buildApp(t, { routes: register }), {
      code: 'invalid_option', message: `routes: expected config.deprecated${path} of GET /api/v1/public/:tenant_slug/notes to be ${expected}, got ${shown}`
    })
    if (given === true) continue
    const events = { 'note.made': Type.Object({}, { deprecated: given }) }
    t.throws(() => createRecruiting({ storage: memoryStorage(), delivery: false, events }), {
      code: 'invalid_option', field: `events["note.made"].deprecated${path}`, message: `events["note.made"].deprecated${path}: expected ${expected}, got ${shown}`
    })
  }
})
