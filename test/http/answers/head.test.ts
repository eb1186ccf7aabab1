import t from 'tap'
import { memoryStorage } from '../../../src/memory/index.js'
import { bearer, keys, tenants } from '../../fixtures/api/app.js'
import { buildAppWithRoutes, titleOf, urlOf } from '../../fixtures/api/routes.js'
import { sendRaw } from '../../fixtures/receivers/raw-http.js'
import { recordEvents, storeWebhook } from '../../fixtures/api/webhooks.js'

const callers = {
  'a full key': bearer(keys.full),
  'a key without scopes': bearer(keys.none),
  'an unknown key': bearer('unknown'),
  'no key': {}
}

t.test('HEAD answers every GET operation with the status and headers of GET, and no body', async (t) => {
  const storage = memoryStorage({ tenants })
  await storeWebhook(storage, 'acme')
  await recordEvents(storage, 'acme', 1)
  const { app, routes } = await buildAppWithRoutes(t, { storage })
  for (const route of routes.filter(({ method }) => method === 'GET')) {
    for (const [who, headers] of Object.entries(callers)) {
      for (const query of ['', '?unknown=1']) {
        const url = urlOf(route) + query
        const get = await app.inject({ method: 'GET', url, headers })
        const head = await app.inject({ method: 'HEAD', url, headers })
        const { 'x-request-id': id, date, ...rest } = head.headers
        const { 'x-request-id': idOfGet, date: dateOfGet, ...restOfGet } = get.headers
        t.same([head.statusCode, rest], [get.statusCode, restOfGet], `${titleOf(route)}${query} with ${who}`)
        t.match(id, /^req_/)
        t.equal(head.body, '')
      }
    }
  }
})

t.test('HEAD of an operation that has no GET gets 404', async (t) => {
  const { app, routes } = await buildAppWithRoutes(t)
  const gets = new Set(routes.filter(({ method }) => method === 'GET').map(({ path }) => path))
  // There the last part is read as an id.
  const others = routes.filter(({ path }) => !gets.has(path) && path !== '/webhooks/preview')
  t.ok(others.length >= 3)
  for (const route of others) {
    const answer = await app.inject({ method: 'HEAD', url: urlOf(route), headers: bearer(keys.full) })
    t.equal(answer.statusCode, 404, titleOf(route))
  }
})

t.test('nothing follows the headers of HEAD on the wire', async (t) => {
  const { app } = await buildAppWithRoutes(t)
  for (const authorization of [keys.full, 'unknown']) {
    const request = (method: string, connection: string): string =>
      `${method} /api/v1/public/acme/candidates HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\nAuthorization: Bearer ${authorization}\r\n\r\n`
    const answers = await sendRaw(app, request('HEAD', 'close'))
    t.equal(answers.length, 1)
    for (const { body, headers } of answers) {
      t.equal(body, '')
      t.ok(Number(headers['content-length']) > 0)
    }
  }
})
