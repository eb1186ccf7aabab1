import { gunzipSync } from 'node:zlib'
import compress from '@fastify/compress'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { HttpError } from '../../src/index.js'
import { type AppOverrides, bearer, buildApp, keys, type Teardown } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { hostileErrors } from '../fixtures/hostile/hostile-errors.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'

const base = '/api/v1/public/acme'
const headers = bearer(keys.full)

t.test('changes by an onSend hook of the host are sent', async (t) => {
  const app = await buildApp(t, {
    openapi: false,
    before (app) {
      app.addHook('onSend', async (_request, reply, payload) => {
        reply.code(reply.statusCode + 1).headers({ 'content-type': 'text/plain', 'cache-control': 'public' })
        return `mine: ${String(payload).length}`
      })
    }
  })
  for (const [url, status] of [[`${base}/jobs`, 201], [`${base}/jobs/9`, 405]] as const) {
    const answer = await app.inject({ url, headers })
    t.equal(answer.statusCode, status)
    t.match(answer.body, /^mine: \d+$/)
    t.match(answer.headers, { 'content-type': 'text/plain', 'cache-control': 'public' })
  }
})

t.test('a hook that changes the tenant gives no access to that tenant\'s data', async (t) => {
  const named = await buildApp(t, {
    after (app) {
      app.addHook('onRequest', async (request) => { Object.assign(request.params as object, { tenant_slug: 'globex' }) })
    }
  })
  checkError(t, await named.inject({ url: `${base}/jobs`, headers }), 401)
  for (const hook of ['preParsing', 'preValidation', 'preHandler'] as const) {
    const app = await buildApp(t, {
      after (app) { app.addHook(hook as 'preValidation', async (request) => { Object.assign(request.params as object, { tenant_slug: 'globex' }) }) }
    })
    const { data } = (await app.inject({ url: `${base}/jobs`, headers })).json<{ data: Array<{ name: string }> }>()
    t.same(data.map(({ name }) => name), ['Compiler Engineer', 'Cryptanalyst'], hook)
  }
})

t.test('a response sent by a host hook does not change', async (t) => {
  const app = await buildApp(t, {
    openapi: false,
    before (app) { app.addHook('onRequest', async (_request, reply) => reply.code(418).send({ mine: true })) }
  })
  const answer = await app.inject({ url: `${base}/jobs`, headers })
  t.same([answer.statusCode, answer.body], [418, '{"mine":true}'])
})

