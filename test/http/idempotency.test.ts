import t, { type Test } from 'tap'
import { Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'
import type { Response as LightMyRequestResponse } from 'light-my-request'
import type { AuditEntry, RecruitingApiOptions } from '../../src/index.js'
import { HttpError, RecruitingApiError } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { checkError } from '../fixtures/api/answers.js'
import { type AppOverrides, bearer, buildApp, keys } from '../fixtures/api/app.js'
import type { OpenApi } from '../fixtures/api/document.js'
import { webhookInput } from '../fixtures/api/webhook-api.js'
import { captureLogs } from '../fixtures/api/logs.js'
import { createManualClock } from '../fixtures/delivery/manual-clock.js'
import { createToken, portal } from '../fixtures/portal/sessions.js'
import { assertRejectedByPlugin } from '../fixtures/rejected-option.js'

const secretKeys = [Buffer.alloc(32, 1)]

interface Sent {
  path?: string
  body?: object
  key?: string | null
  by?: string
}

/** A host of acme and globex with `POST /orders`, whose handler the test sets. */
async function build (t: Test, overrides: AppOverrides = {}) {
  const clock = createManualClock('2026-03-01T09:00:00Z')
  const storage = memoryStorage({ clock })
  const entries: AuditEntry[] = []
  const host = {
    calls: 0,
    handle: async (): Promise<unknown> => ({ data: { id: host.calls } })
  }
  const app = await buildApp(t, {
    storage,
    secretKeys,
    portal,
    delivery: { clock, worker: false },
    errorDetails: true,
    onAudit: (entry) => { entries.push(entry) },
    async routes (app) {
      const schema = {
        response: { 201: Type.Object({ data: Type.Object({ id: Type.Integer() }) }), 204: Type.Null() }
      }
      const config = { scopes: [], idempotent: true }
      app.post('/orders', { config, schema: { operationId: 'createOrder', ...schema } }, async (_request, reply) => {
        host.calls++
        reply.code(201).header('x-order', String(host.calls))
        return await host.handle() as { data: { id: number } }
      })
      app.post('/plain', { config: { scopes: [] }, schema }, async (_request, reply) => {
        host.calls++
        reply.code(201)
        return { data: { id: host.calls } }
      })
    },
    ...overrides
  })
  const send = ({ path = '/orders', body = {}, key = 'once', by = keys.full }: Sent = {}) => app.inject({
    method: 'POST',
    url: `/api/v1/public/${by === keys.globex ? 'globex' : 'acme'}${path}`,
    headers: { ...bearer(by), ...key === null ? {} : { 'idempotency-key': key } },
    payload: body
  })
  return { app, clock, storage, host, entries, send }
}

function rejection (message: string) {
  return [{ in: 'header', field: 'idempotency-key', message }]
}

t.test('a repeated create returns the first webhook and its secret, and each request is audited', async (t) => {
  const { app, entries, send } = await build(t)
  const create = { path: '/webhooks', body: webhookInput }
  const first = await send(create)
  const again = await send(create)
  t.strictSame([first.statusCode, first.headers['idempotent-replayed']], [201, undefined])
  t.strictSame([again.statusCode, again.headers['idempotent-replayed']], [201, 'true'])
  t.strictSame([again.body, again.headers.location], [first.body, first.headers.location])
  t.match(first.json().data.secret, /^whsec_/)
  t.not(again.headers['x-request-id'], first.headers['x-request-id'])
  const list = await app.inject({ url: '/api/v1/public/acme/webhooks', headers: bearer(keys.full) })
  t.equal(list.json().data.length, 1)
  const created = {
    operationId: 'createWebhook', resource: { kind: 'webhook', id: first.json().data.id }, status: 201, rowCount: 1
  }
  t.match(entries.slice(0, 2), [{ ...created, isRepeated: false }, { ...created, isRepeated: true }])
})

t.test('another request with the same key gets 400, and requests without a key are independent', async (t) => {
  const { host, send } = await build(t)
  await send({ body: { size: 1 } })
  for (const other of [{ body: { size: 2 } }, { path: '/webhooks/preview', body: { event_types: ['job.created'] } }]) {
    t.strictSame((await send(other)).json().error.details, rejection('was used for another request'))
  }
  t.equal(host.calls, 1)
  for (const id of [2, 3]) t.strictSame((await send({ key: null })).json(), { data: { id } })
  t.strictSame((await send({ body: { size: 1 } })).json(), { data: { id: 1 } })
})

t.test('the same input is the same request, however it is written', async (t) => {
  const calls: unknown[] = []
  const { app, send } = await build(t, {
    async routes (app) {
      const schema = {
        querystring: Type.Object({ a: Type.Integer({ default: 1 }), b: Type.Optional(Type.String()) }),
        body: Type.Object({ size: Type.Integer({ default: 5 }), more: Type.Optional(Type.Any()) }),
        response: { 200: Type.Object({ data: Type.Integer() }) }
      }
      app.post('/:place/orders', { config: { scopes: [], idempotent: true }, schema }, async ({ body, query }) => {
        return { data: calls.push([query, body]) }
      })
    }
  })
  const run = async (path: string, body: object | undefined, key: string): Promise<unknown> => {
    const headers = { ...bearer(keys.full), 'idempotency-key': key }
    const url = `/api/v1/public/acme${path}`
    const answer = await app.inject({ method: 'POST', url, headers, ...body === undefined ? {} : { payload: body } })
    return answer.json().data ?? answer.json().error.details
  }
  for (const [path, body] of [
    ['/rome/orders', undefined], ['/r%6Fme/orders', {}], ['/rome/orders?a=1', { size: 5 }], ['/rome/orders?', undefined]
  ] as const) t.equal(await run(path, body, 'defaults'), 1, path)
  const nested = { size: 2, more: { x: 1, y: [{ p: 1, q: 2 }] } }
  t.equal(await run('/rome/orders?a=2&b=c%20d', nested, 'members'), 2)
  t.equal(await run('/rome/orders?b=%63+d&%61=2', { more: { y: [{ q: 2, p: 1 }], x: 1 }, size: 2 }, 'members'), 2)
  for (const [path, body] of [
    ['/rome/orders?a=2', nested], ['/paris/orders?a=2&b=c%20d', nested],
    ['/rome/orders?a=2&b=c%20d', { ...nested, more: { ...nested.more, y: [] } }]
  ] as const) t.strictSame(await run(path, body, 'members'), rejection('was used for another request'), path)
  const [path, given] = ['/webhooks', { ...webhookInput, filters: { 'data.id': [1], 'data.a': [2] } }]
  const first = await send({ path, body: given })
  const again = await send({ path, body: { filters: { 'data.a': [2], 'data.id': [1] }, ...webhookInput } })
  t.strictSame([again.body, again.headers['idempotent-replayed']], [first.body, 'true'])
})

t.test('a key is 1 to 255 visible ASCII characters', async (t) => {
  const { app, host, send } = await build(t)
  for (const key of ['', ' ', 'a b', 'a\tb', 'ä', 'x'.repeat(256)]) {
    t.strictSame((await send({ key })).json().error.details,
      rejection('must be 1 to 255 visible ASCII characters, unique to this request, such as a UUID'), JSON.stringify(key))
  }
  const twice = await app.inject({
    method: 'POST',
    url: '/api/v1/public/acme/orders',
    headers: { ...bearer(keys.full), 'idempotency-key': ['a', 'b'] as never },
    payload: {}
  })
  t.match(twice.json().error.details, [{ in: 'header', field: 'idempotency-key' }])
  t.equal(host.calls, 0)
  for (const key of ['!', '~'.repeat(255), '"quoted"']) t.equal((await send({ key })).statusCode, 201)
})

t.test('the same request gets 409 while the first is running, however long it takes', async (t) => {
  const { app, clock, storage, host, send } = await build(t)
  const other = await build(t, { storage })
  let finish = (): void => {}
  const finished = new Promise<void>((resolve) => { finish = resolve })
  const started = new Promise<void>((resolve) => {
    host.handle = async () => {
      resolve()
      await finished
      return { data: { id: 1 } }
    }
  })
  const first = send()
  await started
  const { renew } = storage.idempotency
  storage.idempotency.renew = async () => { throw new Error('down') }
  await clock.advance(10_000)
  storage.idempotency.renew = renew
  for (let seconds = 0; seconds < 100; seconds += 5) await clock.advance(5000)
  for (const sendTo of [other.send, send]) {
    const conflict = await sendTo()
    checkError(t, conflict, 409)
    t.equal(conflict.headers['retry-after'], '1')
    t.equal(conflict.headers['idempotent-replayed'], undefined)
    t.strictSame((await sendTo({ body: { size: 1 } })).json().error.details, rejection('was used for another request'))
  }
  finish()
  t.strictSame((await first).json(), { data: { id: 1 } })
  t.strictSame((await other.send()).json(), { data: { id: 1 } })
  t.strictSame([host.calls, other.host.calls], [1, 0])
  storage.idempotency.renew = async () => { throw new Error('is still called') }
  await clock.advance(60_000)
  await app.close()
})

t.test('keys of other tenants, other API keys and other sessions are independent', async (t) => {
  const { app, host, send } = await build(t)
  const sessions = [await createToken(app, ['write']), await createToken(app, ['write'])]
  const owners = [keys.full, keys.webhooks, keys.globex, ...sessions]
  for (const [index, by] of owners.entries()) {
    t.strictSame((await send({ by })).json(), { data: { id: index + 1 } })
  }
  for (const [index, by] of owners.entries()) {
    t.strictSame((await send({ by })).json(), { data: { id: index + 1 } })
  }
  t.equal(host.calls, owners.length)
})

t.test('for 24 hours, a repeated request gets the handler\'s status and headers, even without a body', async (t) => {
  const { clock, host, send } = await build(t)
  host.handle = async () => undefined
  const answers = []
  for (const ms of [0, 86_399_000, 1000]) {
    await clock.advance(ms)
    answers.push(await send())
  }
  t.strictSame(answers.map(({ statusCode, body, headers }) => [statusCode, body, headers['x-order']]), [
    [204, '', '1'], [204, '', '1'], [204, '', '2']
  ])
})

t.test('a request without effect runs again; if its outcome is unknown, it never does', async (t) => {
  // The document does not declare all of its errors.
  const { host, send } = await build(t, { openapi: false })
  for (const [code, calls] of [
    ['bad_request', 2], ['unauthorized', 2], ['forbidden', 2], ['not_found', 2], ['conflict', 2], ['rate_limited', 2],
    ['unavailable', 2], ['internal_error', 1]
  ] as const) {
    host.calls = 0
    host.handle = async () => { throw new HttpError(code, [{ in: 'body', field: 'size', message: 'is taken' }]) }
    const [first, again] = [await send({ key: code }), await send({ key: code })]
    t.equal(host.calls, calls, code)
    t.equal(first.json().error.code, code)
    t.equal(again.json().error.code, calls === 2 ? code : 'outcome_unknown')
    t.equal(again.headers['idempotent-replayed'], undefined, code)
  }
})

t.test('a handler may have changed something if it fails in any other way', async (t) => {
  const { host, send } = await build(t)
  const failures: Record<string, () => unknown> = {
    throws: () => { throw new Error('after a commit') },
    busy: () => { throw Object.assign(new RecruitingApiError('busy', 'after a commit')) },
    invalid: () => ({ data: { id: 'text' } })
  }
  for (const [key, fail] of Object.entries(failures)) {
    host.calls = 0
    host.handle = async () => fail()
    t.ok((await send({ key })).statusCode >= 500, key)
    const again = await send({ key })
    t.equal(again.statusCode, 500)
    t.match(again.json(), {
      error: { code: 'outcome_unknown', message: 'The outcome of the first request with this Idempotency-Key is unknown' }
    })
    t.equal(host.calls, 1, key)
  }
})

t.test('a tenant can store up to 4,096 answers, then the header gets 429', async (t) => {
  const { clock, storage, send } = await build(t)
  const request = { fingerprint: 'f', claim: 'c', isAtomic: false, leaseMs: 1, keepMs: 90_000, maxDigests: 4096 }
  for (let id = 0; id < 4096; id++) await storage.idempotency.claim('acme', { ...request, digest: String(id) })
  const full = await send()
  checkError(t, full, 429)
  t.equal(full.headers['retry-after'], '90')
  t.equal((await send({ key: null })).statusCode, 201)
  t.equal((await send({ by: keys.globex })).statusCode, 201)
  await clock.advance(90_000)
  t.equal((await send()).statusCode, 201)
})

t.test('keys whose lookup returns no id share no answers: they get 400', async (t) => {
  const keyLookup = async (): Promise<never> => ({ scopes: [] }) as never
  const { host, send } = await build(t, { keyLookup })
  t.strictSame((await send()).json().error.details,
    rejection('is not accepted, because the key lookup returns no id for this API key'))
  t.equal((await send({ key: null })).statusCode, 201)
  t.equal(host.calls, 1)
})

t.test('a handler can send its response itself, in time or later', async (t) => {
  const logs = captureLogs()
  let calls = 0
  const sends: Record<string, (reply: FastifyReply) => unknown> = {
    data: (reply) => reply.code(201).send({ data: { id: 7 } }),
    late: (reply) => {
      setImmediate(() => { reply.header('x-late', 'yes').send({ data: { id: 8 } }) })
      return reply
    },
    redirect: (reply) => reply.redirect('/elsewhere', 303),
    rejected: (reply) => reply.code(422).send({ reason: 'full' }),
    fails: (reply) => reply.send(new HttpError('not_found')),
    text: (reply) => reply.send('text'),
    hijacked: (reply) => {
      reply.hijack().raw.end('own')
      return reply
    }
  }
  const { app } = await build(t, {
    openapi: false,
    server: { logger: logs.logger },
    async routes (app) {
      const Order = Type.Object({ data: Type.Object({ id: Type.Integer() }) })
      const response = { 200: Order, 201: Order, 303: Type.Null(), 422: Type.Object({ reason: Type.String() }) }
      app.post('/:how/orders', { config: { scopes: [], idempotent: true }, schema: { response } }, async (request, reply) => {
        calls++
        return await sends[(request.params as { how: string }).how]?.(reply) as never
      })
    }
  })
  for (const [how, status, body, runs] of [
    ['data', 201, '{"data":{"id":7}}', 1], ['late', 200, '{"data":{"id":8}}', 1], ['redirect', 303, '', 1],
    ['rejected', 422, '{"reason":"full"}', 2], ['fails', 404, null, 2], ['text', 500, null, 1], ['hijacked', 200, 'own', 1]
  ] as const) {
    calls = 0
    const [first, again] = await [0, 1].reduce(async (answers: Promise<LightMyRequestResponse[]>) => [
      ...await answers,
      await app.inject({
        method: 'POST', url: `/api/v1/public/acme/${how}/orders`, headers: { ...bearer(keys.full), 'idempotency-key': how }
      })
    ], Promise.resolve([]))
    t.equal(calls, runs, how)
    t.equal(first?.statusCode, status, how)
    if (body !== null) t.equal(first?.body, body)
    const isUnknown = how === 'text' || how === 'hijacked'
    t.equal(again?.statusCode, isUnknown ? 500 : status, how)
    if (body !== null && !isUnknown) t.equal(again?.body, body)
    if (how === 'late') t.equal(again?.headers['x-late'], 'yes')
    if (how === 'redirect') t.equal(again?.headers.location, '/elsewhere')
  }
  const errors = logs.lines.filter(({ level }) => level === 50)
  t.match(errors, [
    { err: { message: 'a route with config.idempotent must send JSON data, not text or a stream' } },
    { err: { code: 'outcome_unknown' } },
    { msg: 'a route with config.idempotent has sent its response itself' },
    { err: { code: 'outcome_unknown' } }
  ])
})

t.test('requests rejected before the operation do not use up the key', async (t) => {
  const { host, send } = await build(t)
  checkError(t, await send({ by: 'unknown' }), 401)
  t.equal((await send({ path: '/orders?x=1' })).statusCode, 400)
  checkError(t, await send({ path: '/webhooks', by: keys.none }), 403)
  t.equal((await send()).statusCode, 201)
  t.equal(host.calls, 1)
})

t.test('a failure before the operation prevents it, and the request can be repeated at once', async (t) => {
  let isSealing = true
  const flip = (bytes: Uint8Array): Uint8Array => {
    if (isSealing) return bytes.map((byte) => byte ^ 255)
    throw new Error('down')
  }
  const { storage, host, send } = await build(t, { secretKeys: { seal: flip, open: flip } })
  const { claim } = storage.idempotency
  storage.idempotency.claim = async (...values) => {
    await claim(...values)
    throw new Error('the answer is lost')
  }
  checkError(t, await send(), 500)
  storage.idempotency.claim = claim
  isSealing = false
  checkError(t, await send({ by: keys.globex }), 500)
  t.equal(host.calls, 0)
  isSealing = true
  for (const by of [keys.full, keys.globex]) t.equal((await send({ by })).statusCode, 201)
})

t.test('an answer is stored in three tries; otherwise the outcome of the operation is unknown', async (t) => {
  const { clock, storage, host, send } = await build(t)
  const { save } = storage.idempotency
  storage.idempotency.save = async () => { throw new Error('down') }
  t.strictSame((await send()).json(), { data: { id: 1 } })
  storage.idempotency.save = save
  checkError(t, await send(), 409)
  await clock.advance(30_000)
  t.equal((await send()).json().error.code, 'outcome_unknown')
  t.equal(host.calls, 1)
  let faults = 2
  storage.idempotency.save = async (...values) => {
    if (faults-- > 0) throw new Error('down')
    return save(...values)
  }
  for (let tries = 0; tries < 2; tries++) t.strictSame((await send({ key: 'later' })).json(), { data: { id: 2 } })
})

t.test('other methods and routes ignore the header', async (t) => {
  const { app, send } = await build(t)
  t.strictSame([(await send({ path: '/plain' })).json(), (await send({ path: '/plain' })).json()], [{ data: { id: 1 } }, { data: { id: 2 } }])
  const { id } = (await send({ path: '/webhooks', body: webhookInput, key: null })).json().data
  for (const [method, payload] of [['PATCH', { name: 'one' }], ['PATCH', { name: 'two' }], ['GET'], ['DELETE']] as const) {
    const answer = await app.inject({
      method,
      url: `/api/v1/public/acme/webhooks/${id}`,
      headers: { ...bearer(keys.full), 'idempotency-key': 'not valid' },
      ...payload === undefined ? {} : { payload }
    })
    t.ok(answer.statusCode < 300, method)
  }
})

t.test('answers are sealed for their tenant and request', async (t) => {
  const { storage, send } = await build(t)
  const saved: string[] = []
  const { claim, save } = storage.idempotency
  storage.idempotency.save = async (tenant, attempt, answer) => {
    saved.push(String(answer))
    return save(tenant, attempt, answer)
  }
  const { secret } = (await send({ path: '/webhooks', body: webhookInput })).json().data
  await send({ key: 'other' })
  for (const plain of [secret, 'data', 'webhooks']) t.notOk(saved.join().includes(plain), plain)
  const [own = '', others = ''] = saved
  for (const [answer, by] of [[others, keys.full], [own, keys.globex]] as const) {
    storage.idempotency.claim = async (tenant, request) => {
      await claim(tenant, request)
      return { state: 'answered', fingerprint: request.fingerprint, answer }
    }
    checkError(t, await send({ path: '/webhooks', body: webhookInput, by }), 500)
  }
})

t.test('KMS functions seal a short key, not the answer', async (t) => {
  const lengths: number[] = []
  const flip = (bytes: Uint8Array): Uint8Array => bytes.map((byte) => byte ^ 255)
  const { host, send } = await build(t, {
    secretKeys: {
      seal (bytes, { webhookId }) {
        if (webhookId === 0) lengths.push(bytes.length)
        return flip(bytes)
      },
      open: flip
    }
  })
  const filters = { 'data.id': Array.from({ length: 50 }, (_, index) => `value ${index}`.padEnd(100, 'x')) }
  const create = { path: '/webhooks', body: { ...webhookInput, filters } }
  t.equal((await send(create)).body, (await send(create)).body)
  t.strictSame(lengths, [44])
  t.equal(host.calls, 0)
})

t.test('without secretKeys, operations that return secrets reject the header and store nothing', async (t) => {
  const { app, storage, send } = await build(t, { secretKeys: [] })
  const { id } = (await send({ path: '/webhooks', body: webhookInput, key: null })).json().data
  storage.idempotency.claim = async () => { throw new Error('must not be called') }
  for (const path of ['/webhooks', `/webhooks/${id}/rotate_secret`]) {
    const answer = await send({ path, body: path === '/webhooks' ? webhookInput : {} })
    t.strictSame(answer.json().error.details, rejection('is not accepted here'))
  }
  const { paths } = (await app.inject('/api/v1/public/openapi.json')).json<OpenApi>()
  const all = Object.values(paths).flatMap((methods) => methods.post?.operationId ?? [])
  const secret = ['createWebhook', 'rotateWebhookSecret', 'createApiKey', 'rotateApiKey']
  t.strictSame(accepting(paths), all.filter((name) => !secret.includes(name)))
  t.strictSame(accepting(paths, 'responses'), accepting(paths), 'their responses have the header of repeats')
})

/** Returns the operations that have the header in the document, or that of repeats in all successful responses. */
function accepting (paths: OpenApi['paths'], where: 'parameters' | 'responses' = 'parameters'): string[] {
  return Object.values(paths).flatMap((methods) => Object.values(methods))
    .filter(({ parameters, responses }) => where === 'parameters'
      ? parameters.some(({ name }) => name === 'idempotency-key')
      : Object.entries(responses).every(([status, { headers = {} }]) =>
        status >= '300' || Object.keys(headers).includes('idempotent-replayed')))
    .map(({ operationId }) => String(operationId))
}

t.test('without an idempotency store, the header gets 400 and is not in the document', async (t) => {
  const { idempotency, ...storage } = memoryStorage()
  const { app, host, send } = await build(t, { storage })
  t.ok(idempotency)
  for (const path of ['/orders', '/webhooks/preview']) {
    const body = path === '/orders' ? {} : { event_types: ['application.created'] }
    t.strictSame((await send({ path, body })).json().error.details, rejection('is not accepted here'))
  }
  t.equal(host.calls, 0)
  t.strictSame(accepting((await app.inject('/api/v1/public/openapi.json')).json<OpenApi>().paths), [])
})

t.test('only POST routes of the host can be idempotent', async (t) => {
  const routesWith = (method: string, idempotent: unknown): Partial<RecruitingApiOptions> => ({
    async routes (app) {
      app.route({
        method,
        url: '/orders',
        config: { scopes: [], idempotent: idempotent as boolean },
        schema: { response: { 200: Type.Object({}) } },
        handler: async () => ({})
      })
    }
  })
  const path = '/api/v1/public/:tenant_slug/orders'
  await assertRejectedByPlugin(t, [
    routesWith('POST', 'yes'), 'routes', `config.idempotent of POST ${path} to be true, false or 'sealed'`, '"yes"'
  ])
  await assertRejectedByPlugin(t, [
    routesWith('PATCH', true), 'routes', `config.idempotent of PATCH ${path} to be false, because only POST routes can be idempotent`, 'true'
  ])
})
