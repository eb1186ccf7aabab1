import { randomBytes } from 'node:crypto'
import t from 'tap'
import { buildWebhookApi, toLoopback } from '../fixtures/api/webhook-api.js'
import { first, startDelivering } from '../fixtures/delivery/delivering.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { startReceiver } from '../fixtures/receivers/receiver.js'

interface Shown { data: { id: number, headers: object | null } }

const key = randomBytes(32)
const headers = { 'X-Api-Key': 'key of the gateway', Authorization: 'Basic dXNlcjpwYXNz' }
const names = { 'X-Api-Key': null, Authorization: null }

t.test('notifications and tests contain the headers of the webhook, and no response shows a value', async (t) => {
  const { call, receiver, webhook, drain, emit, storage } = await startDelivering(t, { secretKeys: [key] })
  const answers = [await call<Shown>('PATCH', `/webhooks/${webhook.id}`, { headers })]
  t.same(answers[0]?.body.data.headers, names)
  await emit()
  await drain()
  await call('POST', `/webhooks/${webhook.id}/dispatch_test`)
  t.equal(receiver.requests.length, 2)
  for (const request of receiver.requests) {
    t.match(request.headers, { 'x-api-key': 'key of the gateway', authorization: 'Basic dXNlcjpwYXNz', 'content-type': 'application/json', 'webhook-id': /^evt_/ })
  }
  answers.push(await call('GET', `/webhooks/${webhook.id}`), await call('GET', '/webhooks'), await call('POST', `/webhooks/${webhook.id}/rotate_secret`))
  answers.push(await call('PATCH', `/webhooks/${webhook.id}`, { name: 'Renamed' }))
  for (const { status, body } of answers) {
    t.equal(status, 200)
    t.match(JSON.stringify(body), '"headers":{"X-Api-Key":null,"Authorization":null}')
    t.notMatch(JSON.stringify(body), /gateway|Basic/)
  }
  t.match(await storage.webhooks.findHeaders('acme', webhook.id), /^sealed_v1:/)
})

t.test('a webhook can be created with headers; new headers replace them all, and null removes them', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id, headers: created } = await create({ headers })
  t.same(created, names)
  t.same((await call<Shown>('PATCH', `/webhooks/${id}`, { headers: { 'X-Token': '1' } })).body.data.headers, { 'X-Token': null })
  t.equal((await call<Shown>('PATCH', `/webhooks/${id}`, { headers: null })).body.data.headers, null)
  for (const none of [{ headers: null }, { headers: {} }]) {
    const webhook = await create(none)
    t.same(Object.keys(webhook), ['id', 'name', 'status', 'target_url', 'event_types', 'secret'])
    t.equal((await call<Shown>('GET', `/webhooks/${webhook.id}`)).body.data.headers, null)
  }
})

t.test('a new target_url removes the headers unless they are sent again', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id } = await create({ target_url: 'https://hooks.example.com/', headers })
  const change = async (changes: object) => (await call<Shown>('PATCH', `/webhooks/${id}`, changes)).body.data.headers
  t.same(await change({ target_url: 'https://hooks.example.com/' }), names, 'the same address')
  t.same(await change({ target_url: 'https://elsewhere.example.com/hook', headers: { 'X-Token': '1' } }), {
    'X-Token': null
  })
  t.equal(await change({ target_url: 'https://third.example.com/hook' }), null)
  t.equal((await call('PATCH', '/webhooks/999', { target_url: 'https://third.example.com/' })).status, 404)
})

t.test('values are not sent to another origin, even if two requests change a webhook concurrently', async (t) => {
  const other = await startReceiver(t)
  let move: (() => Promise<unknown>) | null = null
  const { storage } = spyStorage(undefined, ({ method }, real) => {
    const moveNow = method === 'webhooks.update' ? move : null
    if (moveNow === null) return real()
    move = null
    return moveNow().then(real)
  })
  const { call, receiver, webhook, drain, emit } = await startDelivering(t, { storage, secretKeys: [key] })
  move = () => call('PATCH', `/webhooks/${webhook.id}`, { target_url: other.url })
  t.equal((await call('PATCH', `/webhooks/${webhook.id}`, { headers })).status, 200)
  await emit()
  await drain()
  await call('POST', `/webhooks/${webhook.id}/dispatch_test`)
  t.equal(receiver.requests.length, 0)
  t.equal(other.requests.length, 2)
  t.notMatch(JSON.stringify(other.requests), /gateway|dXNlcjpwYXNz/)
})

