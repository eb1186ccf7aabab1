import { createServer } from 'node:http'
import t, { type Test } from 'tap'
import { createCli } from '../fixtures/cli/cli.js'
import { startListening } from '../fixtures/cli/listening.js'
import { findPort } from '../fixtures/postgres/postgres-server.js'
import { type Answer, type Receiver, startReceiver } from '../fixtures/receivers/receiver.js'
import { buildApp, keys } from '../fixtures/api/app.js'

const greeting = 'listening for events of acme; press Ctrl-C to stop\n'

function json (status: number, body: unknown, headers = {}): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

function fault (status: number, code: string, message: string, headers = {}): Answer {
  return json(status, { error: { code, message, request_id: 'req_1' } }, headers)
}

function page (token: string, ...ids: string[]): Answer {
  return formatPage(token, ids, false)
}

/** A page that is not the last one. */
function morePages (token: string, ...ids: string[]): Answer {
  return formatPage(token, ids, true)
}

function formatPage (token: string, ids: readonly string[], hasMore: boolean): Answer {
  const data = ids.map((id) => ({ id, type: 'job.created', timestamp: '2030-01-01T00:00:00.000Z', tenant_slug: 'acme', data: {} }))
  return json(200, { data, meta: { next_token: token, has_more: hasMore } })
}

/** A service that answers as it is told. */
async function startService (t: Test, ...answers: Answer[]): Promise<{ service: Receiver, options: string[] }> {
  const service = await startReceiver(t)
  service.answer(...answers)
  return { service, options: ['--url', `http://127.0.0.1:${service.port}/api/acme/`, '--key', 'rk_1'] }
}

/** The queries of the requests that came. */
function queriesOf ({ requests }: Receiver): string[] {
  return requests.map(({ path }) => String(path.split('?')[1]))
}

