import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { Type } from '@sinclair/typebox'
import t, { type Test } from 'tap'
import { buildApp, keys } from '../fixtures/api/app.js'
import { startListening } from '../fixtures/cli/listening.js'
import { type Answer, type Receiver, startReceiver } from '../fixtures/receivers/receiver.js'
import { createCli } from '../fixtures/cli/cli.js'
import { findPort } from '../fixtures/postgres/postgres-server.js'

const cli = createCli(undefined)
const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`

interface Service {
  /** The options that every call needs. */
  options: string[]
  /** Resolves with the id of the event. */
  emit (type: 'application.created' | 'job.created', data: Record<string, unknown>): Promise<string>
}

async function serve (t: Test): Promise<Service> {
  const app = await buildApp(t, { server: { forceCloseConnections: true } })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  return {
    options: ['--url', `${origin}/api/v1/public/acme`, '--key', keys.full],
    emit: async (type, data) => (await app.recruiting.emit({ tenantSlug: 'acme', type, data })).id
  }
}

/** A request's content, after two libraries verified its signature. */
function verify ({ requests }: Receiver, index: number, secret: string): unknown {
  const { body = '', headers = {} } = requests.at(index) ?? {}
  new SvixWebhook(secret).verify(body, headers as Record<string, string>)
  return new Webhook(secret).verify(body, headers as Record<string, string>)
}

t.test('new events are sent to the receiver, signed with the displayed secret, and shown in one line each', async (t) => {
  const { options, emit } = await serve(t)
  const receiver = await startReceiver(t)
  await emit('job.created', { id: 1 })
  const listening = startListening(t, ['listen', ...options, '--forward', receiver.url])
  const { out, err } = await listening.idle()
  const [, secret = ''] = /^sending to http:\/\/127\.0\.0\.1:\d+\/hook, signed with (whsec_\S+)\nlistening for events of acme; press Ctrl-C to stop\n$/.exec(err) ?? []
  t.equal(out, '', 'no earlier events')

  const id = await emit('application.created', { id: 7, name: 'Zoë' })
  receiver.answer(500, 204)
  const next = await emit('job.created', { id: 2 })
  const shown = await listening.wake()
  const time = String.raw`20\d\d-\d\d-\d\dT\S+Z`
  t.match(shown.out, new RegExp(`^${time}  application\\.created {8}${id}  500  \\d+ ms\n${time}  job\\.created {16}${next}  204  \\d+ ms\n$`))
  t.match(verify(receiver, 0, secret), { id, type: 'application.created', tenant_slug: 'acme', data: { id: 7, name: 'Zoë' } })
  t.match(receiver.requests[1]?.headers, { 'webhook-id': next, 'content-type': 'application/json', 'user-agent': 'fastify-recruiting-api' })
  t.strictSame([listening.waits, receiver.requests.length], [[2000, 2000], 2], 'a failure is not retried')
  t.strictSame(await listening.interrupt(), { code: 0, out: shown.out, err })
})

t.test('developers can pass their own secret, which is not shown', async (t) => {
  const { options, emit } = await serve(t)
  const receiver = await startReceiver(t)
  for (const [argv, env] of [[['--secret', secret], {}], [[], { RECRUITING_WEBHOOK_SECRET: ` ${secret}\n` }], [['--secret-file', `${t.testdir({ secret })}/secret`], {}]] as const) {
    const listening = startListening(t, ['listen', ...options, '--forward', receiver.url, ...argv], env)
    t.match((await listening.idle()).err, /, signed with your secret\n/)
    const id = await emit('job.created', { id: 1 })
    await listening.wake()
    await listening.interrupt()
    t.match(verify(receiver, -1, secret), { id })
  }
})

t.test('without a receiver, events are only shown: all or some types, from the oldest with --from-oldest', async (t) => {
  const { options, emit } = await serve(t)
  await emit('job.created', { id: 1 })
  const id = await emit('application.created', { id: 2 })
  const listening = startListening(t, ['listen', ...options, '--from-oldest', '--types', 'application.created, job.closed'])
  const { out, err } = await listening.idle()
  t.match(out, new RegExp(`^20\\S+  application\\.created {8}${id}\n$`))
  t.equal(err, 'listening for events of acme; press Ctrl-C to stop\n')
  t.equal((await listening.wake()).out, out, 'once')
})

t.test('--json shows the whole event and the result, one line each', async (t) => {
  const { options, emit } = await serve(t)
  const receiver = await startReceiver(t)
  const id = await emit('job.created', { title: 'Arzt \u202e' })
  const event = { id, type: 'job.created', tenant_slug: 'acme', data: { title: 'Arzt \u202e' } }
  const alone = await startListening(t, ['listen', ...options, '--from-oldest', '--json']).idle()
  t.match(JSON.parse(alone.out), { event, delivery: null })
  const { out } = await startListening(t, ['listen', ...options, '--from-oldest', '--json', '--forward', receiver.url]).idle()
  t.match(JSON.parse(out), { event, delivery: { response_status: 204, error: null, duration_ms: Number } })
  t.match(out, /^[^\n]*\\u202e[^\n]*\n$/)
})

t.test('--replay sends one stored event again and exits', async (t) => {
  const { options, emit } = await serve(t)
  const receiver = await startReceiver(t)
  await emit('job.created', { id: 1 })
  const id = await emit('job.created', { id: 2 })
  const argv = ['listen', ...options, '--replay', id]
  const sent = await startListening(t, [...argv, '--forward', receiver.url, '--secret', secret]).idle()
  t.match(sent, { code: 0, out: new RegExp(`  ${id}  204  \\d+ ms\n$`), err: /^sending to .*, signed with your secret\n$/ })
  t.match(verify(receiver, 0, secret), { id, data: { id: 2 } })
  receiver.answer(503)
  t.match(await startListening(t, [...argv, '--forward', receiver.url]).idle(), { code: 1, out: new RegExp(`  ${id}  503  `) })
  t.match(await startListening(t, argv).idle(), { code: 0, out: new RegExp(`  ${id}\n$`) }, 'without a receiver it is shown')
  t.strictSame(await startListening(t, ['listen', ...options, '--replay', 'evt_0']).idle(), {
    code: 1, out: '', err: 'listen: --replay: the service has no event evt_0, or no longer keeps it\n'
  })
})

t.test('an interruption aborts a request to the receiver, and nothing more is shown', async (t) => {
  const { options, emit } = await serve(t)
  const receiver = await startReceiver(t)
  receiver.answer(() => {})
  await emit('job.created', { id: 1 })
  await emit('job.created', { id: 2 })
  const listening = startListening(t, ['listen', ...options, '--from-oldest', '--forward', receiver.url])
  await receiver.received(1)
  t.match(await listening.interrupt(), { code: 0, out: '' })
  t.equal(receiver.requests.length, 1)
})

const greeting = 'listening for events of acme; press Ctrl-C to stop\n'

function json (status: number, body: unknown, headers = {}): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

function fault (status: number, code: string, message: string, headers = {}): Answer {
  return json(status, { error: { code, message, request_id: 'req_1' } }, headers)
}

function page (token: string, ...ids: string[]): Answer {
  const data = ids.map((id) => ({ id, type: 'job.created', timestamp: '2030-01-01T00:00:00.000Z', tenant_slug: 'acme', data: {} }))
  return json(200, { data, meta: { next_token: token, has_more: false } })
}

/** A service with the given responses. */
async function startService (t: Test, ...answers: Answer[]): Promise<{ service: Receiver, options: string[] }> {
  const service = await startReceiver(t)
  service.answer(...answers)
  return { service, options: ['--url', `http://127.0.0.1:${service.port}/api/acme/`, '--key', 'rk_1'] }
}

