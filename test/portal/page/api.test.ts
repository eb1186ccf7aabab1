import t from 'tap'
import {
  type Api, type ApiErrorDetail, type EventType, createApi, createSend, messageFor, noResponse, readAll,
  readFailure
} from '../../../src/around/portal/page/api.js'
import type { Session } from '../../../src/around/portal/page/session.js'

function session (token: string, tenantSlug = 'acme'): Session {
  return { token, tenantSlug, expiresAt: 0, capabilities: new Set(['read']), locale: null, theme: {}, returnUrl: null }
}

interface Sent {
  url: string
  init: RequestInit
}

/** Creates an API that gets these responses, one per request. */
function start (answers: Array<(init: RequestInit) => Promise<Response> | Response>, { first = session('one'), next = null, isKeyed = true }: { first?: Session | null, next?: Session | null, isKeyed?: boolean } = {}) {
  const sent: Sent[] = []
  const rejected: Session[] = []
  const confirmed: Session[] = []
  const send = createSend({
    base: 'https://ats.example/api/',
    sessions: {
      current: () => first,
      confirm: (session) => { confirmed.push(session) },
      async replaced (old) {
        rejected.push(old)
        return next
      }
    },
    async fetch (url, init) {
      sent.push({ url, init })
      const answer = answers.shift()
      if (answer === undefined) throw new Error('one request too many')
      return answer(init)
    }
  })
  return { send, sent, rejected, confirmed, api: createApi(send, isKeyed) }
}

const list = () => Response.json({ data: [], meta: {} })

t.test('a request has the token, sends no cookies or referrer, and follows no redirect', async (t) => {
  const { api, sent } = start([list, list])
  await api.webhooks.listDeliveries(1, { 'filter[status]': 'failed', page: 2 })
  await api.webhooks.update(1, { status: 'inactive' })
  const [listed, updated] = sent
  t.equal(listed?.url, 'https://ats.example/api/acme/webhooks/1/deliveries?filter%5Bstatus%5D=failed&page=2')
  const { body, method, headers, credentials, redirect, referrerPolicy } = updated?.init ?? {}
  t.strictSame([updated?.url, method, body], ['https://ats.example/api/acme/webhooks/1', 'PATCH', '{"status":"inactive"}'])
  t.strictSame({ headers, credentials, redirect, referrerPolicy }, {
    headers: { authorization: 'Bearer one', accept: 'application/json', 'content-type': 'application/json' },
    credentials: 'omit',
    redirect: 'error',
    referrerPolicy: 'no-referrer'
  })
})

t.test('a request that gets 401 is retried once with the next session', async (t) => {
  const reject = () => Response.json({ error: { code: 'unauthorized', request_id: 'req_1' } }, { status: 401 })
  const next = session('two')
  const repeated = start([reject, list], { next })
  t.equal((await repeated.api.webhooks.list({})).failure, null)
  t.strictSame(repeated.rejected.map(({ token }) => token), ['one'])
  t.strictSame(repeated.confirmed, [next], 'only the second session was accepted')
  t.match(repeated.sent.map(({ init }) => init.headers), [{ authorization: 'Bearer one' }, { authorization: 'Bearer two' }])

  const twice = start([reject, reject], { next })
  t.match((await twice.api.webhooks.list({})).failure, { code: 'unauthorized', status: 401, requestId: 'req_1' })

  const otherTenant = start([reject])
  t.match((await otherTenant.api.webhooks.list({})).failure, { code: 'unauthorized', status: 401 })
  t.equal(otherTenant.sent.length, 1)

  const none = start([], { first: null })
  t.match((await none.api.webhooks.list({})).failure, { code: 'unauthorized', status: 0 })
})

t.test('a POST that changes data keeps its key until it succeeds or its outcome is unknown', async (t) => {
  const keysOf = (sent: Sent[]) => sent.map(({ init }) => new Headers(init.headers).get('idempotency-key'))
  const lost = () => { throw new TypeError('Failed to fetch') }
  const busy = () => Response.json({ error: { code: 'conflict' } }, { status: 409, headers: { 'retry-after': '1' } })
  const unauthorized = () => Response.json({ error: { code: 'unauthorized' } }, { status: 401 })
  const done = () => Response.json({ data: { id: 1 } })
  const { api: { webhooks }, sent } = start([lost, busy, unauthorized, done, done, done, lost, done, done, done], { next: session('two') })
  const webhook = { name: 'CRM', target_url: 'https://a.example', event_types: ['job.created'] }
  t.equal((await webhooks.create(webhook)).failure?.code, 'network')
  t.equal((await webhooks.create(webhook)).failure?.code, 'unavailable')
  t.equal((await webhooks.create(webhook)).failure, null)
  await webhooks.create(webhook)
  await webhooks.create({ ...webhook, name: 'HR' })
  await webhooks.retryDelivery(1, 2)
  await webhooks.retryDelivery(1, 2)
  await webhooks.preview(webhook)
  await webhooks.update(1, webhook)
  const [first, second, third, fourth, again, other, retry, retried, ...others] = keysOf(sent)
  t.match(first, /^\w{32}$/)
  t.strictSame([second, third, fourth, retried], [first, first, first, retry])
  t.equal(new Set([first, again, other, retry]).size, 4)
  t.strictSame(others, [null, null])

  const unknown = () => Response.json({ error: { code: 'outcome_unknown' } }, { status: 500 })
  const failing = start([lost, unknown, done])
  for (const code of ['network', 'outcome_unknown', undefined]) {
    t.equal((await failing.api.webhooks.test(1)).failure?.code, code)
  }
  const [before, same, next] = keysOf(failing.sent)
  t.strictSame([same === before, next === before], [true, false], 'an unknown outcome ends it')

  const unsupported = start([done], { isKeyed: false })
  await unsupported.api.webhooks.create(webhook)
  t.strictSame(keysOf(unsupported.sent), [null])
})

