import t from 'tap'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'

// The fixture holds every answer of the suite against the document. Would it notice?

const candidates = '/api/v1/public/acme/candidates'

t.test('an answer that the document has passes', async (t) => {
  const app = await buildApp(t)
  await t.resolves(app.inject({ url: candidates, headers: bearer(keys.full) }))
})

const headers = { 'x-request-id': 'req_1', link: '</>; rel="first"', 'content-type': 'application/json' }
const page = '{"data":[],"meta":{"page":1,"per_page":25,"total":0,"total_pages":0}}'

for (const [what, answer, message] of [
  ['a body that breaks its schema', { payload: '{"data":[{"id":"1"}]}' }, /is not as documented/],
  ['a status that is not declared', { status: 418 }, /418 is not in the document/],
  ['a header that is missing', { missing: 'link' }, /lacks the header link/]
] as Array<[string, { payload?: string, status?: number, missing?: string }, RegExp]>) {
  t.test(`${what} is noticed`, async (t) => {
    const { payload = page, status = 200, missing = '' } = answer
    const app = await buildApp(t, {
      before (app) {
        app.addHook('onRequest', async (_request, reply) => reply.code(status).headers(headers).removeHeader(missing).send(payload))
      }
    })
    await t.rejects(app.inject({ url: candidates, headers: bearer(keys.full) }), message)
  })
}
