import t from 'tap'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'

const url = '/api/v1/public/openapi.json'

t.test('the document needs no key, and a wrong one does no harm', async (t) => {
  const app = await buildApp(t)
  const open = await app.inject({ url })
  t.equal(open.statusCode, 200)
  t.equal(open.headers['content-type'], 'application/json; charset=utf-8')
  t.equal(open.json().openapi, '3.1.0')
  for (const headers of [bearer('unknown'), bearer(keys.none), { authorization: 'nonsense' }]) {
    const answer = await app.inject({ url, headers })
    t.same([answer.statusCode, answer.body], [200, open.body])
  }
})

t.test('HEAD of the document answers like GET without a body', async (t) => {
  const app = await buildApp(t, { server: { exposeHeadRoutes: false } })
  const head = await app.inject({ method: 'HEAD', url })
  const get = await app.inject({ url })
  t.same([head.statusCode, head.body, head.headers['content-length']], [200, '', get.headers['content-length']])
})

t.test('without the option openapi its path is one like any other', async (t) => {
  const app = await buildApp(t, { openapi: false })
  checkError(t, await app.inject({ url }), 401)
})

t.test('another method on its path needs a key, as below any tenant', async (t) => {
  const app = await buildApp(t)
  checkError(t, await app.inject({ method: 'POST', url, payload: {} }), 401)
})
