import t from 'tap'
import { bearer, buildApp, keys } from '../fixtures/app.js'

// The fixture holds every answer of the suite against the document. Would it notice?

const candidates = '/api/v1/public/acme/candidates'

t.test('an answer that the document has passes', async (t) => {
  const app = await buildApp(t)
  await t.resolves(app.inject({ url: candidates, headers: bearer(keys.full) }))
})

for (const [what, change, message] of [
  ['a body that breaks its schema', () => ({ payload: '{"data":[{"id":"1"}]}' }), /is not as documented/],
  ['a status that is not declared', () => ({ status: 418 }), /418 is not in the document/],
  ['a header that is missing', () => ({ header: 'link' }), /lacks the header link/]
] as Array<[string, () => { payload?: string, status?: number, header?: string }, RegExp]>) {
  t.test(`${what} is noticed`, async (t) => {
    const app = await buildApp(t, {
      before (app) {
        app.addHook('onSend', async ({ url }, reply, sent) => {
          if (!url.startsWith(candidates)) return sent
          const { payload = sent, status, header } = change()
          if (status !== undefined) reply.code(status)
          if (header !== undefined) reply.removeHeader(header)
          return payload
        })
      }
    })
    await t.rejects(app.inject({ url: candidates, headers: bearer(keys.full) }), message)
  })
}
