import t from 'tap'
import { Type } from '@sinclair/typebox'
import { checkError } from '../fixtures/api/answers.js'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { captureLogs } from '../fixtures/api/logs.js'

t.test('an answer of a status that its operation does not declare gets 500, and the log says why', async (t) => {
  const { logger, waitFor } = captureLogs()
  const app = await buildApp(t, {
    server: { logger },
    async routes (app) {
      const schema = { response: { 200: Type.Object({ id: Type.Integer() }) } }
      app.get('/interviews', { config: { scopes: [] }, schema }, async (_request, reply) => {
        reply.statusCode = 202
        return { id: 1, secret: 'canary' }
      })
    }
  })
  checkError(t, await app.inject({ url: '/api/v1/public/acme/interviews', headers: bearer(keys.none) }), 500)
  t.equal((await waitFor('request failed')).err?.message, 'the route declares no response for status 202')
})