/** The queries of its requests. */
function queriesOf ({ requests }: Receiver): string[] {
  return requests.map(({ path }) => String(path.split('?')[1]))
}

t.test('the command fails for a rejected key, an unknown type and an address without the API', async (t) => {
  const app = await buildApp(t, { server: { forceCloseConnections: true } })
  const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/api/v1/public`
  for (const [argv, message] of [
    [['--url', `${url}/acme`, '--key', 'wrong'], "Missing or invalid API key (401): check the key and --url, which ends with the tenant's slug"],
    [['--url', `${url}/globex`, '--key', keys.full], "Missing or invalid API key (401): check the key and --url, which ends with the tenant's slug"],
    [['--url', `${url}/acme`, '--key', keys.none], 'API key does not have required scope (403): the key needs the scope webhooks:read, and for trigger also webhooks:write'],
    [['--url', `${url}/acme`, '--key', keys.full, '--types', 'job.created,job.closd'], 'Validation failed for request payload (400): check the names in --types'],
    [['--url', `${url}/acme/none`, '--key', keys.full], 'Resource was not found (404): check --url; or the service has an older version']
  ] as const) {
    const outcome = await cli(['listen', ...argv])
    t.strictSame(outcome, { code: 1, out: '', err: `listen: ${message}\n` })
  }
})

t.test('the command fails for other permanent errors', async (t) => {
  for (const [answer, message] of [
    [json(400, { error: { code: 'bad_request', message: 'Validation failed', request_id: 'req_1', details: [{ in: 'query', field: 'filter[event_type]', message: 'must be known' }] } }), 'Validation failed (400); filter[event_type]: must be known: check the names in --types'],
    [fault(410, 'sync_token_expired', 'Sync token is no longer valid'), 'Sync token is no longer valid (410)'],
    [{ status: 200, body: '<html>' }, 'The response is not JSON: check --url'],
    [json(200, {}), 'The response is not a page: check --url']
  ] as const) {
    const { options } = await startService(t, answer)
    const { code, out, err } = await startListening(t, ['listen', ...options]).idle()
    t.strictSame({ code, out, err }, { code: 1, out: '', err: `listen: ${message}\n` })
  }
})

t.test('a temporary failure is shown once, and the command continues', async (t) => {
  const { service, options } = await startService(t, page('a'), fault(500, 'internal_error', 'Unexpected server error'), fault(500, 'internal_error', 'Unexpected server error'), { status: 502 }, page('b', 'evt_1'))
  const listening = startListening(t, ['listen', ...options])
  for (let count = 0; count < 4; count++) await listening.wake()
  t.match(await listening.interrupt(), {
    code: 0,
    out: '2030-01-01T00:00:00.000Z  job.created                evt_1\n',
    err: `${greeting}Unexpected server error (500)\nThe service responded with 502\n${greeting}`
  })
  t.strictSame(queriesOf(service), ['token=now&per_page=200', ...Array.from({ length: 4 }, () => 'token=a&per_page=200')])
  t.match(service.requests[0]?.headers, { authorization: 'Bearer rk_1' })
})

t.test('a request to a busy service is repeated after its Retry-After', async (t) => {
  const { options } = await startService(t, fault(429, 'rate_limited', 'Rate limit exceeded', { 'retry-after': '7' }), page('a'))
  const listening = startListening(t, ['listen', ...options])
  t.equal((await listening.idle()).err, 'the service is busy: trying again in 7 s\n')
  t.match(await listening.wake(), { err: `the service is busy: trying again in 7 s\n${greeting}` })
  t.strictSame(listening.waits, [7000, 2000])
})

t.test('requests to an unreachable service are retried', async (t) => {
  const { service, options } = await startService(t, page('a', 'evt_1'))
  const listening = startListening(t, ['listen', '--url', `http://localhost:${await findPort()}/api/acme`, '--key', 'rk_1'])
  t.match((await listening.wake()).err, /^the service cannot be reached: connect ECONNREFUSED \S+:\d+\n$/)
  t.match(await listening.interrupt(), { code: 0 })

  service.answer((response) => { response.destroy() }, page('a', 'evt_1'))
  const broken = startListening(t, ['listen', ...options])
  t.equal((await broken.idle()).err, 'the service cannot be reached: other side closed\n')
  t.match((await broken.wake()).out, /evt_1/)
})

