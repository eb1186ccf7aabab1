import { createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import {
  ApiError, type ClientOptions, createClient, type EventsOptions, isNewer, verifyWebhook, WebhookVerificationError
} from '../../src/around/client/index.js'
import { type Kind, operations, verbs } from '../../src/around/client/client.js'
import document from '../../openapi.json' with { type: 'json' }
import { callOperations } from '../../src/core/api/calls.js'
import { memoryStorage, type MemoryStorage } from '../../src/storages/memory/index.js'
import { type AppOverrides, buildApp, keys, tenants } from '../fixtures/api/app.js'
import { noteRoutes } from '../fixtures/hosts/own-lists.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

interface Service {
  app: FastifyInstance
  storage: MemoryStorage
  options: ClientOptions
}

async function serve (t: Test, overrides: AppOverrides = {}): Promise<Service> {
  const storage = memoryStorage({ tenants })
  const app = await buildApp(t, { server: { forceCloseConnections: true }, storage, ...overrides })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, storage, options: { baseUrl: `${origin}/api/v1/public/`, tenantSlug: 'acme', key: keys.full } }
}

async function collect<Item> (items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

/** Returns one response per request, like a service or a proxy. */
function answerWith (...responses: Array<Response | Error>): {
  fetch: typeof fetch
  waits: number[]
  sleep: (ms: number) => Promise<void>
} {
  const waits: number[] = []
  return {
    fetch: async () => {
      const response = responses.shift() ?? Response.json({ data: 'ok' })
      if (response instanceof Error) throw response
      return response
    },
    waits,
    sleep: async (ms) => {
      waits.push(ms)
    }
  }
}

t.test('a vendor\'s list is synced, and its events follow', async (t) => {
  const { routes } = noteRoutes(new Map([['acme', new Map([[1, 'one'], [2, 'two']])]]))
  const { app, options } = await serve(t, { routes })
  const client = createClient(options)
  const pages = await collect(client.sync<'note', { id: number, text: string }>('/notes/sync', { per_page: 1 }))
  t.strictSame(pages.flatMap(({ data }) => data.map(({ note }) => note?.text)), ['one', 'two'])
  const { id } = await app.recruiting.emit({ tenantSlug: 'acme', type: 'job.created', data: {} })
  const events = await collect(client.events({ load: () => pages.at(-1)?.meta.events_token }))
  t.strictSame(events.flatMap(({ data }) => data.map((event) => event.id)), [id])
})

t.test('each operation of the API is a method', async (t) => {
  const list = (entry: object): Array<readonly [Kind, string]> =>
    Array.isArray(entry) ? [entry as [Kind, string]] : Object.values(entry).flatMap(list)
  const table = list(operations)
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path.replace('/api/v1/public/{tenant_slug}', '')}`))
  const sent = table.map(([kind, path]) => `${verbs[kind].toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
  t.strictSame(sent.sort(), documented.sort())
  const posts = Object.values(callOperations).filter(({ method }) => method === 'POST')
  const counting = posts.filter(({ hints }) => hints && hints.readOnly)
  t.strictSame(table.filter(([kind]) => kind === 'count').map(([, path]) => path), counting.map(({ path }) => path))
})

t.test('lists are read page by page, with their query', async (t) => {
  const { options } = await serve(t)
  const client = createClient(options)
  const pages = await collect(client.candidates.list({ per_page: 2, sort: '-full_name' }))
  t.strictSame(pages.map(({ data }) => data.map((row) => row.full_name)), [['Grace Hopper', 'Alan Turing'], ['Ada Lovelace']])
  t.strictSame(pages[1]?.meta, { page: 2, per_page: 2, total: 3, total_pages: 2 })
  t.strictSame((await collect(client.candidates.list({ page: 2, per_page: 2 }))).length, 1)
  t.strictSame((await collect(client.jobs.list({ 'filter[status]': 'draft' }))).flatMap(({ data }) => data.map(({ name }) => name)), ['Cryptanalyst'])
  t.match((await collect(client.listEventTypes({ per_page: 200 })))[0]?.data[0], { name: 'application.created' })
  t.strictSame((await collect(client.candidates.list({ 'filter[q]': 'nobody' }))).map(({ data }) => data), [[]])
})

t.test('find returns one item or null', async (t) => {
  const { options } = await serve(t)
  const client = createClient(options)
  t.match(await client.candidates.find(1), { id: 1, full_name: 'Ada Lovelace' })
  t.equal(await client.candidates.find(99), null)
  t.equal(await client.webhooks.find(99), null)
  t.equal(await client.webhooks.findDelivery(99, 1), null)
})

t.test('a sync returns everything, then the changes since the saved token', async (t) => {
  const { options, storage } = await serve(t)
  const client = createClient(options)
  let token: string | null = null
  const saved = { load: () => token, save: (next: string) => { token = next } }
  const read = async (): Promise<unknown[]> =>
    (await collect(client.candidates.sync({ ...saved, per_page: 2 }))).flatMap(({ data }) => data)

  t.match(await read(), [{ id: 1, deleted: false, candidate: { full_name: 'Ada Lovelace' } }, { id: 2 }, { id: 3 }])
  storage.candidates.save('acme', { id: 4, full_name: 'Edsger Dijkstra' })
  storage.candidates.remove('acme', 1)
  t.match(await read(), [{ id: 4, candidate: { full_name: 'Edsger Dijkstra' } }, { id: 1, deleted: true, candidate: null }])
  t.strictSame(await read(), [])
  t.match((await collect(client.jobs.sync())).flatMap(({ data }) => data), [{ id: 1, job: { name: 'Compiler Engineer' } }, { id: 2 }])
})

t.test('the token of a page is saved only after the page was handled', async (t) => {
  const { options } = await serve(t)
  const saved: string[] = []
  const sync = createClient(options).candidates.sync({ save: (token) => { saved.push(token) } })
  await sync.next()
  t.strictSame(saved, [])
  await sync.next()
  t.equal(saved.length, 1)
})

t.test('after an expired token, the sync begins again if the caller supports it', async (t) => {
  const { options } = await serve(t)
  const client = createClient(options)
  const load = (): string => 'a token of another database'
  await t.rejects(collect(client.candidates.sync({ load })), { name: 'ApiError', status: 410, code: 'sync_token_expired' })
  let restarts = 0
  const pages = await collect(client.candidates.sync({ load, restart: () => { restarts++ } }))
  t.strictSame([pages.flatMap(({ data }) => data).length, restarts], [3, 1])
  await t.rejects(collect(createClient({ ...options, key: 'wrong' }).candidates.sync({ load, restart: () => t.fail('not expired') })), { name: 'ApiError', status: 401 })
  const after = await collect(client.candidates.sync({ load: () => '', restart: () => { restarts++ } }))
  t.strictSame([after.flatMap(({ data }) => data).length, restarts], [3, 2], 'an empty token counts as expired')
})

t.test('events are returned once, in order, from the oldest or from now on, and only of the requested types', async (t) => {
  const { app, options } = await serve(t)
  const client = createClient(options)
  const emit = async (type: 'job.created' | 'job.closed', id: number): Promise<void> => { await app.recruiting.emit({ tenantSlug: 'acme', type, data: { id } }) }
  const keep = (): { load: () => string | null, save: (next: string) => void } => {
    let token: string | null = null
    return { load: () => token, save: (next) => { token = next } }
  }
  const read = async (given: EventsOptions): Promise<unknown[]> =>
    (await collect(client.events(given))).flatMap(({ data }) => data).map(({ data }) => data?.id)
  await emit('job.created', 1)
  await emit('job.closed', 2)
  await emit('job.created', 3)

  const [all, created, later] = [keep(), { ...keep(), types: ['job.created', 'job.updated'] }, { ...keep(), from: 'now' } as const]
  t.match((await collect(client.events()))[0]?.data[0], { id: /^evt_/, type: 'job.created', timestamp: /^20/, sequence: /^\d{16}$/, tenant_slug: 'acme', data: { id: 1 } })
  t.strictSame([await read({ ...all, per_page: 2 }), await read(created), await read(later)], [[1, 2, 3], [1, 3], []])
  t.strictSame(await read({ filters: { 'data.id': [1, 3] } }), [1, 3])
  t.strictSame(await read({ types: ['job.created'], filters: {} }), [1, 3])
  await emit('job.created', 4)
  await emit('job.closed', 5)
  t.strictSame([await read(all), await read(created), await read(later)], [[4, 5], [4], [4, 5]], 'after the saved token')
  t.strictSame([await read(all), await read({ from: 'oldest' })], [[], [1, 2, 3, 4, 5]])
  t.strictSame(
    [await read({ from: new Date(0), per_page: 2 }), await read({ from: new Date('9999') })],
    [[1, 2, 3, 4, 5], []]
  )
  const id = (await collect(client.events()))[0]?.data[0]?.id
  t.match([await client.findEvent(String(id)), await client.findEvent('evt_0')], [{ id, data: { id: 1 } }, null])
})

t.test('an erased event has no data', async (t) => {
  const { app, options } = await serve(t)
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'candidate.created', data: { id: 1 }, subject: 'candidate:1' })
  await app.recruiting.erase({ tenantSlug: 'acme', subject: 'candidate:1' })
  t.match((await collect(createClient(options).events()))[0]?.data, [{ type: 'candidate.created', data: null, erased: true }])
})

