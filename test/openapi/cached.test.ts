import rateLimit from '@fastify/rate-limit'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { buildApp } from '../fixtures/api/app.js'

const url = '/api/v1/public/openapi.json'

t.test('a client that has the document already gets 304 without a body, by GET and by HEAD', async (t) => {
  const app = await buildApp(t)
  const first = await app.inject(url)
  const etag = String(first.headers.etag)
  t.match(etag, /^W\/"[\w-]{43}"$/)
  t.equal(first.headers['cache-control'], 'no-cache')
  for (const known of [etag, etag.slice(2), `"other", ${etag}`, ` ${etag} ,"other"`, '*']) {
    for (const method of ['GET', 'HEAD'] as const) {
      const { statusCode, body, headers } = await app.inject({ method, url, headers: { 'if-none-match': known } })
      t.same([statusCode, body, headers.etag, headers['content-type']], [304, '', etag, undefined], `${method} ${known}`)
    }
  }
})

t.test('any other tag gets the whole document', async (t) => {
  const app = await buildApp(t)
  const { body, headers: { etag = '' } } = await app.inject(url)
  for (const known of ['"other"', '', String(etag).slice(3, -1), `${etag}x`, '"*"']) {
    const answer = await app.inject({ url, headers: { 'if-none-match': known } })
    t.same([answer.statusCode, answer.body, answer.headers.etag], [200, body, etag], known)
  }
})

t.test('another document has another tag', async (t) => {
  const usual = await (await buildApp(t)).inject(url)
  const own = await (await buildApp(t, { candidateFields: Type.Object({ city: Type.String() }) })).inject(url)
  t.not(own.headers.etag, usual.headers.etag)
  const again = await (await buildApp(t)).inject(url)
  t.equal(again.headers.etag, usual.headers.etag, 'and the same one has the same, in every process')
})

t.test('each request is answered with the same bytes', async (t) => {
  const payloads: unknown[] = []
  const app = await buildApp(t, {
    before (app) {
      app.addHook('onSend', async (_request, _reply, payload) => { payloads.push(payload) })
    }
  })
  await app.inject(url)
  await app.inject(url)
  const [first, second] = payloads
  t.ok(Buffer.isBuffer(first))
  t.equal(second, first)
})

t.test('a host that limits requests limits those of the document as well', async (t) => {
  const app = await buildApp(t, { before: async (app) => { await app.register(rateLimit, { max: 2 }) } })
  const statuses = []
  for (let sent = 0; sent < 3; sent++) statuses.push((await app.inject(url)).statusCode)
  t.same(statuses, [200, 200, 429])
})
