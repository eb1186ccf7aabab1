import t from 'tap'
import { createAddressRule } from '../../../src/core/webhooks/ssrf/addresses.js'
import type { Sender } from '../../../src/core/webhooks/sending/sender.js'
import { createLateSender } from '../../../src/core/webhooks/runtime.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'

function create (): Sender {
  const rules = { allowHttp: true, allowPrivateNames: true, isAllowedAddress: createAddressRule(['127.0.0.0/8']) }
  return createLateSender(rules, 5000, { proxy: null, localAddress: null })
}

const request = { headers: {}, body: '{}', timeoutMs: 5000 }
const aborted = { responseStatus: null, error: 'aborted' }

t.test('requests that wait for undici are sent by one sender', async (t) => {
  const receiver = await startReceiver(t)
  const sender = create()
  const results = await Promise.all([1, 2].map(() => sender.send({ ...request, url: receiver.url })))
  t.match(results, [{ responseStatus: 204, error: null }, { responseStatus: 204, error: null }])
  await sender.close()
})

t.test('abort and close end requests that wait for undici', async (t) => {
  const receiver = await startReceiver(t)
  receiver.answer(() => {})
  const sender = create()
  const sent = [1, 2].map(() => sender.send({ ...request, url: receiver.url }))
  sender.abort()
  await sender.close()
  t.match(await Promise.all(sent), [aborted, aborted])
})

t.test('after close nothing is sent, whether undici was loaded or not', async (t) => {
  const receiver = await startReceiver(t)
  const [used, unused] = [create(), create()]
  await used.send({ ...request, url: receiver.url })
  for (const sender of [used, unused]) {
    sender.abort()
    await sender.close()
    t.match(await sender.send({ ...request, url: receiver.url }), aborted)
  }
  t.equal(receiver.requests.length, 1)
})