t.test('webhooks are managed from creation to deletion', async (t) => {
  const receiver = await startReceiver(t)
  const { app, options } = await serve(t, { delivery: { allowHttp: true, allowNetworks: ['127.0.0.0/8'] } })
  const { webhooks } = createClient(options)
  const { id, secret } = await webhooks.create({ name: 'CRM', target_url: receiver.url, event_types: ['job.created'] })
  t.match(secret, /^whsec_/)
  t.match(await webhooks.update(id, { name: 'Payroll' }), { id, name: 'Payroll' })
  t.match(await webhooks.find(id), { name: 'Payroll', health: { failed_deliveries: 0 } })
  t.match(await collect(webhooks.list({ 'filter[status]': 'active' })), [{ data: [{ id }] }])
  t.strictSame(await webhooks.preview({ event_types: ['job.created'], filters: { 'data.id': [1] } }), {
    events: 0,
    matching: 0
  })
  t.match(await webhooks.test(id), { status: 'delivered', event_type: 'job.created' })
  t.match(await webhooks.test(id, { event_type: 'job.closed' }), { event_type: 'job.closed' })

  await app.recruiting.emit({ tenantSlug: 'acme', type: 'job.created', data: { id: 1 } })
  await app.recruiting.drain()
  const [page] = await collect(webhooks.listDeliveries(id))
  const [delivery] = page?.data ?? []
  t.match(delivery, { event_type: 'job.created', status: 'delivered' })
  t.match(await webhooks.findDelivery(id, Number(delivery?.id)), { attempts: [{ response_status: 204 }] })
  t.match(await webhooks.retryDelivery(id, Number(delivery?.id)), { event_id: delivery?.event_id })
  t.match(await webhooks.replay(id, { include: 'all', dry_run: true }), { webhook_id: id, truncated: false })

  const rotated = await webhooks.rotateSecret(id, { grace_period_seconds: 0 })
  t.not(rotated.secret, secret)
  t.equal(rotated.previous_secret_expires_at, null)
  t.equal(await webhooks.delete(id), undefined)
  t.equal(await webhooks.find(id), null)
})

