import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { type ApiCaller, type RecruitingRoutes, defineList } from '../../src/index.js'
import { memoryKeyLookup, memoryStorage } from '../../src/storages/memory/index.js'
import { allScopes, bearer, buildApp, keys } from '../fixtures/api/app.js'

const key = 'acme-key'
const headers = bearer(key)
const base = '/api/v1/public/acme'

/** Waits in each `preHandler` hook until `open` is called, and resolves `hasArrived` with the first request. */
function createGate () {
  const gate = { open: (): void => {}, arrived: (): void => {} }
  const isOpen = new Promise<void>((resolve) => { gate.open = resolve })
  const hasArrived = new Promise<void>((resolve) => { gate.arrived = resolve })
  return { ...gate, hasArrived, wait: async (): Promise<void> => { gate.arrived(); await isOpen } }
}

const Slug = Type.Object({ slug: Type.String() })
const Row = Type.Object({ id: Type.Integer(), tenant: Type.String() })
const list = defineList(Row, { sort: ['id'] })

/** Operations that return their tenant. One emits an event. */
const routes: RecruitingRoutes = async (app) => {
  const config = { scopes: ['jobs:read'] }
  app.get('/own', { config, schema: { response: { 200: Row } } }, async ({ recruiting: { tenantId } }) => {
    await app.recruiting.emit({ tenantId, type: 'job.closed', data: { id: 1 } })
    return { id: 1, tenant: tenantId }
  })
  app.get('/rows', { config, schema: { querystring: list.query, response: { 200: list.page } } }, (request, reply) => {
    const count = async (tenant: string): Promise<number> => Number(tenant)
    return list.read(request, reply, { list: async (tenant) => [{ id: 1, tenant }], count })
  })
}

t.test('a request keeps its tenant if the slug moves to another one while it waits', async (t) => {
  const ids = new Map([['acme', 41]])
  const storage = memoryStorage({
    tenants: {
      41: { jobs: [{ id: 1, name: 'Of 41', status: 'published' }] },
      42: { jobs: [{ id: 2, name: 'Of 42', status: 'published' }] }
    }
  })
  const { open, hasArrived, wait } = createGate()
  const app = await buildApp(t, {
    tenantId: (slug) => ids.get(slug) ?? null,
    storage,
    keyLookup: memoryKeyLookup([{ key, tenantSlug: 'acme', tenantId: '41', scopes: allScopes }]),
    routes,
    after (app) { app.addHook('preHandler', wait) }
  })
  const [one, other] = [{ tenantId: '41' }, { tenantId: '42' }]
  const input = { name: 'ATS', target_url: 'https://example.com/', event_types: ['job.closed'] }
  const ofOne = await app.recruiting.webhooks.create(one, input)
  const ofOther = await app.recruiting.webhooks.create(other, input)
  const ask = async (path: string) => (await app.inject({ url: `${base}/${path}`, headers })).json()
  const answers = ['own', 'rows', 'jobs'].map(ask)
  await hasArrived
  ids.set('acme', 42)
  open()
  const [own, rows, jobs] = await Promise.all(answers)
  t.strictSame(own, { id: 1, tenant: '41' })
  t.strictSame([rows.data, rows.meta.total], [[{ id: 1, tenant: '41' }], 41])
  t.strictSame(jobs.data.map(({ name }: { name: string }) => name), ['Of 41'])
  t.equal((await app.recruiting.webhooks.listDeliveries(one, ofOne.id)).meta.total, 1)
  t.equal((await app.recruiting.webhooks.listDeliveries(other, ofOther.id)).meta.total, 0)
})

t.test('request.recruiting has the caller after the key check', async (t) => {
  const seen: Record<string, ApiCaller | null> = {}
  const note = (name: string) => async (request: FastifyRequest): Promise<void> => { seen[name] = request.recruiting }
  const app = await buildApp(t, {
    openapi: false,
    keyLookup: memoryKeyLookup([
      { key, id: 'k1', tenantSlug: 'acme', scopes: ['jobs:read'] },
      { key: 'limited', id: 'k2', tenantSlug: 'acme', scopes: ['jobs:read'], jobFields: ['name'] }
    ]),
    routes,
    before (app) {
      app.addHook('onRequest', note('onRequest'))
      app.addHook('preHandler', note('preHandler'))
      app.addHook('onResponse', note('onResponse'))
      app.get('/outside', { preHandler: note('outside') }, () => 'outside')
    }
  })
  await app.inject({ url: `${base}/own`, headers })
  const caller = { tenantSlug: 'acme', tenantId: 'acme', keyId: 'k1', actor: null, scopes: ['jobs:read'], fields: null }
  t.strictSame(seen, { onRequest: null, preHandler: caller, onResponse: caller })
  await app.inject({ url: `${base}/jobs`, headers: bearer('limited') })
  t.strictSame(seen.preHandler, { ...caller, keyId: 'k2', fields: { candidate: null, job: ['name'] } })
  await app.inject({ url: `${base}/nothing`, headers })
  t.strictSame(seen.onResponse, caller, 'an unknown path')
  await app.inject({ url: `${base}/jobs`, headers: bearer('unknown') })
  t.equal(seen.onResponse, null, 'an unknown key')
  await app.inject('/outside')
  t.equal(seen.outside, undefined, 'a route outside the API')
})

t.test('a host can have its own request decorator `recruiting`', async (t) => {
  const app = await buildApp(t, {
    before: (app) => {
      app.decorateRequest('recruiting', null as never)
      app.get('/own', async (request) => ({ own: request.recruiting }))
    },
    routes: async (scope) => {
      scope.get('/caller', { config: { scopes: [] }, schema: { response: { 200: Slug } } }, async (request) => ({
        slug: request.recruiting.tenantSlug
      }))
    }
  })
  t.same((await app.inject('/own')).json(), { own: null })
  const answer = await app.inject({ url: '/api/v1/public/acme/caller', headers: bearer(keys.full) })
  t.same([answer.statusCode, answer.json()], [200, { slug: 'acme' }])
})
