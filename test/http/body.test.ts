import { connect } from 'node:net'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { bearer, buildApp, keys } from '../fixtures/api/app.js'
import { type Answer, checkError } from '../fixtures/api/answers.js'
import { listen, sendRaw } from '../fixtures/receivers/raw-http.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { buildAppWithWebhook } from '../fixtures/api/routes.js'
import { sendOverSocket } from '../fixtures/fuzz/fuzz-socket.js'

const url = '/api/v1/public/acme/webhooks'
const good = '{"name":"ATS events","target_url":"https://example.com/hook","event_types":["application.created"]}'
const headers = { ...bearer(keys.full), 'content-type': 'application/json' }

t.test('a body of 64 KiB is accepted and one byte more gets 400, regardless of the host\'s limit', async (t) => {
  for (const bodyLimit of [10, 10_000_000]) {
    const { storage, calls } = spyStorage()
    const app = await buildApp(t, { storage, server: { bodyLimit } })
    checkError(t, await app.inject({ method: 'POST', url, headers, payload: good.padEnd(65_537) }), 400)
    checkError(t, await app.inject({ method: 'POST', url, headers, payload: good.padEnd(2_000_000) }), 400)
    t.same(calls, [])
    t.equal((await app.inject({ method: 'POST', url, headers, payload: good.padEnd(65_536) })).statusCode, 201)
  }
})

/** Sends the head of a POST and the beginning of its body. */
function sendHead (app: FastifyInstance, path: string, key: string | null, rest: string): Promise<Answer[]> {
  const authorization = key === null ? '' : `Authorization: Bearer ${key}\r\n`
  const type = 'Content-Type: application/json'
  return sendRaw(app, `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${type}\r\n${authorization}${rest}`)
}

t.test('a body with a Content-Length that is too large, or that grows too large in chunks, gets 400', async (t) => {
  const app = await buildApp(t)
  const chunks = `8000\r\n${'x'.repeat(0x8000)}\r\n`.repeat(3)
  for (const rest of ['Content-Length: 65537\r\n\r\n{', `Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`]) {
    const answers = await sendHead(app, url, keys.full, rest)
    t.equal(answers.length, 1)
    for (const answer of answers) checkError(t, answer, 400)
  }
})

const json = 'application/json'

const bodies: Record<string, { type?: string, payload: string | Buffer }> = {
  'an empty body': { type: json, payload: '' },
  'no body and no media type': { payload: '' },
  'half a body': { type: json, payload: good.slice(0, -1) },
  'two bodies': { type: json, payload: good + good },
  'a comment': { type: json, payload: `/* */${good}` },
  'a form': { type: 'application/x-www-form-urlencoded', payload: 'name=ATS+events' },
  null: { type: json, payload: 'null' },
  'an array': { type: json, payload: `[${good}]` },
  __proto__: { type: json, payload: good.replace('{', '{"__proto__":{"status":"active"},') },
  'an escaped __proto__': { type: json, payload: good.replace('{', '{"\\u005f_proto__":{},') },
  'constructor.prototype': { type: json, payload: good.replace('{', '{"constructor":{"prototype":{}},') },
  'Latin-1': { type: json, payload: Buffer.from(good.replace('ATS', 'Bücher'), 'latin1') },
  'UTF-16': { type: 'application/json; charset=utf-16', payload: Buffer.from(good, 'utf16le') },
  'a surrogate encoded as UTF-8': { type: json, payload: Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]) },
  gzip: { type: json, payload: Buffer.from('1f8b0800000000000003', 'hex') },
  'no media type': { payload: good },
  'the media type text/json': { type: 'text/json', payload: good },
  'two media types': { type: 'text/plain, application/json', payload: good },
  'a multipart body': { type: 'multipart/form-data; boundary=x', payload: '--x--' }
}

t.test('an unreadable or empty body gets 400 and never reaches the storage', async (t) => {
  const { storage, calls } = spyStorage()
  const app = await buildApp(t, { storage })
  for (const [what, { type, payload }] of Object.entries(bodies)) {
    const headers = { ...bearer(keys.full), ...(type === undefined ? {} : { 'content-type': type }) }
    checkError(t, await app.inject({ method: 'POST', url, headers, payload }), 400, what)
  }
  t.same(calls, [])
})

t.test('the media type is accepted in any letter case and with parameters', async (t) => {
  const app = await buildApp(t)
  for (const type of [json, 'Application/JSON', 'application/json;charset=utf-8', 'application/json; charset=UTF-8', 'application/json; x=y']) {
    const headers = { ...bearer(keys.full), 'content-type': type }
    const answer = await app.inject({ method: 'POST', url, headers, payload: good })
    t.equal(answer.statusCode, 201, type)
  }
})