t.test('a response_excerpt contains no header value', async (t) => {
  const { call, receiver, webhook, drain, emit, lastDelivery } = await startDelivering(t, {
    delivery: { responseExcerptBytes: 64 }
  })
  await call('PATCH', `/webhooks/${webhook.id}`, { headers: { ...headers, 'X-Quoted': 'a"b' } })
  const body = '{"key of the gateway": "a\\"b", "token": "dXNlcjpwYXNz"} key of the gateway'
  receiver.answer({ status: 400, headers: { 'content-type': 'text/plain' }, body })
  await emit()
  await drain()
  t.match((await lastDelivery()).attempts, [
    { response_excerpt: '{"******************": "****", "token": "************"} ********' }
  ])
})

const reserved = 'must not be a header that the notification uses'
const rejected: Array<[title: string, headers: unknown, field: string, message: string | RegExp]> = [
  ...[
    'Host', 'host', 'Webhook-Id', 'webhook-other', 'Content-Type', 'content-length', 'Connection', 'Transfer-Encoding',
    'TE', 'Upgrade', 'User-Agent', 'traceparent', 'Tracestate', 'baggage', 'Keep-Alive', 'Trailer', 'Expect',
    'Proxy-Authorization', 'Via', 'Date', 'HTTP2-Settings', 'Sec-Fetch-Mode', 'Svix-Id', 'Set-Cookie', 'Proxy'
  ].map((name): [string, unknown, string, string] => [name, { [name]: 'x' }, `headers.${name}`, reserved]),
  ['a name twice', { 'X-Token': '1', 'x-token': '2' }, 'headers.x-token', 'must not be given twice'],
  ['a name with a space', { 'X Token': '1' }, 'headers', /must match pattern|property name/],
  ['an empty name', { '': '1' }, 'headers', /must match pattern|property name/],
  ['a name of 65 characters', { ['x'.repeat(65)]: '1' }, 'headers', /must match pattern|property name/],
  ['an empty value', { 'X-Token': '' }, 'headers.X-Token', /pattern/],
  ['a value of 1025 characters', { 'X-Token': 'x'.repeat(1025) }, 'headers.X-Token', /1024/],
  ['a value with a line break', { 'X-Token': 'a\r\nHost: b' }, 'headers.X-Token', /pattern/],
  ['a value that ends with a space', { 'X-Token': 'a ' }, 'headers.X-Token', /pattern/],
  ['a value outside ASCII', { 'X-Token': 'é' }, 'headers.X-Token', /pattern/],
  ['a value of null', { 'X-Token': null }, 'headers.X-Token', /must be string/],
  ['eleven headers', Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`X-${n}`, '1'])), 'headers', /10/],
  ['a list', ['X-Token'], 'headers', /must be object/],
  ['text', 'X-Token: 1', 'headers', /must be object/]
]

t.test('headers that would break the request or the signature are rejected, and nothing is stored', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id } = await create({ headers: { 'X-Token': '1' } })
  for (const [title, given, field, message] of rejected) {
    const answer = await call<{ error: { details: unknown } }>('PATCH', `/webhooks/${id}`, { headers: given })
    t.equal(answer.status, 400, title)
    t.match(answer.body.error.details, [{ in: 'body', field, message }], title)
    t.equal((await call('POST', '/webhooks', { name: 'CRM', target_url: 'https://hooks.example.com/', event_types: ['application.created'], headers: given })).status, 400, title)
  }
  t.same((await call<Shown>('GET', `/webhooks/${id}`)).body.data.headers, { 'X-Token': null })
  t.equal((await call<{ data: unknown[] }>('GET', '/webhooks')).body.data.length, 1)
})

t.test('names and values up to their limits are sent', async (t) => {
  const receiver = await startReceiver(t)
  const { call, create } = await buildWebhookApi(t, { delivery: toLoopback })
  const many = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`${n}-${'x'.repeat(62)}`, `${n}${'~ '.repeat(511)}!`]))
  const { id } = await create({ target_url: receiver.url, headers: many })
  t.match((await call('POST', `/webhooks/${id}/dispatch_test`)).body, { data: { status: 'delivered' } })
  for (const [name, value] of Object.entries(many)) t.equal(first(receiver.requests).headers[name], value)
})