t.test('errors contain the status, code and request id of the API', async (t) => {
  const { options } = await serve(t, { errorDetails: true })
  const fault = await createClient(options).webhooks.create({ name: '', target_url: 'x', event_types: [] }).catch((error) => error)
  t.ok(fault instanceof ApiError)
  t.match(fault, { name: 'ApiError', status: 400, code: 'bad_request', requestId: /^req_/, details: [{ in: 'body', field: 'name' }] })
  await t.rejects(createClient({ ...options, key: 'wrong' }).candidates.find(1), { name: 'ApiError', status: 401, code: 'unauthorized', details: [] })
  await t.rejects(createClient({ ...options, tenantSlug: '../acme' }).candidates.find(1), { name: 'ApiError', status: 401 }, 'a slug is one path segment')

  const proxy = answerWith(new Response('<html>', { status: 500 }))
  await t.rejects(createClient({ ...options, ...proxy }).jobs.find(1), {
    name: 'ApiError',
    status: 500,
    code: 'unknown',
    requestId: null,
    message: 'The service responded with 500'
  })
})

t.test('iterators throw after a response that is not a page, and after a second expired token', async (t) => {
  const { options } = await serve(t)
  const restart = (): void => { restarts++ }
  let restarts = 0
  const expired = (): Response =>
    Response.json({ error: { code: 'sync_token_expired', message: 'expired', request_id: 'req_1' } }, { status: 410 })
  const page = (token: string): Response => Response.json({ data: [], meta: { next_token: token, has_more: true } })
  const read = (...responses: Response[]) =>
    collect(createClient({ ...options, ...answerWith(...responses) }).jobs.sync({ load: () => 'old', restart }))

  await t.rejects(read(expired(), expired(), expired()), { name: 'ApiError', status: 410 })
  await t.rejects(read(expired(), page('a'), expired()), { name: 'ApiError', status: 410 })
  t.equal(restarts, 2)
  await t.rejects(read(page('a'), page('a')), {
    name: 'ApiError',
    code: 'unknown',
    message: 'The response repeats its token'
  })
  for (const body of [null, { data: null, meta: {} }, { data: [] }, 'ok']) {
    const client = createClient({ ...options, ...answerWith(Response.json(body), Response.json(body)) })
    await t.rejects(
      collect(client.events({ restart })),
      { name: 'ApiError', status: 200, message: 'The response is not a page' },
      JSON.stringify(body)
    )
    await t.rejects(collect(client.candidates.list()), { name: 'ApiError', status: 200 }, JSON.stringify(body))
  }
  const empty = createClient({
    ...options,
    ...answerWith(...Array.from({ length: 3 }, () => new Response(null, { status: 204 })))
  })
  await t.rejects(collect(empty.candidates.sync({ restart })), { name: 'ApiError', status: 204 })
  await t.rejects(collect(empty.webhooks.list()), { name: 'ApiError', status: 204 })
  await t.rejects(empty.webhooks.find(1), { name: 'ApiError', status: 204 })
  t.equal(restarts, 2)
})

