import t from 'tap'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import type { OpenApi } from '../fixtures/api/document.js'

t.test('a 503 that a hook of the host throws is in the document of every operation, written once', async (t) => {
  const error = Object.assign(new Error('busy'), { statusCode: 503, headers: { 'retry-after': '7' } })
  const app = await buildApp(t, {
    before (app) { app.addHook('onRequest', async (request) => { if (request.routeOptions.config.recruitingApi && request.url.includes('acme')) throw error }) }
  })
  const { paths, components } = (await app.inject('/api/v1/public/openapi.json')).json<OpenApi>()
  for (const { operationId, responses } of Object.values(paths).flatMap((item) => Object.values(item))) {
    t.same(responses['503'], { $ref: '#/components/responses/Unavailable' }, operationId)
  }
  t.same(Object.keys(components.responses.Unavailable?.headers ?? {}), ['x-request-id', 'retry-after'])
  const answer = await app.inject({ url: '/api/v1/public/acme/jobs', headers: bearer(keys.full) })
  checkError(t, answer, 503)
  t.equal(answer.headers['retry-after'], '7')
})
