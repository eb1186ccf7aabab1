import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import t from 'tap'
import { type Teardown, bearer, buildApp, keys } from '../fixtures/app.js'
import { sendProbes } from '../fixtures/probes.js'

/** The host's own routes, which know nothing of the plugin. */
function addHostRoutes (app: FastifyInstance): void {
  app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) => done(null, { text: body }))
  app.get('/own', async (request) => ({ query: request.query, secret: 'the host may say what it likes' }))
  app.get('/own/items/:id', {
    schema: {
      params: { type: 'object', properties: { id: { type: 'integer' } } },
      querystring: { type: 'object', properties: { limit: { type: 'integer', default: 10 } } }
    }
  }, async (request) => [request.params, request.query])
  app.post('/own', { schema: { body: { type: 'object', additionalProperties: false, properties: { a: { type: 'integer' } } } } }, async (request) => request.body)
  app.get('/own/fails', async () => { throw Object.assign(new Error('as it is'), { statusCode: 418, code: 'TEAPOT' }) })
  app.get('/own/denies', async (_request, reply) => reply.code(401).send({ mine: true }))
  app.get('/api/v1/public/status', async () => ({ up: true }))
  app.get('/api/v1/public', async () => ({ index: true }))
}

const requests: InjectOptions[] = [
  { url: '/own?a=1&a=2&b[c]=d' }, { url: '/own?page=0&unknown=1' }, { url: '/own/items/7' }, { url: '/own/items/7?limit=5&extra=1' },
  { url: '/own/items/x' }, { url: '/own/fails' }, { url: '/own/denies' }, { url: '/nothing' }, { url: '/' }, { method: 'HEAD', url: '/own' },
  { method: 'POST', url: '/own', payload: { a: '5', b: 1 } }, { method: 'POST', url: '/own', payload: { a: 'x' } },
  { method: 'POST', url: '/own', headers: { 'content-type': 'text/plain' }, payload: 'text' },
  { method: 'POST', url: '/own', headers: { 'content-type': 'application/json' }, payload: '' },
  { method: 'POST', url: '/own', headers: { 'content-type': 'application/json' }, payload: '{"a":' },
  { method: 'POST', url: '/own', headers: { 'content-type': 'application/xml' }, payload: '<a/>' },
  { method: 'POST', url: '/own', headers: { 'content-type': 'application/json' }, payload: `{"a":${' '.repeat(100_000)}1}` },
  { method: 'PUT', url: '/own' }, { method: 'OPTIONS', url: '/own' }, { url: '/api/v1/public' }, { url: '/api/v1/public/status' },
  { url: '/api/v1' }, { url: '/api/v2/public/acme/candidates' }, { url: '/own/%zz' }, { url: `/own/items/${'1'.repeat(101)}` }
]

async function answersAlone (t: Teardown, prepare: (app: FastifyInstance) => void): Promise<string[]> {
  const app = Fastify()
  t.teardown(() => app.close())
  prepare(app)
  return sendProbes(app, requests)
}

t.test('the host\'s own routes answer as they do without the plugin', async (t) => {
  const alone = await answersAlone(t, addHostRoutes)
  t.same(await sendProbes(await buildApp(t, { before: addHostRoutes }), requests), alone, 'routes added before')
  t.same(await sendProbes(await buildApp(t, { after: addHostRoutes }), requests), alone, 'routes added after')
})

t.test('the host\'s own handlers and hooks answer for its own routes alone', async (t) => {
  const prepare = (app: FastifyInstance): void => {
    addHostRoutes(app)
    app.setErrorHandler((error: Error, _request, reply) => reply.code(418).send({ mine: error.message }))
    app.setNotFoundHandler((_request, reply) => reply.code(404).send({ mine: 'not found' }))
    app.addHook('preSerialization', async (_request, _reply, payload) => ({ mine: payload }))
    app.addHook('onSend', async (request, reply) => { if (request.url.startsWith('/own')) reply.header('x-mine', '1') })
  }
  const alone = await answersAlone(t, prepare)
  const app = await buildApp(t, { before: prepare })
  t.same(await sendProbes(app, requests), alone)
  t.same((await app.inject({ url: '/api/v1/public/acme/webhooks/1', headers: bearer(keys.full) })).json().error.code, 'not_found')
})

t.test('a host can mount the API under a prefix of its own, beside another', async (t) => {
  const app = await buildApp(t, { prefix: '/hr/v1' })
  const answer = await app.inject({ url: '/hr/v1/acme/jobs?per_page=1', headers: bearer(keys.full) })
  t.equal(answer.statusCode, 200)
  t.equal(answer.headers.link, '</hr/v1/acme/jobs?page=1&per_page=1&sort=id>; rel="first", ' +
    '</hr/v1/acme/jobs?page=2&per_page=1&sort=id>; rel="next", </hr/v1/acme/jobs?page=2&per_page=1&sort=id>; rel="last"')
  t.equal((await app.inject({ url: '/hr/v1/acme/nothing' })).json().error.code, 'unauthorized')
  t.equal((await app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer(keys.full) })).json().message,
    'Route GET:/api/v1/public/acme/jobs not found')
})