t.test('an id is one path segment', async (t) => {
  const urls: string[] = []
  const client = createClient({
    baseUrl: 'https://ats.example',
    tenantSlug: 'a/b',
    key: 'key',
    fetch: async (url) => {
      urls.push(String(url))
      return Response.json({ data: {} })
    }
  })
  const id = '../x?y#z' as unknown as number
  await client.candidates.find(id)
  await client.webhooks.test(id)
  await client.webhooks.retryDelivery(id, id)
  const encoded = '..%2Fx%3Fy%23z'
  t.strictSame(
    urls,
    [
      `candidates/${encoded}`,
      `webhooks/${encoded}/dispatch_test`,
      `webhooks/${encoded}/deliveries/${encoded}/retry`
    ].map((path) => `https://ats.example/a%2Fb/${path}`)
  )
  for (const part of ['', '.', '..']) {
    await t.rejects(client.webhooks.update(part as unknown as number, {}), {
      name: 'TypeError',
      message: `expected an id, got "${part}"`
    })
    t.throws(() => createClient({ baseUrl: 'https://ats.example', tenantSlug: part, key: 'key' }), {
      name: 'TypeError'
    })
  }
})

t.test('a redirect is an error, so that the key is not sent elsewhere', async (t) => {
  const { options } = await serve(t, {
    before: (app) => {
      app.addHook('onRequest', async (_request, reply) => reply.redirect('/elsewhere'))
    }
  })
  await t.rejects(createClient(options).jobs.find(1), { name: 'ApiError', status: 302, code: 'unknown' })
})

t.test('an endless response is an error, and so is a response that is not JSON', async (t) => {
  const { options } = await serve(t)
  let sent = 0
  const endless = new ReadableStream({
    pull (controller) {
      sent++
      controller.enqueue(new Uint8Array(1024 * 1024).fill(32))
    }
  })
  const service = answerWith(new Response(endless), new Response('<html>'))
  const client = createClient({ ...options, ...service })
  await t.rejects(client.jobs.find(1), {
    name: 'ApiError',
    status: 200,
    message: /^The response has more than \d+ bytes$/
  })
  t.ok(sent < 40)
  await t.rejects(client.jobs.find(1), { name: 'ApiError', status: 200, message: 'The response is not JSON' })
})

t.test('requests are retried after 429 and 503, after Retry-After', async (t) => {
  const { options } = await serve(t)
  const later = new Date(Date.now() + 30_000).toUTCString()
  const service = answerWith(
    new Response(null, { status: 429, headers: { 'retry-after': '7' } }), new Response('busy', { status: 503 }),
    new Response(null, { status: 503, headers: { 'retry-after': later } }), new Response(null, { status: 429, headers: { 'retry-after': 'soon' } })
  )
  t.equal(await createClient({ ...options, ...service }).candidates.find(1), 'ok')
  const [first, second, third = 0, fourth] = service.waits
  t.equal(first, 7000)
  t.ok(second !== undefined && second >= 1000 && second <= 2000)
  t.ok(fourth !== undefined && fourth >= 4000 && fourth <= 8000)
  t.ok(third > 20_000 && third <= 30_000)
  for (const malformed of ['-1', '1.5', 'soon', '']) {
    const busy = answerWith(new Response(null, { status: 503, headers: { 'retry-after': malformed } }))
    await createClient({ ...options, ...busy }).jobs.find(1)
    t.ok(Number(busy.waits[0]) >= 500 && Number(busy.waits[0]) <= 1000, malformed)
  }
})

const options = { baseUrl: 'https://ats.example/api', tenantSlug: 'acme', key: 'key' }

/** A response of the API with an error. */
function failWith (
  status: number, code: string, { headers = {}, details }: { headers?: Record<string, string>, details?: object[] } = {}
): Response {
  return Response.json({ error: { code, message: code, request_id: 'req_1', details } }, { status, headers })
}

