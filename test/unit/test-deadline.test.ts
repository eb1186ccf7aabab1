import t from 'tap'
import { defaultEvents } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { createAddressRule } from '../../src/webhooks/addresses.js'
import { createWebhookOperations } from '../../src/webhooks/operations.js'
import { createSecretBox } from '../../src/webhooks/secrets.js'
import type { SendRequest, SendResult } from '../../src/webhooks/sender.js'
import { createManualClock } from '../fixtures/manual-clock.js'
import { webhookInput } from '../fixtures/webhook-api.js'

/** Operations over a sender that sends nothing. */
async function setUp (timeoutMs: number, result: SendResult = { responseStatus: 204, error: null, durationMs: 1 }) {
  const sent: SendRequest[] = []
  const { webhooks, deliveries } = memoryStorage()
  const operations = createWebhookOperations({
    webhooks,
    deliveries,
    events: defaultEvents,
    targetRules: { allowHttp: false, allowPrivateNames: false, isAllowedAddress: createAddressRule([]) },
    secrets: createSecretBox([]),
    sender: {
      async send (request) {
        sent.push(request)
        return result
      },
      abort () {},
      async close () {}
    },
    clock: createManualClock(),
    maxWebhooksPerTenant: 50,
    timeoutMs
  })
  const { id } = await operations.create('acme', { ...webhookInput, status: 'active' })
  return { sent, test: () => operations.dispatchTest('acme', id) }
}

t.test('a test has 10 s at most', async (t) => {
  const { sent, test } = await setUp(15_000)
  await test()
  t.equal(sent[0]?.timeoutMs, 10_000)
})

t.test('a shorter deadline of the host holds for a test too', async (t) => {
  const { sent, test } = await setUp(2000)
  await test()
  t.equal(sent[0]?.timeoutMs, 2000)
})

t.test('a test that a closing process has aborted is a failed connection to its client', async (t) => {
  const { test } = await setUp(15_000, { responseStatus: null, error: 'aborted', durationMs: 1 })
  t.match(await test(), { status: 'failed', response_status: null, error: 'connection' })
})