t.test('a body compressed by the host decompresses to the API\'s body', async (t) => {
  const before = async (app: FastifyInstance) => { await app.register(compress, { threshold: 0 }) }
  const app = await buildApp(t, { openapi: false, before })
  const plain = await app.inject({ url: `${base}/jobs`, headers })
  const answer = await app.inject({ url: `${base}/jobs`, headers: { ...headers, 'accept-encoding': 'gzip' } })
  t.match(answer.headers, { 'content-encoding': 'gzip', 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
  t.equal(gunzipSync(answer.rawPayload).toString(), plain.body)
})

const schema = { response: { 200: Type.Object({ sum: Type.Integer() }) } }

t.test('hooks of the option routes can change query, body and response of its own operations', async (t) => {
  const app = await buildApp(t, {
    before (app) { app.addHook('preValidation', async (request) => { request.query = { canary: '1' } }) },
    async routes (routes) {
      routes.addHook('preValidation', async (request) => { Object.assign(request.query as object, { b: '2' }) })
      routes.addHook('onSend', async (_request, _reply, payload) => String(payload).replace('3', '4'))
      routes.get('/sum', {
        config: { scopes: [] },
        schema: {
          ...schema, querystring: Type.Object({ a: Type.Integer(), b: Type.Integer() }, { additionalProperties: false })
        }
      }, async ({ query }) => ({ sum: query.a + query.b }))
    }
  })
  t.equal((await app.inject({ url: `${base}/sum?a=1`, headers })).body, '{"sum":4}')
})

t.test('an error that a handler passes to reply.send gets 500, with any status', async (t) => {
  const logs = captureLogs()
  const app = await buildApp(t, {
    server: { logger: logs.logger },
    async routes (routes) {
      routes.get('/sends', { config: { scopes: [] }, schema }, async (_request, reply) => {
        return (reply as FastifyReply).code(404).send(Object.assign(new Error('canary'), { statusCode: 404 }))
      })
    }
  })
  checkError(t, await app.inject({ url: `${base}/sends`, headers }), 500)
  t.match(await logs.waitFor('request failed'), { err: { message: 'canary' } })
})

t.test('an error thrown after the response is logged and changes nothing', async (t) => {
  const logs = captureLogs()
  const thrown = [Object.freeze(new Error('canary')), new HttpError('not_found')]
  const app = await buildApp(t, {
    server: { logger: logs.logger },
    async routes (routes) {
      routes.get('/late', { config: { scopes: [] }, schema }, async (_request, reply) => {
        reply.send({ sum: 1 })
        throw thrown.shift()
      })
    }
  })
  for (const message of ['canary', 'Resource was not found']) {
    logs.lines.length = 0
    t.equal((await app.inject({ url: `${base}/late`, headers })).body, '{"sum":1}')
    t.match(await logs.waitFor('request failed after its response'), { err: { message } })
  }
})

const message = 'thrown by a host hook, not by the API'

const hooks = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const

type Run = (
  request: unknown, reply: { code (status: number): unknown, header (name: string, value: string): unknown }
) => void

/** A host with this hook. Its document does not declare the errors of its hooks. */
function buildHost (t: Teardown, run: Run, { hook = 'onRequest' as typeof hooks[number], ...overrides }: AppOverrides & { hook?: typeof hooks[number] } = {}): Promise<FastifyInstance> {
  return buildApp(t, {
    openapi: false,
    before (app) { app.addHook(hook as 'onRequest', async (request, reply) => { run(request, reply) }) },
    ...overrides
  })
}

const statuses: Array<[thrown: unknown, status: number]> = [
  ...[401, 403, 404, 429, 503].map((status): [unknown, number] => [{ statusCode: status }, status]),
  ...[400, 402, 405, 409, 413, 415, 418, 422, 499].map((status): [unknown, number] => [{ statusCode: status }, 400]),
  ...[200, 302, 399, 500, 502, 504, 600, NaN, null, {}].map((statusCode): [unknown, number] => [{ statusCode }, 500]),
  [{}, 500], [{ status: 403 }, 403], [{ statusCode: 'none', status: 403 }, 403], [{ statusCode: '503' }, 503],
  [{ statusCode: 401, status: 403 }, 401]
]

for (const hook of hooks) {
  t.test(`an error from the host's ${hook} hook gets a response in our format, and the log shows its origin`, async (t) => {
    const logs = captureLogs()
    let thrown: unknown
    const app = await buildHost(t, () => { throw thrown }, { hook, server: { logger: logs.logger } })
    for (const [fields, status] of statuses) {
      thrown = Object.assign(new Error('canary'), fields)
      const answer = await app.inject({ url: `${base}/jobs`, headers })
      checkError(t, answer, status, JSON.stringify(fields))
      t.notMatch(JSON.stringify(answer.headers), 'canary')
    }
    const values = { ...hostileErrors, 'a string': 'canary', nothing: undefined, null: null }
    for (const [what, value] of Object.entries(values)) {
      thrown = value
      logs.lines.length = 0
      const answer = await app.inject({ url: `${base}/jobs`, headers })
      checkError(t, answer, 500, what)
      const failures = logs.lines.filter(({ level }) => level === 50).map((line) => [line.msg, line.request_id])
      t.same(failures, [[message, answer.headers['x-request-id']]], what)
    }
  })
}

t.test('the host\'s status and Retry-After are kept, from the reply or from the error', async (t) => {
  const busy = (headers = {}): Error => Object.assign(new Error('canary'), { statusCode: 503, headers })
  for (const [run, wait] of [
    [(_request, reply) => { reply.header('Retry-After', '7'); throw busy() }, '7'],
    [() => { throw busy({ 'retry-after': 8 }) }, '8'],
    [() => { throw busy({ 'Retry-After': 'Wed, 21 Oct 2026 07:28:00 GMT' }) }, 'Wed, 21 Oct 2026 07:28:00 GMT'],
    [() => { throw busy({ 'retry-after': '1\r\nx-evil: 1' }) }, undefined],
    [() => { throw busy({ 'x-canary': 'canary' }) }, undefined],
    [(_request, reply) => { reply.code(503); throw new Error('canary') }, undefined]
  ] as Array<[Run, string | undefined]>) {
    const app = await buildHost(t, run)
    const answer = await app.inject({ url: `${base}/jobs`, headers })
    checkError(t, answer, 503)
    t.equal(answer.headers['retry-after'], wait)
    t.equal(answer.headers['x-canary'], undefined)
  }
})

t.test('a client error is logged at level info, with its code', async (t) => {
  const logs = captureLogs()
  const app = await buildHost(t, () => { throw Object.assign(new Error('no session'), { statusCode: 401 }) }, { server: { logger: logs.logger } })
  const answer = await app.inject({ url: `${base}/jobs`, headers })
  t.match(await logs.waitFor(message), { level: 30, code: 'unauthorized', err: { message: 'no session' }, request_id: answer.headers['x-request-id'] })
})

for (const hook of ['onRequest', 'preValidation'] as const) {
  t.test(`an ${hook} hook that throws undefined synchronously does not grant access`, async (t) => {
    const { storage, calls } = spyStorage()
    const app = await buildApp(t, {
      storage,
      openapi: false,
      before (app) { app.addHook(hook, () => { throw undefined }) } // eslint-disable-line no-throw-literal
    })
    for (const key of [keys.full, keys.none, 'unknown']) {
      const answer = await app.inject({ url: `${base}/candidates`, headers: bearer(key) })
      t.ok(answer.statusCode >= 400)
      checkError(t, answer, answer.statusCode)
    }
    t.same(calls, [])
  })
}

t.test('a body error thrown by a hook is not treated as a fault of the request', async (t) => {
  const app = await buildHost(t, () => { throw Object.assign(new Error('canary'), { code: 'ECONNRESET' }) }, { hook: 'preParsing' })
  checkError(t, await app.inject({ method: 'POST', url: `${base}/webhooks`, headers, payload: {} }), 500)
})

t.test('if an onSend hook always throws, our response is sent with its status, but not its text', async (t) => {
  const logs = captureLogs()
  const error = Object.assign(new Error('canary'), { statusCode: 503, headers: { 'retry-after': '9' } })
  const app = await buildApp(t, {
    openapi: false,
    server: { logger: logs.logger },
    before (app) { app.addHook('onSend', async () => { throw error }) }
  })
  const answer = await app.inject({ url: `${base}/jobs`, headers })
  checkError(t, answer, 503)
  t.equal(answer.headers['retry-after'], '9')
  checkError(t, await app.inject({ url: `${base}/jobs` }), 401)
  checkError(t, await app.inject({ url: `${base}/nothing`, headers }), 404)
  const head = await app.inject({ method: 'HEAD', url: `${base}/nothing`, headers })
  t.same([head.statusCode, head.body], [404, ''])
  t.ok(await logs.waitFor('request completed'), 'the request is complete')
  t.match(logs.lines.filter(({ level }) => level === 50).map(({ msg }) => msg), Array(5).fill(message))
})

t.test('an onSend hook that starts its own response and throws closes the connection', async (t) => {
  const app = await buildApp(t, {
    openapi: false,
    before (app) {
      app.addHook('onSend', async (_request, reply) => {
        reply.raw.writeHead(200)
        throw new Error('canary')
      })
    }
  })
  await t.rejects(app.inject({ url: `${base}/jobs`, headers }))
})
