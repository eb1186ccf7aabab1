import { buildConnector } from 'undici'
import t from 'tap'
import { type Post, Attempt, kTimeout } from '../../../src/webhooks/sending/attempt.js'
import { type Connections, createConnections } from '../../../src/webhooks/sending/connections.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

const connect = buildConnector({})

function begin (post: Post, connections: Connections): { attempt: Attempt, ended: Promise<unknown> } {
  let settle = (_end: unknown): void => {}
  const ended = new Promise((resolve) => { settle = resolve })
  const attempt = new Attempt(post, 5000, connections, (answer, fault) => settle(answer ?? fault))
  attempt.start()
  return { attempt, ended }
}

t.test('a request aborted before it had a connection is not sent over a later one', async (t) => {
  const receiver = await startReceiver(t)
  const { origin, pathname: path } = new URL(receiver.url)
  let next = (): void => {}
  const connected = new Promise<void>((resolve) => { next = resolve })
  const connections = createConnections((options, callback) => {
    connect(options, (...result) => {
      late.attempt.end(kTimeout)
      callback(...result)
      next()
    })
  }, {})
  t.teardown(() => connections.close())
  const late = begin({ origin, path, headers: [], body: 'late', excerptBytes: 0 }, connections)
  t.equal(await late.ended, kTimeout)
  await connected
  t.match(await begin({ origin, path, headers: [], body: 'next', excerptBytes: 0 }, connections).ended, { status: 204 })
  t.same(receiver.requests.map(({ body }) => body), ['next'])
})

t.test('an attempt that undici refuses ends with its error', async (t) => {
  const connections = createConnections(connect, {})
  t.teardown(() => connections.close())
  const { ended } = begin({ origin: 'https://example.com', path: '/', headers: ['webhook-id', 'line\nbreak'], body: '', excerptBytes: 0 }, connections)
  t.match(await ended, { code: 'UND_ERR_INVALID_ARG' })
})

t.test('a connection that was closed while it was idle is not used again', async (t) => {
  const receiver = await startReceiver(t)
  const { origin, pathname: path } = new URL(receiver.url)
  let opened = 0
  const connections = createConnections((options, callback) => {
    opened++
    connect(options, callback)
  }, {})
  t.teardown(() => connections.close())
  const post = { origin, path, headers: [], body: '', excerptBytes: 0 }
  await begin(post, connections).ended
  await begin(post, connections).ended
  t.equal(opened, 1)
  const kept = connections.acquire(origin)
  kept.close()
  kept.release()
  await begin(post, connections).ended
  t.equal(opened, 2)
})
