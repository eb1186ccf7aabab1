import t from 'tap'
import { memoryStorage } from '../../../src/memory/index.js'
import { bearer, buildApp, keys, tenants } from '../../fixtures/api/app.js'
import { checkError } from '../../fixtures/api/answers.js'
import { recordEvents, storeWebhook } from '../../fixtures/api/webhooks.js'
import { sendRaw } from '../../fixtures/receivers/raw-http.js'

const base = '/api/v1/public/acme'

const operations = [
  ['GET', '/candidates', 200], ['GET', '/jobs', 200], ['GET', '/webhooks', 200], ['GET', '/webhooks/1', 200],
  ['GET', '/webhooks/1/deliveries', 200], ['GET', '/webhooks/1/deliveries/1', 200], ['POST', '/webhooks/1/rotate_secret', 200],
  ['POST', '/webhooks/1/dispatch_test', 200], ['POST', '/webhooks/1/replay', 202],
  ['POST', '/webhooks/1/deliveries/1/retry', 202], ['DELETE', '/webhooks/1', 204]
] as const

async function buildWithWebhook (t: Parameters<typeof buildApp>[0]) {
  const storage = memoryStorage({ tenants })
  await storeWebhook(storage, 'acme')
  await recordEvents(storage, 'acme', 1)
  return buildApp(t, { storage })
}

for (const [method, path, status] of operations) {
  t.test(`${method} ${path} takes application/json with an empty body for no body`, async (t) => {
    const app = await buildWithWebhook(t)
    const headers = { ...bearer(keys.full), 'content-type': 'application/json' }
    const answer = await app.inject({ method, url: base + path, headers, payload: '' })
    t.equal(answer.statusCode, status)
  })

  t.test(`${method} ${path} takes no body without a media type`, async (t) => {
    const app = await buildWithWebhook(t)
    t.equal((await app.inject({ method, url: base + path, headers: bearer(keys.full) })).statusCode, status)
  })

  t.test(`${method} ${path} takes an empty body on the wire, with a length of 0 and in chunks`, async (t) => {
    const head = `${method} ${base}${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${keys.full}\r\n` +
      'Content-Type: application/json\r\n'
    const [measured] = await sendRaw(await buildWithWebhook(t), `${head}Content-Length: 0\r\n\r\n`)
    const [chunked] = await sendRaw(await buildWithWebhook(t), `${head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`)
    t.same([measured?.statusCode, chunked?.statusCode], [status, status])
  })
}

t.test('operations that need a body refuse an empty one', async (t) => {
  const app = await buildWithWebhook(t)
  for (const [method, path] of [['POST', '/webhooks'], ['PATCH', '/webhooks/1']] as const) {
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      const answer = await app.inject({ method, url: base + path, headers: { ...bearer(keys.full), ...headers }, payload: '' })
      checkError(t, answer, 400, `${method} ${path}`)
    }
  }
})
