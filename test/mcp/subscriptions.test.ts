import { createHmac } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import t from 'tap'
import { type AuditEntry, defaultEvents } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { type AppOverrides, bearer, buildApp, keys, type Teardown, tenants } from '../fixtures/api/app.js'
import { checkError } from '../fixtures/api/answers.js'
import { sendMessage } from '../fixtures/api/mcp.js'
import { createToken, portal } from '../fixtures/portal/sessions.js'
import { toLoopback } from '../fixtures/api/webhook-api.js'
import { type ReceivedRequest, startReceiver } from '../fixtures/receivers/receiver.js'

/*
 * The checks of the official conformance suite's scenarios `events-webhook` and `events-webhook-delivery`, and our
 * further promises.
 */

const secretOf = (text: string): string => `whsec_${Buffer.from(text.padEnd(32, '.')).toString('base64')}`
const secret = secretOf('one')

interface Result { id: string, refreshBefore: string, cursor: string, truncated: boolean, deliveryStatus?: object }
interface Response { result: Result, error?: { code: number, message: string, data?: object } }

/** A callback that confirms its address, and what it received. */
async function startAgent (t: Teardown) {
  const receiver = await startReceiver(t)
  const state = { status: 204, echo: (challenge: string) => challenge }
  receiver.answer((response: ServerResponse, { body }: ReceivedRequest) => {
    const { type, challenge } = JSON.parse(body)
    if (type !== 'verification') return response.writeHead(state.status).end()
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ challenge: state.echo(challenge) }))
  })
  const bodies = () => receiver.requests.map(({ body }) => JSON.parse(body))
  return {
    url: receiver.url,
    state,
    requests: receiver.requests,
    /** Resolves once so many requests have arrived. */
    received: receiver.received,
    challenges: () => bodies().filter(({ type }) => type === 'verification').length,
    controls: () => bodies().filter(({ type }) => type !== undefined && type !== 'verification'),
    events: () => bodies().filter(({ type }) => type === undefined),
    ids: () => bodies().filter(({ type }) => type === undefined).map(({ data }) => data.id as number)
  }
}

async function start (t: Teardown, options: AppOverrides = {}) {
  const agent = await startAgent(t)
  const storage = options.storage ?? memoryStorage({ tenants })
  const app = await buildApp(t, {
    storage, mcp: { events: true }, openapi: false, delivery: { ...toLoopback, worker: true, pollMs: 10 }, ...options
  })
  const ask = async (method: string, params: object, key = keys.full, tenant = 'acme'): Promise<Response> =>
    (await sendMessage(app, key, method, params, { tenant })).json()
  const request = (changes: object = {}) => ({
    name: 'job.closed', arguments: {}, delivery: { mode: 'webhook', url: agent.url, secret }, cursor: null, ...changes
  })
  return {
    app,
    agent,
    storage,
    ask,
    request,
    subscribe: async (changes: object = {}, key?: string) => (await ask('events/subscribe', request(changes), key)).result,
    unsubscribe: (changes: object = {}, key?: string) => ask('events/unsubscribe', request(changes), key),
    async emit (...ids: number[]): Promise<void> {
      for (const id of ids) await app.recruiting.emit({ tenantSlug: 'acme', type: 'job.closed', data: { id } })
    },
    drain: () => app.recruiting.drain(),
    call: (method: 'GET' | 'DELETE', path: string, key = keys.full) =>
      app.inject({ method, url: `/api/v1/public/acme/subscriptions${path}`, headers: bearer(key) })
  }
}