/** Failures after which nobody knows whether the request had an effect. */
const unknownOutcomes: Record<string, () => Response | Error> = {
  502: () => new Response('', { status: 502 }),
  504: () => new Response('', { status: 504 }),
  "a proxy's 503": () => new Response('<html>', { status: 503 }),
  "a proxy's 429": () => Response.json({ message: 'slow down' }, { status: 429 }),
  'a lost connection': () => new TypeError('fetch failed'),
  'a lost connection in Bun 1.3': () => Object.assign(new Error('closed'), { code: 'ECONNRESET' }),
  'a timeout': () => new DOMException('The operation was aborted due to timeout', 'TimeoutError')
}

const webhook = { name: 'CRM', target_url: 'https://a.example', event_types: ['job.created'] }

t.test('after an unknown outcome, only requests that are safe to repeat are retried', async (t) => {
  const calls: Array<[retried: boolean, call: (client: ReturnType<typeof createClient>) => Promise<unknown>]> = [
    [true, (client) => client.jobs.find(1)], [true, (client) => client.webhooks.delete(1)],
    [true, (client) => client.webhooks.update(1, { name: 'CRM' })], [true, (client) => client.webhooks.preview(webhook)],
    [true, (client) => client.webhooks.create(webhook)], [true, (client) => client.webhooks.retryDelivery(1, 1)],
    [false, (client) => client.request({ method: 'POST', path: '/x' })],
    [true, (client) => client.request({ method: 'POST', path: '/x', idempotencyKey: 'once' })],
    [true, (client) => client.request({ method: 'POST', path: '/x', isRepeatable: true })]
  ]
  for (const [isRetried, call] of calls) {
    for (const [name, create] of Object.entries(unknownOutcomes)) {
      const once = answerWith(create())
      const result = await call(createClient({ ...options, ...once })).then(() => true, () => false)
      t.strictSame([result, once.waits.length], [isRetried, isRetried ? 1 : 0], `${name}: ${call}`)
      const always = answerWith(...Array.from({ length: 9 }, create))
      await t.rejects(call(createClient({ ...options, ...always })))
      t.equal(always.waits.length, isRetried ? 4 : 0)
    }
    const busy = answerWith(failWith(503, 'unavailable'), failWith(429, 'rate_limited'))
    await call(createClient({ ...options, ...busy }))
    t.equal(busy.waits.length, 2, `nothing was done: ${call}`)
  }
  const aborted = answerWith(new DOMException('stopped', 'AbortError'))
  await t.rejects(createClient({ ...options, ...aborted }).jobs.find(1), { name: 'AbortError' })
  const invalid = answerWith()
  await t.rejects(createClient({ ...options, ...invalid, key: 'two\nlines' }).jobs.find(1), TypeError)
  t.strictSame(invalid.waits, [], 'a request that fetch does not accept is not sent')
})

t.test('a 404 means that there is nothing only if it came from the API', async (t) => {
  const answered = (...responses: Array<Response | Error>) => createClient({ ...options, ...answerWith(...responses) })
  const ingress = (): Response => new Response('default backend - 404', { status: 404 })
  const missing = (): Response => failWith(404, 'not_found')
  t.equal(await answered(missing()).jobs.find(1), null)
  const failed = { name: 'ApiError', status: 404, code: 'unknown' }
  for (const body of [null, 'x', { error: 'not_found' }, { error: { code: 404 } }, { error: { details: 'none' } }]) {
    await t.rejects(answered(Response.json(body, { status: 404 })).findEvent('evt_1'), failed)
  }
  for (const create of Object.values(unknownOutcomes)) {
    t.equal(await answered(create(), missing()).apiKeys.revoke('key_1'), undefined, 'an earlier attempt has deleted it')
    await t.rejects(answered(create(), ingress()).apiKeys.revoke('key_1'), failed)
  }
  await t.rejects(answered(missing()).apiKeys.revoke('key_1'), { status: 404, code: 'not_found' })
  await t.rejects(answered(failWith(503, 'unavailable'), missing()).webhooks.delete(1), { code: 'not_found' })
  await t.rejects(answered(new TypeError('fetch failed'), missing()).webhooks.update(1, {}), { code: 'not_found' })
})