t.test('a key that the service does not accept, an unknown type and an address without the API end the command', async (t) => {
  const app = await buildApp(t, { server: { forceCloseConnections: true } })
  const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/api/v1/public`
  const cli = createCli(undefined)
  for (const [argv, message] of [
    [['--url', `${url}/acme`, '--key', 'wrong'], 'Missing or invalid API key (401): check the key and --url, which ends in the name of the tenant'],
    [['--url', `${url}/globex`, '--key', keys.full], 'Missing or invalid API key (401): check the key and --url, which ends in the name of the tenant'],
    [['--url', `${url}/acme`, '--key', keys.none], 'API key does not have required scope (403): the key needs the scope webhooks:read, for trigger also webhooks:write'],
    [['--url', `${url}/acme`, '--key', keys.full, '--types', 'job.created,job.closd'], 'Validation failed for request payload (400): check the names in --types'],
    [['--url', `${url}/acme/none`, '--key', keys.full], 'Resource was not found (404): check --url; or the service has an older version']
  ] as const) {
    const outcome = await cli(['listen', ...argv])
    t.strictSame(outcome, { code: 1, out: '', err: `listen: ${message}\n` })
  }
})

t.test('other answers that no later request will change end the command', async (t) => {
  for (const [answer, message] of [
    [json(400, { error: { code: 'bad_request', message: 'Validation failed', request_id: 'req_1', details: [{ in: 'query', field: 'filter[event_type]', message: 'must be known' }] } }), 'Validation failed (400); filter[event_type]: must be known: check the names in --types'],
    [fault(410, 'sync_token_expired', 'Sync token is no longer valid'), 'Sync token is no longer valid (410)'],
    [{ status: 200, body: '<html>' }, 'the response is not JSON: check --url'],
    [json(200, {}), /\nlisten: events is not iterable\n$/]
  ] as const) {
    const { options } = await startService(t, answer)
    const { code, out, err } = await startListening(t, ['listen', ...options]).idle()
    t.match({ code, out, err }, { code: 1, out: '', err: typeof message === 'string' ? `listen: ${message}\n` : message })
  }
})

t.test('a failure that may pass is shown once, and the command continues where it was', async (t) => {
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

t.test('a busy service is asked again after the time that it names', async (t) => {
  const { options } = await startService(t, fault(429, 'rate_limited', 'Rate limit exceeded', { 'retry-after': '7' }), page('a'))
  const listening = startListening(t, ['listen', ...options])
  t.equal((await listening.idle()).err, 'the service is busy: trying again in 7 s\n')
  t.match(await listening.wake(), { err: `the service is busy: trying again in 7 s\n${greeting}` })
  t.strictSame(listening.waits, [7000, 2000])
})

t.test('a service that cannot be reached is tried again', async (t) => {
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

t.test('if the service no longer knows the position, the command continues after the last event', async (t) => {
  const { service, options } = await startService(t, page('a', 'evt_2'), expired, morePages('b', 'evt_1'), page('c', 'evt_2', 'evt_3'), page('d', 'evt_4'))
  const listening = startListening(t, ['listen', ...options])
  for (let count = 0; count < 2; count++) await listening.wake()
  const { out, err } = await listening.idle()
  t.strictSame(out.match(/evt_\d/g), ['evt_2', 'evt_3', 'evt_4'])
  t.equal(err, `${greeting}the service no longer knows this position: continuing after the last event\n${greeting}`)
  t.strictSame(queriesOf(service).map((query) => query.replace(/&?per_page=200/, '')), ['token=now', 'token=a', '', 'token=b', 'token=c'])
})

t.test('without that event it continues where it began, and says that events may be missing', async (t) => {
  const missed = 'the service no longer knows this position: some events may have been missed; continuing with'
  const { service, options } = await startService(t, page('a', 'evt_1'), expired, page('b', 'evt_7'), page('c', 'evt_8'))
  const listening = startListening(t, ['listen', ...options])
  for (let count = 0; count < 2; count++) await listening.wake()
  const { out, err } = await listening.idle()
  t.strictSame([out.match(/evt_\d/g), err], [['evt_1', 'evt_8'], `${greeting}${missed} new ones\n${greeting}`])
  t.strictSame(queriesOf(service).map((query) => query.replace(/&?per_page=200/, '')), ['token=now', 'token=a', '', 'token=now'])

  service.answer(page('a'), expired, page('b', 'evt_7'))
  const reading = startListening(t, ['listen', ...options, '--from-oldest'])
  for (let count = 0; count < 2; count++) await reading.wake()
  const read = await reading.idle()
  t.strictSame([read.out.match(/evt_\d/g), read.err], [['evt_7'], `${greeting}${missed} the oldest one that it keeps\n${greeting}`])
})

t.test('an event to replay is found although the position expires on the way', async (t) => {
  const { options } = await startService(t, morePages('a', 'evt_1'), expired, morePages('b', 'evt_2'), page('c', 'evt_3'))
  const { code, out } = await startListening(t, ['listen', ...options, '--replay', 'evt_3']).idle()
  t.match({ code, out }, { code: 0, out: /evt_3/ })
})

t.test('a service that asks for more than a minute gets it', async (t) => {
  const { options } = await startService(t, fault(429, 'rate_limited', 'Rate limit exceeded', { 'retry-after': '90' }), page('a'))
  const listening = startListening(t, ['listen', ...options])
  await listening.wake()
  await listening.idle()
  t.strictSame(listening.waits, [90_000, 2000])
})

t.test('an interruption ends a request to the service', async (t) => {
  const { service, options } = await startService(t, () => {})
  const listening = startListening(t, ['listen', ...options])
  await service.received(1)
  t.strictSame(await listening.interrupt(), { code: 0, out: '', err: '' })

  const replaying = startListening(t, ['listen', ...options, '--replay', 'evt_1'])
  await service.received(2)
  t.match(await replaying.interrupt(), { code: 1, out: '' })
})

t.test('a service that hangs is not waited for without end', async (t) => {
  const timeout = AbortSignal.timeout
  t.teardown(() => { AbortSignal.timeout = timeout })
  AbortSignal.timeout = () => timeout.call(AbortSignal, 1)
  const server = createServer(() => {})
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => server.close())
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/acme`
  t.match(await startListening(t, ['listen', '--url', url, '--key', 'rk_1']).idle(), { err: 'the service does not respond\n' })
})
