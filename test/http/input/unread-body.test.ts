import t from 'tap'
import { bearer, buildApp, keys } from '../../fixtures/api/app.js'
import { checkError } from '../../fixtures/api/answers.js'
import { sendRaw } from '../../fixtures/receivers/raw-http.js'
import { spyStorage } from '../../fixtures/delivery/spy-storage.js'

const bodies = {
  'a malformed body': { 'content-type': 'application/json', payload: '{"name":' },
  'a body over 64 KiB': { 'content-type': 'application/json', payload: `"${'x'.repeat(100_000)}"` },
  'a body of another media type': { 'content-type': 'text/xml', payload: '<a/>' },
  'a body with a wrong length': { 'content-type': 'application/json', 'content-length': '7', payload: '{}' }
}

const callers = [
  { who: 'a caller without a key', headers: {}, status: 401 },
  { who: 'a caller with an unknown key', headers: bearer('unknown'), status: 401 },
  { who: 'a caller with the key of another tenant', headers: bearer(keys.globex), status: 401 },
  { who: 'a caller without the scope', headers: bearer(keys.webhooksRead), status: 403 }
]

for (const { who, headers, status } of callers) {
  t.test(`${who} gets ${status}, whatever the body`, async (t) => {
    const { storage, calls } = spyStorage()
    const app = await buildApp(t, { storage })
    for (const [what, { payload, ...bodyHeaders }] of Object.entries(bodies)) {
      const answer = await app.inject({
        method: 'POST',
        url: '/api/v1/public/acme/webhooks',
        headers: { ...bodyHeaders, ...headers },
        payload
      })
      checkError(t, answer, status, what)
    }
    t.same(calls, [], 'the storage is not asked')
  })

  t.test(`${who} is answered before the body has arrived`, async (t) => {
    const app = await buildApp(t)
    const authorization = Object.values(headers).map((value) => `Authorization: ${value}\r\n`).join('')
    const answers = await sendRaw(app, 'POST /api/v1/public/acme/webhooks HTTP/1.1\r\nHost: localhost\r\n' +
      `Content-Type: application/json\r\nContent-Length: 1000000\r\nConnection: close\r\n${authorization}\r\n{`)
    t.equal(answers.length, 1)
    for (const answer of answers) checkError(t, answer, status)
  })
}

t.test('a request for an unknown path is answered before its body has arrived', async (t) => {
  const app = await buildApp(t)
  const answers = await sendRaw(app, 'POST /api/v1/public/acme/nothing HTTP/1.1\r\nHost: localhost\r\n' +
    `Content-Type: application/json\r\nContent-Length: 1000000\r\nConnection: close\r\nAuthorization: Bearer ${keys.full}\r\n\r\n{`)
  t.equal(answers.length, 1)
  for (const answer of answers) checkError(t, answer, 404)
})

t.test('the keys are not asked about a request without a well-formed key', async (t) => {
  const asked: unknown[] = []
  const app = await buildApp(t, { keyLookup: async (credentials) => { asked.push(credentials); return null } })
  const url = '/api/v1/public/acme/webhooks'
  await app.inject({ url })
  await app.inject({ url, headers: { authorization: 'Bearer' } })
  await app.inject({ url, headers: { authorization: 'Basic YWNtZTpzZWNyZXQ=' } })
  t.same(asked, [])
  await app.inject({ url, headers: bearer('a-key') })
  t.same(asked, [{ tenantSlug: 'acme', tenantId: 'acme', key: 'a-key' }])
})
