import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { type Teardown, bearer, buildApp, keys } from '../../fixtures/api/app.js'
import { addHostRoutes, hostRequests } from '../../fixtures/hosts/own-site.js'
import { sendProbes } from '../../fixtures/fuzz/probes.js'

async function answersAlone (t: Teardown, prepare: (app: FastifyInstance) => void): Promise<string[]> {
  const app = Fastify()
  t.teardown(() => app.close())
  prepare(app)
  return sendProbes(app, hostRequests)
}

t.test('the host\'s own routes answer as they do without the plugin', async (t) => {
  const alone = await answersAlone(t, addHostRoutes)
  t.same(await sendProbes(await buildApp(t, { before: addHostRoutes }), hostRequests), alone, 'routes added before')
  t.same(await sendProbes(await buildApp(t, { after: addHostRoutes }), hostRequests), alone, 'routes added after')
})

t.test('the host\'s own handlers and hooks apply only to its own routes', async (t) => {
  const prepare = (app: FastifyInstance): void => {
    addHostRoutes(app)
    app.setErrorHandler((error: Error, _request, reply) => reply.code(418).send({ mine: error.message }))
    app.setNotFoundHandler((_request, reply) => reply.code(404).send({ mine: 'not found' }))
    app.addHook('preSerialization', async (_request, _reply, payload) => ({ mine: payload }))
    app.addHook('onSend', async (request, reply) => { if (request.url.startsWith('/own')) reply.header('x-mine', '1') })
  }
  const alone = await answersAlone(t, prepare)
  const app = await buildApp(t, { before: prepare })
  t.same(await sendProbes(app, hostRequests), alone)
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
