import { Agent, Client, buildConnector } from 'undici'
import t from 'tap'
import { Attempt, kTimeout } from '../../../src/webhooks/sending/attempt.js'
import { watchKeptSockets } from '../../../src/webhooks/sending/kept-sockets.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

t.test('what was given up before there was a connection is not sent over the one that comes later', async (t) => {
  const receiver = await startReceiver(t)
  const { origin, pathname: path } = new URL(receiver.url)
  const connect = buildConnector({})
  const keeping = new Client(origin, {
    connect (options, callback) {
      connect(options, (...result) => {
        attempts[0]?.end(kTimeout)
        callback(...result)
      })
    }
  })
  const connections = { keeping, fresh: new Agent(), sockets: watchKeptSockets() }
  t.teardown(async () => {
    connections.sockets.close()
    await Promise.all([keeping.destroy(), connections.fresh.destroy()])
  })
  const attempts: Attempt[] = []
  const post = (body: string): Promise<unknown> => new Promise((resolve) => {
    const attempt = new Attempt({ origin, path, headers: [], body }, 5000, connections, (answer, fault) => resolve(answer ?? fault))
    attempts.push(attempt)
    attempt.start()
  })
  const [late, next] = await Promise.all([post('late'), post('next')])
  t.equal(late, kTimeout)
  t.match(next, { status: 204 })
  t.same(receiver.requests.map(({ body }) => body), ['next'])
})

t.test('an attempt that undici will not even begin ends with what it threw', async (t) => {
  const refusal = new Error('refused')
  const keeping = new Agent()
  keeping.dispatch = () => { throw refusal }
  const connections = { keeping, fresh: keeping, sockets: watchKeptSockets() }
  t.teardown(() => connections.sockets.close())
  const ended: unknown[] = []
  const post = { origin: 'https://example.com', path: '/', headers: [], body: '' }
  new Attempt(post, 5000, connections, (answer, fault) => ended.push(answer, fault)).start()
  t.strictSame(ended, [null, refusal])
})