t.test('an agent confirms its address, gets each event signed, and unsubscribes', async (t) => {
  const { agent, ask, subscribe, emit, drain, unsubscribe } = await start(t)
  t.match((await ask('events/list', {})).result, { events: [{ delivery: ['poll', 'webhook'] }] })
  await emit(1)
  const { id, refreshBefore, ...rest } = await subscribe()
  t.match(id, /^sub_[\da-f]{32}$/)
  t.ok(Math.abs(Date.parse(refreshBefore) - Date.now() - 3_600_000) < 60_000, 'an hour is the usual time')
  t.match(rest, { resultType: 'complete', cursor: String, truncated: false })
  t.notOk('deliveryStatus' in rest)
  await emit(2, 3)
  await drain()
  t.strictSame(agent.ids(), [2, 3], 'events before the subscription are not sent')
  for (const { headers, body, method } of agent.requests) {
    const { 'webhook-id': messageId, 'webhook-timestamp': time, 'webhook-signature': signature } = headers
    const { type, eventId } = JSON.parse(body)
    t.strictSame([method, headers['content-type'], headers['x-mcp-subscription-id']], ['POST', 'application/json', id])
    t.match(messageId, type === 'verification' ? /^msg_verification_[\da-f]+$/ : new RegExp(`^${eventId}$`))
    const expected = createHmac('sha256', Buffer.from(secret.slice(6), 'base64')).update(`${messageId}.${time}.${body}`).digest('base64')
    t.equal(signature, `v1,${expected}`)
  }
  t.strictSame(Object.keys(agent.events()[0]), ['eventId', 'name', 'timestamp', 'data', 'cursor'])
  t.match(await unsubscribe(), { result: { resultType: 'complete' } })
  await emit(4)
  await drain()
  t.strictSame(agent.ids(), [2, 3], 'nothing comes after the end')
  t.strictSame(agent.controls(), [], 'an unsubscribed agent gets no notice')
  t.match(await unsubscribe(), { error: { code: -32011, data: { kind: 'subscription' } } })
})

t.test('an agent that lapsed comes back with its last cursor, and gets every event once', async (t) => {
  const { agent, subscribe, unsubscribe, emit, drain, ask } = await start(t)
  await subscribe()
  await emit(1, 2)
  await drain()
  const { cursor } = agent.events().at(-1)
  await unsubscribe()
  const ids = Array.from({ length: 120 }, (_, index) => index + 10)
  await emit(...ids)
  const { truncated } = await subscribe({ cursor })
  await drain()
  // The watermark of the last event is before it, so that it may come again.
  t.strictSame([...new Set(agent.ids())].filter((id) => id >= 10), ids)
  t.equal(truncated, false)
  const { result } = await ask('events/poll', { name: 'job.closed', cursor: agent.events().at(-1).cursor })
  t.match(result, { truncated: false }, 'a poll accepts the cursor of a delivery')
})

t.test('a refresh keeps the subscription and its position, and changes its end and secret', async (t) => {
  const { agent, subscribe, emit, drain } = await start(t)
  const { id, refreshBefore } = await subscribe({ ttlMs: 60_000 })
  await emit(1)
  await drain()
  const again = await subscribe({ cursor: null, ttlMs: 3_000_000, delivery: { mode: 'webhook', url: agent.url, secret: secretOf('two') } })
  t.match(again, { id, truncated: false, deliveryStatus: { active: true, lastError: null, lastDeliveryAt: /Z$/ } })
  t.ok(again.refreshBefore > refreshBefore)
  await emit(2)
  await drain()
  t.strictSame(agent.ids(), [1, 2], 'nothing is repeated')
  t.equal(String(agent.requests.at(-1)?.headers['webhook-signature']).split(' ').length, 2, 'both secrets sign for a while')
  t.equal(agent.challenges(), 1, 'the confirmation counts for a day')
  agent.state.status = 410
  await emit(3)
  await drain()
  agent.state.status = 204
  await emit(4)
  await drain()
  t.strictSame(agent.ids(), [1, 2, 3, 4], '410 ends one delivery, and not the subscription')
})

t.test('a refresh after failures begins again at the cursor, so that what was given up comes again', async (t) => {
  const { agent, subscribe, emit, drain } = await start(t)
  const { cursor } = await subscribe()
  agent.state.status = 410
  await emit(1, 2)
  await drain()
  agent.state.status = 204
  t.match(await subscribe({ cursor: 'lost' }), { truncated: false }, 'a cursor that is not valid changes nothing')
  await drain()
  t.strictSame(agent.ids().toSorted(), [1, 2])
  t.match(await subscribe({ cursor }), { truncated: false, deliveryStatus: { lastError: 'http_4xx', failedSince: /Z$/ } })
  await drain()
  t.strictSame(agent.ids().toSorted(), [1, 1, 2, 2])
  await subscribe({ cursor })
  await emit(3)
  await drain()
  t.strictSame(agent.ids().slice(4), [3], 'once deliveries succeed, a cursor changes nothing')
  t.strictSame([agent.controls(), agent.challenges()], [[], 2], 'the callback confirms its address again')
})