t.test('only a 404 of the API means that something is gone', async (t) => {
  const codeOf = async (response: Response) => (await readFailure(response)).code
  t.equal(await codeOf(Response.json({ error: { code: 'not_found' } }, { status: 404 })), 'not_found')
  t.equal(await codeOf(new Response('default backend - 404', { status: 404 })), 'unavailable')
  t.equal(await codeOf(Response.json({ error: { code: 'conflict' } }, { status: 409 })), 'conflict')
})

t.test('network errors, truncated bodies and timeouts are failures, and only an abort rejects', async (t) => {
  const fail = () => { throw new TypeError('Failed to fetch') }
  t.strictSame((await start([fail]).api.webhooks.list({})).failure, noResponse('network'))
  t.strictSame((await start([() => new Response('{"data":')]).api.webhooks.list({})).failure, noResponse('network'))

  const aborted = AbortSignal.abort()
  await t.rejects(start([fail]).api.webhooks.list({}, aborted), { name: 'AbortError' })
  await t.rejects(start([() => new Response('{"data":')]).api.webhooks.list({}, aborted), { name: 'AbortError' })
  const reject = () => new Response(null, { status: 401 })
  await t.rejects(start([reject], { next: session('two') }).api.webhooks.list({}, aborted), { name: 'AbortError' })
})

t.test('a request times out after 30 seconds', async (t) => {
  const { timeout } = AbortSignal
  const asked: number[] = []
  AbortSignal.timeout = (ms) => {
    asked.push(ms)
    return AbortSignal.abort()
  }
  t.teardown(() => { AbortSignal.timeout = timeout })
  const { api } = start([({ signal }) => { throw signal?.reason }])
  t.strictSame((await api.webhooks.retryDelivery(1, 2)).failure, noResponse('timeout'))
  t.strictSame(asked, [30_000])
})

t.test('a failure has its code, status, request id and time to wait', async (t) => {
  const details: ApiErrorDetail[] = [{ in: 'body', field: 'event_types[0]', message: 'is unknown' }]
  const error = { code: 'bad_request', request_id: 'req_1', details }
  const rejected = await readFailure(Response.json({ error }, { status: 400 }))
  t.strictSame(rejected, { code: 'bad_request', status: 400, requestId: 'req_1', retryAfterMs: null, details })
  t.equal(messageFor(rejected, 'event_types'), 'is unknown')
  t.equal(messageFor(rejected, 'event_types[0]'), 'is unknown')
  t.equal(messageFor(rejected, 'event'), null)
  t.equal(messageFor(null, 'name'), null)

  const waits = async (text: string) => {
    return (await readFailure(new Response('', { status: 429, headers: { 'retry-after': text } }))).retryAfterMs
  }
  t.equal(await waits('7'), 7000)
  const inAMinute = Number(await waits(new Date(Date.now() + 60_000).toUTCString()))
  t.ok(inAMinute > 50_000 && inAMinute <= 60_000)
  t.equal(await waits('Sun, 01 Mar 2026 09:29:00 GMT'), 0)
  t.equal(await waits('soon'), null)
})

const eventType = (name: string): EventType => ({ name, description: null, schema: {}, example: null })
const catalogue = [eventType('application.created'), eventType('job.closed'), eventType('job.created')]

t.test('the whole catalogue is read, page by page', async (t) => {
  const asked: unknown[] = []
  const list: Api['listEventTypes'] = async (query) => {
    asked.push(query)
    const { page = 0 } = query as { page?: number }
    if (page > 3) return { value: null, failure: noResponse('network') }
    const meta = { page, per_page: 1, total: 3, total_pages: total }
    return { value: { data: catalogue.slice(page - 1, page), meta }, failure: null }
  }
  let total = 3
  const { signal } = new AbortController()
  t.strictSame(await readAll(list, signal), { value: catalogue, failure: null })
  t.strictSame(asked, [1, 2, 3].map((page) => ({ page, per_page: 200 })))
  total = 4
  t.strictSame(await readAll(list, signal), { value: null, failure: noResponse('network') })
})