t.test('a retried operation has the same idempotency key, or none if the key is not accepted', async (t) => {
  const { app, storage, options } = await serve(t, { secretKeys: [Buffer.alloc(32)] })
  const sent: Array<string | null> = []
  let loses = true
  const client = createClient({
    ...options,
    sleep: async () => {},
    async fetch (url, init) {
      const response = await fetch(url, init)
      sent.push(new Headers(init?.headers).get('idempotency-key'))
      if (loses) throw new TypeError('the response is lost')
      return response
    }
  })
  const lost = await client.webhooks.create(webhook).catch((error) => error)
  t.match(lost, { message: 'the response is lost', idempotencyKey: sent[0] })
  t.strictSame([sent.length, new Set(sent).size, await storage.webhooks.count('acme', {})], [5, 1, 1])
  loses = false
  const { id } = await client.webhooks.create(webhook, lost)
  t.strictSame([id, await storage.webhooks.count('acme', {})], [1, 1], 'the key of the error repeats the call')
  await client.webhooks.test((await client.webhooks.create(webhook)).id)
  await t.rejects(client.webhooks.create({ ...webhook, event_types: ['no.such'] }), { code: 'bad_request' })
  await t.rejects(client.webhooks.create({ ...webhook, name: 'other' }, lost), { code: 'bad_request', idempotencyKey: sent[0] })
  const [first, repeated, created, tested, invalid, plain, other, ...more] = sent.splice(4)
  t.equal(new Set([first, created, tested, invalid]).size, 4)
  t.strictSame([repeated, plain, other, more], [first, null, first, []])
  await app.close()

  const { options: rejecting } = await serve(t, { secretKeys: [] })
  t.match(await createClient(rejecting).webhooks.create(webhook), { name: 'CRM' })
})

t.test('only a 400 of the API to the first attempt repeats a request without its key', async (t) => {
  const rejected = (details?: object[]): Response => failWith(400, 'bad_request', details && { details })
  const keys: Array<string | null> = []
  const create = async (responses: Array<Response | Error>, given?: { idempotencyKey: string }): Promise<unknown> => {
    keys.length = 0
    const service = answerWith(...responses)
    const client = createClient({
      ...options,
      ...service,
      fetch: (...request) => {
        keys.push(new Headers(request[1]?.headers).get('idempotency-key'))
        return service.fetch(...request)
      }
    })
    return client.webhooks.create(webhook, given).then(() => 'created', (error) => error)
  }

  t.equal(await create([rejected()]), 'created')
  t.match(keys, [/^\w{32}$/, null])
  t.equal(await create([rejected([{ in: 'header', field: 'idempotency-key', message: 'is not accepted here' }])]), 'created')
  const failed = { name: 'ApiError', status: 400, idempotencyKey: String }
  for (const [name, responses] of Object.entries({
    ...Object.fromEntries(Object.entries(unknownOutcomes).map(([name, outcome]) => [name, [outcome(), rejected()]])),
    'a second attempt': [failWith(503, 'unavailable'), rejected()],
    'a running request': [failWith(409, 'conflict', { headers: { 'retry-after': '1' } }), rejected()],
    'a fault of the body': [rejected([{ in: 'body', field: 'name', message: 'must be text' }])],
    "a proxy's page": [new Response('<html>', { status: 400 })]
  })) {
    t.match(await create(responses), failed, name)
    t.equal(new Set(keys).size, 1, name)
  }
  t.match(await create([rejected()], { idempotencyKey: 'mine' }), { status: 400, idempotencyKey: 'mine' })
  t.strictSame(keys, ['mine'])
  t.match(await create([rejected(), new TypeError('fetch failed')]), { name: 'TypeError', idempotencyKey: undefined })
  t.equal(keys.length, 2, 'without its key, a request is not safe to repeat')
})

t.test('every method that posts takes a key, and its errors have it', async (t) => {
  const key = { idempotencyKey: 'once' }
  const calls: Array<(client: ReturnType<typeof createClient>) => Promise<unknown>> = [
    ({ webhooks }) => webhooks.create(webhook, key), ({ webhooks }) => webhooks.rotateSecret(1, {}, key),
    ({ webhooks }) => webhooks.test(1, {}, key), ({ webhooks }) => webhooks.replay(1, {}, key),
    ({ webhooks }) => webhooks.retryDelivery(1, 2, key), ({ apiKeys }) => apiKeys.create({ name: 'CRM', scopes: [] }, key),
    ({ apiKeys }) => apiKeys.rotate('key_1', {}, key), ({ request }) => request({ method: 'POST', path: '/x', ...key })
  ]
  const posts = JSON.stringify(operations).match(/"(?:post|run)"/g) ?? []
  t.equal(calls.length, posts.length + 1)
  for (const call of calls) {
    for (const create of [...Object.values(unknownOutcomes), () => failWith(500, 'internal_error'), () => new Response('no JSON')]) {
      const sent: unknown[] = []
      const client = createClient({
        ...options,
        maxRetries: 0,
        async fetch (_url, init) {
          sent.push(new Headers(init?.headers).get('idempotency-key'))
          const response = create()
          if (response instanceof Error) throw response
          return response
        }
      })
      t.match(await call(client).catch((error: unknown) => error), key, String(call))
      t.strictSame(sent, ['once'])
    }
  }
  const empty = createClient({ ...options, ...answerWith(Response.json({})) })
  t.match(await empty.webhooks.create(webhook, key).catch((error: unknown) => error), { name: 'ApiError', ...key })
})