t.test('a grant is at most what was asked for, but for its limits, and never endless', async (t) => {
  const { subscribe } = await start(t)
  for (const [ttlMs, expected] of [
    [1, 60_000], [120_000, 120_000], [30 * 86_400_000, 86_400_000], [null, 3_600_000], [1e300, 86_400_000]
  ] as const) {
    const { refreshBefore } = await subscribe({ ttlMs })
    t.ok(Math.abs(Date.parse(refreshBefore) - Date.now() - expected) < 30_000, String(ttlMs))
  }
})

t.test('the key of a subscription is its principal, address, name and arguments; its id is no input', async (t) => {
  const { agent, subscribe, unsubscribe, ask, request } = await start(t)
  const { id } = await subscribe()
  t.equal((await subscribe({ id: 'sub_x' })).id, id)
  const others = [
    await subscribe({}, keys.webhooks), await subscribe({ arguments: { id: 1 } }),
    await subscribe({ arguments: { id: [1, 2] } }),
    await subscribe({ name: 'job.created' }), await subscribe({ delivery: { url: `${agent.url}/2`, secret } })
  ]
  t.equal(new Set([id, ...others.map((one) => one.id)]).size, 6)
  t.equal((await subscribe({ arguments: { id: [2, 1] } })).id, others[2]?.id, 'the order of values means nothing')
  t.match(await ask('events/unsubscribe', request(), keys.globex, 'globex'), { error: { code: -32011 } }, 'another tenant')
  t.match(await unsubscribe({ id, name: 'job.updated' }), { error: { code: -32011 } }, 'an id does not help')
  t.equal(agent.challenges(), 3, 'once for each principal and address')
})

t.test('invalid requests are rejected before anything is sent', async (t) => {
  const { agent, ask, request } = await start(t)
  const delivery = (changes: object) => ({ delivery: { mode: 'webhook', url: agent.url, secret, ...changes } })
  for (const [changes, code, key] of [
    [{ delivery: undefined }, -32602], [delivery({ secret: undefined }), -32602], [delivery({ secret: 'x' }), -32602],
    [delivery({ secret: `whsec_${Buffer.alloc(8).toString('base64')}` }), -32602], [delivery({ url: 'x' }), -32602],
    [delivery({ url: 'ftp://agent.example/' }), -32602], [delivery({ url: 'https://127.0.0.2/' }), -32602],
    [delivery({ url: 'https://user@agent.example/' }), -32602], [delivery({ mode: 'push' }), -32014], [{ name: 'no.such' }, -32011],
    [{ arguments: { job_id: 1 } }, -32602], [{ ttlMs: 'x' }, -32602], [{ cursor: 1 }, -32602],
    [{}, -32012, keys.webhooksRead], [{}, -32012, keys.webhooksWrite]
  ] as const) t.match(await ask('events/subscribe', request(changes), key), { error: { code } }, JSON.stringify(changes))
  t.equal(agent.requests.length, 0)
})

t.test('an address that is not confirmed gets nothing but the challenge', async (t) => {
  const { agent, ask, request, emit, drain, call } = await start(t)
  const subscribe = (url = agent.url) => ask('events/subscribe', request({ delivery: { url, secret } }))
  const failure = (reason: string) => ({ error: { code: -32015, data: { reason } } })
  agent.state.echo = () => 'another'
  t.match(await subscribe(), failure('challenge_failed'))
  t.match(await subscribe('http://127.0.0.1:1/'), failure('connection_refused'))
  const receiver = await startReceiver(t)
  for (const [status, reason] of [[404, 'http_4xx'], [503, 'http_5xx'], [302, 'http_4xx'], [204, 'challenge_failed']] as const) {
    receiver.answer(status)
    const answer = await subscribe(receiver.url)
    t.strictSame(answer.error?.data, { reason }, String(status))
  }
  await emit(1)
  await drain()
  t.strictSame([agent.events(), (await call('GET', '')).json().meta.total], [[], 0])
})