t.test('a body whose length differs from Content-Length gets 400', async (t) => {
  const app = await buildApp(t)
  for (const length of [good.length - 1, good.length + 1]) {
    const headers = { ...bearer(keys.full), 'content-type': json, 'content-length': String(length) }
    checkError(t, await app.inject({ method: 'POST', url, headers, payload: good }), 400, `${length} bytes`)
  }
})

t.test('a body that never arrives completely is not a server error', async (t) => {
  const logs = captureLogs()
  const app = await buildApp(t, { server: { logger: logs.logger } })
  const { port } = new URL(await listen(app))
  const socket = connect(Number(port), '127.0.0.1', () => {
    socket.end(`POST ${url} HTTP/1.1\r\nHost: a\r\nContent-Type: ${json}\r\nAuthorization: Bearer ${keys.full}\r\nContent-Length: 100\r\n\r\n{`)
  })
  t.same((await logs.waitFor('request rejected')).details, [{ in: 'body', field: '', message: 'must arrive whole' }])
  t.same(logs.lines.filter(({ level }) => level > 30), [])
})

const base = '/api/v1/public/acme'

const operations = [
  ['GET', '/candidates', 200], ['GET', '/jobs', 200], ['GET', '/webhooks', 200], ['GET', '/webhooks/1', 200],
  ['GET', '/webhooks/1/deliveries', 200], ['GET', '/webhooks/1/deliveries/1', 200], ['POST', '/webhooks/1/rotate_secret', 200],
  ['POST', '/webhooks/1/dispatch_test', 200], ['POST', '/webhooks/1/replay', 202],
  ['POST', '/webhooks/1/deliveries/1/retry', 202], ['DELETE', '/webhooks/1', 204]
] as const

t.test('operations without a body accept no body, or an empty one: with a length of 0, or in chunks', async (t) => {
  for (const [method, path, status] of operations) {
    const plain = await buildAppWithWebhook(t)
    const [one, other] = [await buildAppWithWebhook(t), await buildAppWithWebhook(t)]
    const without = await plain.app.inject({ method, url: base + path, headers: bearer(keys.full) })
    const head = `${method} ${base}${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ${keys.full}\r\n` +
      'Content-Type: application/json\r\n'
    const [measured] = await sendRaw(one.app, `${head}Content-Length: 0\r\n\r\n`)
    const [chunked] = await sendRaw(other.app, `${head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`)
    t.same([without.statusCode, measured?.statusCode, chunked?.statusCode], [status, status, status], `${method} ${path}`)
  }
})

function nestedArrays (depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth)
}

function nestedObjects (depth: number): string {
  return `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
}

/** The body itself is the first level. */
const payloads = [`{"name":${nestedArrays(100)}}`, `{"event_types":[${nestedObjects(1990)}]}`, nestedObjects(10_000), nestedArrays(32_000)]

t.test('a body nested more than 100 levels deep gets a 400 with the reason', async (t) => {
  const logs = captureLogs()
  const app = await buildApp(t, { errorDetails: true, server: { logger: logs.logger } })
  for (const payload of payloads) {
    logs.lines.length = 0
    const answer = await sendOverSocket(app, { method: 'POST', url, headers, payload })
    const details = [{ in: 'body', field: '', message: 'is nested more than 100 levels deep' }]
    t.equal(answer.statusCode, 400)
    t.same(JSON.parse(answer.body).error.details, details)
    t.same((await logs.waitFor('request rejected')).details, details)
  }
})

t.test('a body nested 100 levels deep is accepted', async (t) => {
  const app = await buildApp(t, {
    async routes (app) {
      const schema = { body: Type.Unknown(), response: { 200: Type.Object({ body: Type.String() }) } }
      app.post('/anything', { config: { scopes: [] }, schema }, async ({ body }) => ({ body: JSON.stringify(body) }))
    }
  })
  for (const payload of [nestedArrays(100), nestedObjects(100)]) {
    const answer = await sendOverSocket(app, { method: 'POST', url: '/api/v1/public/acme/anything', headers, payload })
    t.same(JSON.parse(answer.body), { body: payload })
  }
})

t.test('a request without access, or to an unknown path, gets its response before the body has arrived', async (t) => {
  for (const [key, status, path = url] of [
    [null, 401], ['unknown', 401], [keys.globex, 401], [keys.webhooksRead, 403],
    [keys.full, 404, '/api/v1/public/acme/nothing']
  ] as const) {
    const answers = await sendHead(await buildApp(t), path, key, 'Content-Length: 1000000\r\n\r\n{')
    t.equal(answers.length, 1)
    for (const answer of answers) checkError(t, answer, status)
  }
})