t.test('a request waits for its own 409, up to the timeout, but not for another one', async (t) => {
  const conflict = (seconds?: string): Response =>
    failWith(409, 'conflict', seconds === undefined ? {} : { headers: { 'retry-after': seconds } })
  const running = answerWith(...Array.from({ length: 30 }, () => conflict('1')))
  await createClient({ ...options, ...running }).webhooks.replay(1)
  t.strictSame(running.waits, Array(30).fill(1000))
  for (const seconds of ['0', '1', '2']) {
    const endless = answerWith(...Array.from({ length: 99 }, () => conflict(seconds)))
    await t.rejects(createClient({ ...options, ...endless, timeoutMs: 4500 }).webhooks.replay(1), { name: 'ApiError', status: 409 })
    t.equal(endless.waits.length, seconds === '2' ? 2 : 4)
  }
  await t.rejects(createClient({ ...options, ...answerWith(conflict()) }).webhooks.replay(1), { name: 'ApiError', status: 409 })
  await t.rejects(createClient({ ...options, ...answerWith(conflict('1')) }).webhooks.update(1, {}), { name: 'ApiError', status: 409 })
})

t.test('an empty page ends a list', async (t) => {
  for (const last of ['Infinity', 1e12]) {
    const page = (data: object[]): Response =>
      Response.json({ data, meta: { page: 1, per_page: 1, total: 9, total_pages: last, total_is_capped: true } })
    const service = answerWith(page([{ id: 1 }]), page([]))
    t.equal((await collect(createClient({ ...options, ...service }).jobs.list())).length, 2)
  }
})

t.test('requests are not retried forever, after a longer wait or after other errors', async (t) => {
  const { options } = await serve(t)
  const busy = (seconds: number): Response => Response.json({ error: { code: 'rate_limited', message: 'Rate limit exceeded', request_id: 'req_1' } }, { status: 429, headers: { 'retry-after': String(seconds) } })
  const always = answerWith(...Array.from({ length: 3 }, () => busy(1)))
  await t.rejects(createClient({ ...options, ...always, maxRetries: 2 }).jobs.find(1), { name: 'ApiError', status: 429, code: 'rate_limited', requestId: 'req_1' })
  t.strictSame(always.waits, [1000, 1000])
  const long = answerWith(busy(61))
  await t.rejects(createClient({ ...options, ...long }).jobs.find(1), { name: 'ApiError', status: 429 })
  const broken = answerWith(new Response(null, { status: 500 }))
  await t.rejects(createClient({ ...options, ...broken }).jobs.find(1), { name: 'ApiError', status: 500 })
  t.strictSame([...long.waits, ...broken.waits], [])
})

t.test('a retry waits in real time, and a request times out', async (t) => {
  const { app, options } = await serve(t, { before: (app) => { app.addHook('onRequest', async () => { await stalled }) } })
  let release = (): void => {}
  const stalled = new Promise<void>((resolve) => { release = resolve })
  t.teardown(() => release())
  t.ok(app.server.listening)
  const patient = { ...options, timeoutMs: 20, maxRetries: 0 }
  await t.rejects(createClient(patient).jobs.find(1), { name: 'TimeoutError' })
  const once = answerWith(new Response(null, { status: 503, headers: { 'retry-after': '0' } }))
  t.equal(await createClient({ ...options, fetch: once.fetch }).jobs.find(1), 'ok')
})

t.test('the client is small and needs nothing from Node', async (t) => {
  const { outputFiles: [file] } = await build({ entryPoints: ['src/around/client/index.ts'], bundle: true, minify: true, format: 'esm', platform: 'browser', write: false })
  t.ok(gzipSync(file?.contents ?? '', { level: 9 }).length <= 4 * 1024)
  t.match(file?.text, 'whsec_')
  t.notMatch(file?.text, /node:|\b(process|Buffer|require)\b/)
})