t.test('challenges and subscriptions are limited', async (t) => {
  const { agent, ask, request, subscribe } = await start(t)
  for (let id = 0; id < 20; id++) await subscribe({ arguments: { id } })
  t.match(await ask('events/subscribe', request({ arguments: { id: 99 } })), { error: { code: -32013, data: { limit: 'subscriptions', max: 20 } } })
  t.equal((await subscribe({ arguments: { id: 1 } })).truncated, false, 'a refresh needs no place')
  agent.state.echo = () => ''
  for (let count = 0; count < 29; count++) await ask('events/subscribe', request({ delivery: { url: `${agent.url}/${count}`, secret } }))
  t.match(await ask('events/subscribe', request({ delivery: { url: `${agent.url}/x`, secret } })), { error: { code: -32013, data: { limit: 'challenges', max: 30 } } })
  t.equal(agent.challenges(), 30)
})

t.test('a cursor that is lost, or older than maxAgeMs, is truncated', async (t) => {
  const { subscribe, unsubscribe, emit, drain, agent, ask } = await start(t)
  t.match(await subscribe({ cursor: 'x' }), { truncated: true })
  await unsubscribe()
  const { result: { cursor } } = await ask('events/poll', { name: 'job.closed' })
  await emit(1)
  t.match(await subscribe({ cursor, maxAgeMs: 0 }), { truncated: true })
  await emit(2)
  await drain()
  t.strictSame(agent.ids(), [2])
})

t.test('people see the subscriptions without their addresses, and end them', async (t) => {
  const entries: AuditEntry[] = []
  const { agent, subscribe, call, emit, drain, app } = await start(t, { onAudit: (entry) => { entries.push(entry) } })
  const { id } = await subscribe({ arguments: { id: [1, 2] } })
  await subscribe({ name: 'job.created' }, keys.webhooks)
  await emit(1)
  await drain()
  agent.state.status = 500
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'job.created', data: { id: 1 } })
  await drain()
  const { data, meta } = (await call('GET', '?sort=-created_at&filter[key_id]=key_1')).json()
  t.strictSame([data.length, meta.total], [(await call('GET', '?filter[key_id]=key_1')).json().meta.total, data.length])
  const all = (await call('GET', '')).json().data
  t.equal(all.length, 2)
  const shown = all.find((one: { id: string }) => one.id === id)
  t.match(shown, {
    id,
    key_id: String,
    event_type: 'job.closed',
    filters: { 'data.id': [1, 2] },
    callback_host: new URL(agent.url).host,
    status: 'active',
    last_delivered_at: /Z$/,
    last_error: null,
    last_response_status: null,
    created_at: /Z$/,
    expires_at: /Z$/
  })
  t.equal(Object.keys(shown).length, 11)
  t.match(all.find((one: { id: string }) => one.id !== id), {
    status: 'failing', last_delivered_at: null, last_error: 'http_status', last_response_status: 500
  })
  checkError(t, await call('GET', '', keys.jobsRead), 403)
  checkError(t, await call('DELETE', '/sub_x'), 404)
  t.equal((await call('DELETE', `/${id}`)).statusCode, 204)
  checkError(t, await call('DELETE', `/${id}`), 404)
  await emit(2)
  await drain()
  await agent.received(5)
  await app.close()
  t.strictSame(agent.ids(), [1, 1])
  t.match(agent.controls(), [{ type: 'terminated', error: { code: -32012, message: 'Forbidden', data: { reason: 'disconnected' } } }])
  t.match(entries.map(({ operationId, resource }) => [operationId, resource?.kind ?? null]).filter(([name]) => String(name).includes('ubscri')), [
    ['subscribeEvents', 'subscription'], ['subscribeEvents', 'subscription'], ['listSubscriptions', null], ['listSubscriptions', null],
    ['listSubscriptions', null], ['listSubscriptions', null], ['endSubscription', 'subscription'], ['endSubscription', 'subscription'],
    ['endSubscription', 'subscription']
  ])
})

