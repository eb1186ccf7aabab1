import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { Webhook as SvixWebhook } from 'svix'
import { buildApp, keys } from '../fixtures/api/app.js'
import { startListening } from '../fixtures/cli/listening.js'
import { type Receiver, startReceiver } from '../fixtures/receivers/receiver.js'

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

/** What a request holds, once its signature was verified by two libraries. */
function verify ({ requests }: Receiver, index: number, secret: string): unknown {
  const { body = '', headers = {} } = requests[index] ?? {}
  new SvixWebhook(secret).verify(body, headers as Record<string, string>)
  return new Webhook(secret).verify(body, headers as Record<string, string>)
}

t.test('new events are sent to the receiver, signed as by the service with the secret that is shown, and shown in a line each', async (t) => {
  const { options, emit } = await serve(t)
  const receiver = await startReceiver(t)
  await emit('job.created', { id: 1 })
  const listening = startListening(t, ['listen', ...options, '--forward', receiver.url])
  const { out, err } = await listening.idle()
  const [, secret = ''] = /^sending to http:\/\/127\.0\.0\.1:\d+\/hook, signed with (whsec_\S+)\nlistening for events of acme; press Ctrl-C to stop\n$/.exec(err) ?? []
  t.equal(out, '', 'nothing from before')

  const id = await emit('application.created', { id: 7, name: 'Zoë' })
  receiver.answer(500, 204)
  const next = await emit('job.created', { id: 2 })
  const shown = await listening.wake()
  const time = String.raw`20\d\d-\d\d-\d\dT\S+Z`
  t.match(shown.out, new RegExp(`^${time}  application\\.created {8}${id}  500  \\d+ ms\n${time}  job\\.created {16}${next}  204  \\d+ ms\n$`))
  t.match(verify(receiver, 0, secret), { id, type: 'application.created', tenant_slug: 'acme', data: { id: 7, name: 'Zoë' } })
  t.match(receiver.requests[1]?.headers, { 'webhook-id': next, 'content-type': 'application/json', 'user-agent': 'fastify-recruiting-api' })
  t.strictSame([listening.waits, receiver.requests.length], [[2000, 2000], 2], 'a failure is not repeated')
  t.strictSame(await listening.interrupt(), { code: 0, out: shown.out, err })
})

t.test('a receiver gets the same as from the service', async (t) => {
  const receiver = await startReceiver(t)
  const app = await buildApp(t, { server: { forceCloseConnections: true }, delivery: { allowHttp: true, allowNetworks: ['127.0.0.0/8'] } })
  const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/api/v1/public/acme`
  await app.recruiting.webhooks.create('acme', { name: 'CRM', target_url: receiver.url, event_types: ['job.created'] })
  await app.recruiting.emit({ tenantSlug: 'acme', type: 'job.created', data: { title: 'Köchin', pay: 1e21, 7: null, nested: [{ z: 1, a: {} }] }, subject: 'candidate:1' })
  await app.recruiting.drain()
  await startListening(t, ['listen', '--url', url, '--key', keys.webhooksRead, '--from-oldest', '--forward', receiver.url]).idle()
  const [theirs, ours] = receiver.requests.map(({ headers, ...request }) => ({ ...request, id: headers['webhook-id'], names: Object.keys(headers) }))
  t.strictSame(ours, theirs)
  t.ok(ours)
})

t.test('a receiver that is not there is a result like any other', async (t) => {
  const { options, emit } = await serve(t)
  const listening = startListening(t, ['listen', ...options, '--forward', 'http://localhost:1/', '--every', '60'])
  await listening.idle()
  const id = await emit('job.created', { id: 1 })
  t.match((await listening.wake()).out, new RegExp(`${id}  connection  \\d+ ms\n$`))
  t.strictSame(listening.waits, [60_000, 60_000])
})

t.test('with a secret of their own, developers need no new one for each run, and it is not shown', async (t) => {
  const { options, emit } = await serve(t)
  const receiver = await startReceiver(t)
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  for (const [argv, env] of [[['--secret', secret], {}], [[], { RECRUITING_WEBHOOK_SECRET: ` ${secret}\n` }], [['--secret-file', `${t.testdir({ secret })}/secret`], {}]] as const) {
    const listening = startListening(t, ['listen', ...options, '--forward', receiver.url, ...argv], env)
    t.match((await listening.idle()).err, /, signed with your secret\n/)
    const id = await emit('job.created', { id: 1 })
    await listening.wake()
    await listening.interrupt()
    t.match(verify(receiver, receiver.requests.length - 1, secret), { id })
  }
})

t.test('without a receiver events are only shown, from the oldest if asked for, and of some types', async (t) => {
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

t.test('--replay sends one kept event again, and ends', async (t) => {
  const { options, emit } = await serve(t)
  const receiver = await startReceiver(t)
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
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

t.test('an interruption ends a request to the receiver, and shows nothing more', async (t) => {
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