const expired = fault(410, 'sync_token_expired', 'Sync token is no longer valid')

t.test('if the position has expired, the command continues with new events, and warns that some may have been missed', async (t) => {
  const { service, options } = await startService(t, page('a', 'evt_1'), expired, page('b', 'evt_8'))
  const listening = startListening(t, ['listen', ...options])
  for (let count = 0; count < 2; count++) await listening.wake()
  const { out, err } = await listening.idle()
  const missed = 'this position has expired: some events may have been missed; continuing with new ones\n'
  t.strictSame([out.match(/evt_\d/g), err], [['evt_1', 'evt_8'], `${greeting}${missed}${greeting}`])
  t.strictSame(queriesOf(service).map((query) => query.replace(/&?per_page=200/, '')), ['token=now', 'token=a', 'token=now'])
})

t.test('an interruption aborts a request to the service', async (t) => {
  const { service, options } = await startService(t, () => {})
  const listening = startListening(t, ['listen', ...options])
  await service.received(1)
  t.strictSame(await listening.interrupt(), { code: 0, out: '', err: '' })

  const replaying = startListening(t, ['listen', ...options, '--replay', 'evt_1'])
  await service.received(2)
  t.match(await replaying.interrupt(), { code: 1, out: '' })
})

t.test('a timeout of the service is reported, and the request retried', async (t) => {
  const { timeout } = AbortSignal
  t.intercept(AbortSignal, 'timeout', { value: () => timeout.call(AbortSignal, 1) })
  const { options } = await startService(t, () => {})
  t.match(await startListening(t, ['listen', ...options]).idle(), { code: -1, err: 'the service does not respond\n' })
})