t.test('subscriptions end when they expire or their type is removed; the callback and the audit get the reason', async (t) => {
  let skewMs = 0
  const clock = { now: () => Date.now() + skewMs, monotonic: () => performance.now() + skewMs }
  const storage = memoryStorage({ tenants, clock })
  const entries: AuditEntry[] = []
  const options = { storage, onAudit: (entry: AuditEntry) => { entries.push(entry) } }
  const { agent, subscribe, drain } = await start(t, options)
  const ids = [await subscribe({ ttlMs: 60_000 }), await subscribe({ name: 'job.created' })].map(({ id }) => id)
  skewMs = 61_000
  await drain()
  await agent.received(2)
  const { app: later } = await start(t, { ...options, events: { 'job.closed': defaultEvents['job.closed'] } })
  const requests = await agent.received(3)
  await later.close()
  const reasons = ['expired', 'removed']
  t.strictSame(requests.slice(1).map(({ headers }) => headers['x-mcp-subscription-id']), ids)
  t.match(agent.controls(), [{ reason: 'expired', kind: 'subscription' }, { reason: 'removed', kind: 'event' }]
    .map((data) => ({ type: 'terminated', error: { code: -32011, data } })))
  t.match(entries.filter(({ source }) => source === 'service'), reasons.map((endReason, index) => ({
    operationId: 'endSubscription', tenantSlug: 'acme', tenantId: 'acme', resource: { kind: 'subscription', id: ids[index], endReason }
  })))
  t.equal((await storage.subscriptions.stats()).live, 0)
})

t.test('a portal session cannot subscribe', async (t) => {
  const { app, agent, ask, request } = await start(t, { portal })
  const { error } = await ask('events/subscribe', request(), await createToken(app))
  t.match([error?.code, agent.requests.length], [-32012, 0])
})

t.test('code ends the subscriptions of a principal', async (t) => {
  const { app, subscribe, call, agent } = await start(t)
  await subscribe()
  await subscribe({ name: 'job.created' })
  const [{ key_id: principal }] = (await call('GET', '')).json().data
  t.match((await app.recruiting.subscriptions.list('acme')).data, [{ key_id: principal }, { key_id: principal }])
  t.equal(await app.recruiting.subscriptions.end({ tenantSlug: 'globex', principal }), 0)
  t.equal(await app.recruiting.subscriptions.end({ tenantSlug: 'acme', principal }), 2)
  await t.rejects(app.recruiting.subscriptions.end({ tenantSlug: 'acme', principal: '' }), { code: 'invalid_input', field: 'principal' })
  await agent.received(3)
  t.equal(agent.controls().length, 2)
})

t.test('ending the subscriptions of a copy or of a suspended tenant sends nothing', async (t) => {
  const storage = memoryStorage({ tenants })
  let isHeld = false
  const holds = {
    ...storage.holds,
    find: async () => isHeld ? { reason: 'copy' as const, since: new Date().toISOString() } : null
  }
  const { app, agent, subscribe } = await start(t, { storage: { ...storage, holds } })
  const { id } = await subscribe()
  const { id: other } = await subscribe({ name: 'job.created' })
  const { id: last } = await subscribe({ name: 'job.updated' })
  const end = async (id: string) => app.recruiting.subscriptions.end({ tenantSlug: 'acme', id })
  isHeld = true
  t.equal(await end(id), 1)
  isHeld = false
  await app.recruiting.suspendTenant('acme')
  t.equal(await end(other), 1)
  await app.recruiting.resumeTenant('acme', { pending: 'deliver' })
  t.equal(await end(last), 1)
  // Notices are sent in order.
  const requests = await agent.received(2)
  t.strictSame(requests.map(({ headers }) => headers['x-mcp-subscription-id']), [id, last], 'the challenge and one notice')
})

t.test('without the option, the routes do not exist', async (t) => {
  const { call } = await start(t, { mcp: true })
  checkError(t, await call('GET', ''), 404)
})
