import t from 'tap'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { startDelivering } from '../../fixtures/delivery/delivering.js'
import { type Answer, hang } from '../../fixtures/receivers/receiver.js'

interface Tested {
  data: { id: string, duration_ms: number }
}

const location = 'http://127.0.0.1:9/elsewhere'
const answers: Array<[title: string, answer: Answer, status: number]> = [
  ['500', 500, 500],
  ['404', 404, 404],
  ['410', 410, 410],
  ['429', { status: 429, headers: { 'retry-after': '60' } }, 429],
  ['302, which is not followed', { status: 302, headers: { location } }, 302],
  ['304', 304, 304]
]

for (const [title, answer, status] of answers) {
  t.test(`a target that answers ${title} fails the test, which is a 200`, async (t) => {
    const { call, receiver, webhook } = await startDelivering(t)
    receiver.answer(answer)
    const { status: answered, body } = await call<Tested>('POST', `/webhooks/${webhook.id}/dispatch_test`)
    t.equal(answered, 200)
    t.strictSame(body, failed(body, status, 'http_status'))
    t.equal(receiver.requests.length, 1, 'there is no retry')
  })
}

t.test('the response body of the target is not shown', async (t) => {
  const { call, receiver, webhook } = await startDelivering(t)
  receiver.answer({ status: 500, headers: { 'x-internal': 'inner-header' }, body: 'inner-text' })
  const { headers, body } = await call('POST', `/webhooks/${webhook.id}/dispatch_test`)
  t.notMatch(JSON.stringify([headers, body]), /inner/)
})

t.test('a target that refuses the connection fails the test', async (t) => {
  const { call, create } = await startDelivering(t)
  const { id } = await create({ target_url: `http://127.0.0.1:${await freePort()}/` })
  const { status, body } = await call<Tested>('POST', `/webhooks/${id}/dispatch_test`)
  t.equal(status, 200)
  t.strictSame(body, failed(body, null, 'connection'))
})

t.test('a target that closes the connection fails the test', async (t) => {
  const { call, receiver, webhook } = await startDelivering(t)
  receiver.answer((response) => response.destroy())
  const { status, body } = await call<Tested>('POST', `/webhooks/${webhook.id}/dispatch_test`)
  t.equal(status, 200)
  t.strictSame(body, failed(body, null, 'connection'))
})

t.test('a target that speaks no TLS fails the test of an https address', async (t) => {
  const { call, create, receiver } = await startDelivering(t)
  const { id } = await create({ target_url: receiver.url.replace('http:', 'https:') })
  const { status, body } = await call<Tested>('POST', `/webhooks/${id}/dispatch_test`)
  t.equal(status, 200)
  t.strictSame(body, failed(body, null, 'tls'))
})

t.test('a target that says nothing fails the test when the deadline is over', async (t) => {
  const { call, receiver, webhook } = await startDelivering(t, { delivery: { timeoutMs: 150 } })
  receiver.answer(hang)
  const { status, body } = await call<Tested>('POST', `/webhooks/${webhook.id}/dispatch_test`)
  t.equal(status, 200)
  t.strictSame(body, failed(body, null, 'timeout'))
  t.ok(body.data.duration_ms >= 149, 'no sooner than the deadline')
})

function failed ({ data }: Tested, responseStatus: number | null, error: string): Tested {
  const { id, duration_ms: durationMs } = data
  const result = {
    id, event_type: 'application.created', status: 'failed', response_status: responseStatus, duration_ms: durationMs, error
  }
  return { data: result }
}

/** A port on which nothing listens. */
async function freePort (): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => { server.close(resolve) })
  return port
}
