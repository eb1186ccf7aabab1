import t from 'tap'
import { bearer, buildApp, keys } from '../../fixtures/api/app.js'
import { checkError } from '../../fixtures/api/answers.js'
import { sendRaw } from '../../fixtures/receivers/raw-http.js'
import { spyStorage } from '../../fixtures/delivery/spy-storage.js'

const url = '/api/v1/public/acme/webhooks'
const good = '{"name":"ATS events","target_url":"https://example.com/hook","event_types":["application.created"]}'
const headers = { ...bearer(keys.full), 'content-type': 'application/json' }

function ofLength (bytes: number): string {
  return good.padEnd(bytes, ' ')
}

for (const bodyLimit of [undefined, 10, 10_000_000]) {
  const host = bodyLimit === undefined ? 'of a host with no limit of its own' : `of a host with a limit of ${bodyLimit} bytes`

  t.test(`a body of 64 KiB is read, one byte more gets 400: the API ${host}`, async (t) => {
    const { storage, calls } = spyStorage()
    const app = await buildApp(t, { storage, ...(bodyLimit === undefined ? {} : { server: { bodyLimit } }) })
    checkError(t, await app.inject({ method: 'POST', url, headers, payload: ofLength(65537) }), 400, '64 KiB and a byte')
    checkError(t, await app.inject({ method: 'POST', url, headers, payload: ofLength(2_000_000) }), 400, '2 MB')
    t.same(calls, [])
    const answer = await app.inject({ method: 'POST', url, headers, payload: ofLength(65536) })
    t.equal(answer.statusCode, 201)
  })
}

t.test('a body that is announced as too large gets 400 before it arrives', async (t) => {
  const app = await buildApp(t)
  const answers = await sendRaw(app, `POST ${url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n` +
    `Authorization: Bearer ${keys.full}\r\nContent-Length: 65537\r\n\r\n{`)
  t.equal(answers.length, 1)
  for (const answer of answers) checkError(t, answer, 400)
})

t.test('a body in chunks that grows too large gets 400', async (t) => {
  const app = await buildApp(t)
  const chunk = 'x'.repeat(0x8000)
  const answers = await sendRaw(app, `POST ${url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n` +
    `Authorization: Bearer ${keys.full}\r\nTransfer-Encoding: chunked\r\n\r\n${`8000\r\n${chunk}\r\n`.repeat(3)}0\r\n\r\n`)
  t.equal(answers.length, 1)
  for (const answer of answers) checkError(t, answer, 400)
})
