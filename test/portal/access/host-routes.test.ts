import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { bearer, buildApp, keys } from '../../fixtures/api/app.js'
import { assertRefusedByPlugin } from '../../fixtures/refused-option.js'
import { createToken, portal } from '../../fixtures/portal/sessions.js'

const schema = { response: { 200: Type.Object({}) } }

/** Operations of a host, each with what it declares. */
const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/reads', { config: { scopes: [] }, schema }, async () => ({}))
  app.get('/reads-bodies', { config: { scopes: ['webhooks:read'], capabilities: ['bodies'] }, schema }, async () => ({}))
  app.get('/candidates-too', { config: { scopes: ['candidates:read'] }, schema }, async () => ({}))
  app.post('/changes', { config: { scopes: [] }, schema }, async () => ({}))
  app.route({ method: ['GET', 'POST'], url: '/both', config: { scopes: [] }, schema, handler: async () => ({}) })
  app.post('/searches', { config: { scopes: [], capabilities: ['read'] }, schema }, async () => ({}))
  app.delete('/replays', { config: { scopes: [], capabilities: ['replay', 'write'] }, schema }, async () => ({}))
}

const requests = [
  ['GET', '/reads'], ['HEAD', '/reads'], ['GET', '/reads-bodies'], ['GET', '/candidates-too'], ['POST', '/changes'], ['GET', '/both'], ['POST', '/both'],
  ['POST', '/searches'], ['DELETE', '/replays']
] as const

t.test('operations of the host need what they declare, and write if they declare nothing and change something', async (t) => {
  const app = await buildApp(t, { portal, routes })
  const open = async (key: string): Promise<string[]> => {
    const answers = await Promise.all(requests.map(([method, path]) => app.inject({ method, url: `/api/v1/public/acme${path}`, headers: bearer(key) })))
    t.same(answers.filter(({ statusCode }) => ![200, 403].includes(statusCode)), [])
    return requests.filter((_request, index) => answers[index]?.statusCode === 200).map((request) => request.join(' '))
  }
  const reading = ['GET /reads', 'HEAD /reads', 'POST /searches']
  t.same((await open(await createToken(app, ['read']))).sort(), reading)
  t.same((await open(await createToken(app, ['bodies']))).sort(), ['GET /reads', 'GET /reads-bodies', 'HEAD /reads', 'POST /searches'])
  t.same((await open(await createToken(app, ['replay']))).sort(), reading)
  t.same((await open(await createToken(app, ['write']))).sort(), ['GET /both', 'GET /reads', 'HEAD /reads', 'POST /both', 'POST /changes', 'POST /searches'])
  t.same((await open(await createToken(app))).sort(), [
    'DELETE /replays', 'GET /both', 'GET /reads', 'GET /reads-bodies', 'HEAD /reads', 'POST /both', 'POST /changes', 'POST /searches'
  ])
  t.equal((await open(keys.full)).length, requests.length, 'a key needs no capabilities')
})

t.test('capabilities that do not exist are refused at registration', async (t) => {
  const names = 'read, write, secrets, bodies, test, replay'
  for (const [capabilities, shown] of [['write', '"write"'], [['writes'], 'an array'], [null, 'null']] as const) {
    const wrong: FastifyPluginAsyncTypebox = async (app) => {
      const config: object = { scopes: [], capabilities }
      app.get('/x', { config, schema }, async () => ({}))
    }
    await assertRefusedByPlugin(t, [
      { routes: wrong }, 'routes', `config.capabilities of GET /api/v1/public/:tenant_slug/x to be an array of ${names}`, shown
    ])
  }
})