t.test('a notification as it arrives', async (t) => {
  const receiver = await startReceiver(t)
  const app = await buildApp(t, { delivery: { allowHttp: true, allowNetworks: ['127.0.0.0/8'] } })
  const { webhooks, emit, drain } = app.recruiting
  const { id, secret: oldSecret } = await webhooks.create('acme', { name: 'CRM', target_url: receiver.url, event_types: ['job.created'] })
  const { secret } = await webhooks.rotateSecret('acme', id)
  await emit({ tenantSlug: 'acme', type: 'job.created', data: { id: 7, title: 'Köchin' } })
  await drain()
  const [request] = receiver.requests
  const body = String(request?.body)
  const headers = { ...request?.headers } as Record<string, string>
  const event = { type: 'job.created', tenant_slug: 'acme', data: { id: 7, title: 'Köchin' } }

  t.test('is verified with the secret, as text or bytes, and with the previous secret', async (t) => {
    t.match(await verifyWebhook(body, headers, secret), event)
    t.match(await verifyWebhook(new TextEncoder().encode(body), new Headers(headers), secret), event)
    t.match(await verifyWebhook<{ id: number }>(body, headers, oldSecret), event)
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]))
    t.match(await verifyWebhook(body, upper, secret), event)
  })

  const rejected = async (reason: RegExp, ...input: Parameters<typeof verifyWebhook>): Promise<void> => {
    const error = await verifyWebhook(...input).catch((error: unknown) => error)
    t.ok(error instanceof WebhookVerificationError)
    t.match(error, { name: 'WebhookVerificationError', message: reason })
  }

  t.test('is rejected if any part of it was changed', async () => {
    await rejected(/^webhook-signature: /, body.replace('7', '8'), headers, secret)
    await rejected(/^webhook-signature: /, body, { ...headers, 'webhook-id': 'evt_other' }, secret)
    await rejected(/^webhook-signature: /, body, { ...headers, 'webhook-signature': `v2,${headers['webhook-signature']?.slice(3)} v1,%` }, secret)
    const { secret: foreign } = await webhooks.create('globex', { name: 'CRM', target_url: receiver.url, event_types: ['job.created'] })
    await rejected(/^webhook-signature: /, body, headers, foreign)
  })

  t.test('is rejected if it is too old, too new or incomplete', async (t) => {
    const at = (seconds: number) => ({ now: () => Number(headers['webhook-timestamp']) * 1000 + seconds * 1000 })
    t.match(await verifyWebhook(body, headers, secret, at(300)), event)
    const { sequence } = await verifyWebhook(body, headers, secret, at(0))
    t.strictSame([null, undefined, '0000000000000000', sequence, '9'].map((last) => isNewer({ sequence }, last)), [true, true, true, false, false])
    t.match(await verifyWebhook(body, headers, secret, { ...at(3000), toleranceSeconds: 3600 }), event)
    await rejected(/^webhook-timestamp: more than 300 seconds from now$/, body, headers, secret, at(301))
    await rejected(/^webhook-timestamp: /, body, headers, secret, at(-302))
    await rejected(/^webhook-timestamp: /, body, { ...headers, 'webhook-timestamp': 'now' }, secret)
    for (const toleranceSeconds of [NaN, Infinity]) {
      await rejected(/^toleranceSeconds: /, body, headers, secret, { ...at(301), toleranceSeconds })
    }
    await rejected(/^webhook-timestamp: /, body, headers, secret, { now: () => NaN })
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      await rejected(new RegExp(`^${name}: missing$`), body, { ...headers, [name]: undefined } as Record<string, string | undefined>, secret)
    }
  })

  t.test('is rejected if the body is not an event, with one HMAC for any number of listed signatures', async (t) => {
    const sign = async (content: string): Promise<Record<string, string>> => {
      const digest = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
        .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${content}`)
        .digest('base64')
      return { ...headers, 'webhook-signature': `v1,${digest}` }
    }
    for (const wrong of ['', 'no JSON', 'null', '7']) {
      await rejected(/^body: expected a JSON object$/, wrong, await sign(wrong), secret)
    }
    await rejected(/^body: expected the text or bytes that arrived$/, JSON.parse(body), headers, secret)
    const signing = t.capture(crypto.subtle, 'sign', crypto.subtle.sign.bind(crypto.subtle))
    const many = Array.from({ length: 20_000 }, () => `v1,${Buffer.alloc(32).toString('base64')}`).join(' ')
    await rejected(/^webhook-signature: /, body, { ...headers, 'webhook-signature': many }, secret)
    t.match(
      await verifyWebhook(body, { ...headers, 'webhook-signature': `${many} ${headers['webhook-signature']}` }, secret),
      event
    )
    t.equal(signing().length, 2)
  })

  t.test('needs a secret in the right format', async (t) => {
    for (const wrong of [keys.full, 'whsec_', 'whsec_%']) await t.rejects(verifyWebhook(body, headers, wrong), { name: 'TypeError', message: 'secret: expected whsec_ and base64' })
  })
})
