import { Client, buildConnector } from 'undici'
import t from 'tap'
import { createDeadline, kTimeout } from '../../src/webhooks/deadline.js'
import { post } from '../../src/webhooks/post.js'
import { startReceiver } from '../fixtures/receiver.js'

t.test('what was given up before there was a connection is not sent over the one that comes later', async (t) => {
  const receiver = await startReceiver(t)
  const url = new URL(receiver.url)
  const deadlines = [createDeadline(5000), createDeadline(5000)] as const
  const connect = buildConnector({})
  const dispatcher = new Client(url.origin, {
    connect (options, callback) {
      connect(options, (...result) => {
        deadlines[0].end(kTimeout)
        callback(...result)
      })
    }
  })
  t.teardown(() => dispatcher.destroy())
  const request = { url, headers: {}, hangUp () {} }
  const late = post(dispatcher, { ...request, body: 'late' }, deadlines[0])
  const next = post(dispatcher, { ...request, body: 'next' }, deadlines[1])
  t.equal(await late.catch((reason: unknown) => reason), kTimeout)
  t.equal((await next).status, 204)
  t.same(receiver.requests.map(({ body }) => body), ['next'])
  for (const { clear } of deadlines) clear()
})