const events = {
  'offer.signed': Type.Object({ id: Type.String() }, { examples: [{ id: 'o1' }, { id: 'o2' }] }),
  'offer.declined': Type.Object({ id: Type.Optional(Type.String()) })
}

async function serveTrigger (t: Test) {
  const receiver = await startReceiver(t)
  const app = await buildApp(t, { server: { forceCloseConnections: true }, events, delivery: { allowHttp: true, allowNetworks: ['127.0.0.0/8'] } })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const webhook = { name: 'CRM', target_url: receiver.url, event_types: ['offer.declined'] }
  return {
    receiver,
    options: ['--url', `${origin}/api/v1/public/acme`, '--key', keys.full],
    createWebhook: () => app.recruiting.webhooks.create('acme', webhook as never)
  }
}

t.test('with --webhook the service sends the test', async (t) => {
  const { options, receiver, createWebhook } = await serveTrigger(t)
  const webhook = await createWebhook()
  const argv = ['trigger', 'offer.signed', ...options, '--webhook', `${webhook.id}`]
  t.match(await cli(argv), { code: 0, out: /^id +evt_\w+\nevent_type +offer\.signed\nstatus +delivered\nresponse_status +204\nduration_ms +\d+\nerror +-\ndetail +-\n$/, err: '' })
  t.match(verify(receiver, -1, webhook.secret), { type: 'offer.signed', data: { id: 'o1' }, test: true })
  receiver.answer(500)
  const failed = await cli([...argv, '--json'])
  t.match([failed.code, JSON.parse(failed.out)], [1, { status: 'failed', response_status: 500, error: 'http_status' }])
  t.strictSame(await cli(['trigger', 'offer.signed', ...options, '--webhook', '99']), {
    code: 1, out: '', err: 'trigger: --webhook: there is no webhook 99\n'
  })
})

t.test('with --forward the command sends the same test', async (t) => {
  const { options, receiver, createWebhook } = await serveTrigger(t)
  await cli(['trigger', 'offer.signed', ...options, '--webhook', String((await createWebhook()).id)])
  const argv = [...options, '--forward', receiver.url, '--secret', secret]
  t.match(await cli(['trigger', 'offer.signed', ...argv]), { code: 0, out: /^id +evt_\w+\nevent_type +offer\.signed\nstatus +delivered\nresponse_status +204\n/ })
  const [theirs, ours] = receiver.requests
  const replaceNew = (text = ''): string => text.replace(/"id":"evt_\w+"/, '"id":"evt"').replace(/"(timestamp|sequence)":"[^"]+"/g, '"$1":""')
  t.equal(replaceNew(ours?.body), replaceNew(theirs?.body))
  t.strictSame(Object.keys(ours?.headers ?? {}).sort(), Object.keys(theirs?.headers ?? {}).sort())
  t.match(verify(receiver, -1, secret), { type: 'offer.signed', tenant_slug: 'acme', data: { id: 'o1' }, test: true })

  await cli(['trigger', 'offer.declined', ...options, '--forward', receiver.url], { env: { RECRUITING_WEBHOOK_SECRET: secret } })
  t.match(verify(receiver, -1, secret), { type: 'offer.declined', data: {}, test: true }, 'without an example')
  const { code, out } = await cli(['trigger', 'offer.signed', ...options, '--forward', 'http://127.0.0.1:1/', '--secret', secret])
  t.match({ code, out }, { code: 1, out: /^status +failed\nresponse_status +-\nduration_ms +\d+\nerror +connection$/m })
})

t.test('a key without both scopes is rejected', async (t) => {
  const { options, receiver } = await serveTrigger(t)
  const argv = ['trigger', 'offer.signed', ...options.with(3, keys.webhooksRead), '--forward', receiver.url, '--secret', secret]
  t.match(await cli(argv), { code: 1, out: '', err: /^trigger: API key does not have required scope \(403\): the key needs .* webhooks:write\n$/ })
})
