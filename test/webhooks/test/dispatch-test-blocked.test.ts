import t from 'tap'
import type { RecruitingStorage } from '../../../src/index.js'
import { memoryStorage } from '../../../src/memory/index.js'
import { startReceiver } from '../../fixtures/receivers/receiver.js'
import { buildWebhookApi } from '../../fixtures/api/webhook-api.js'

interface Tested {
  data: { id: string, duration_ms: number }
}

t.test('every blocked address gives the same answer, whether something listens there or not', async (t) => {
  const receiver = await startReceiver(t)
  const storage = memoryStorage()
  const { call } = await buildWebhookApi(t, {
    storage, delivery: { allowHttp: true, allowNetworks: ['203.0.113.1/32'] }
  })
  const targets = [
    receiver.url,
    'http://127.0.0.1:1/',
    receiver.url.replace('127.0.0.1', 'localhost'),
    'http://localhost:1/',
    'https://10.0.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'https://[::1]/',
    'https://[fd00:ec2::254]/'
  ]
  for (const target of targets) {
    const id = await storeWebhook(storage, target)
    const { status, body } = await call<Tested>('POST', `/webhooks/${id}/dispatch_test`)
    t.equal(status, 200)
    t.strictSame(body, blocked(body), target)
  }
  t.equal(receiver.requests.length, 0)
})

t.test('an address that was acceptable once is blocked when the host\'s rules no longer allow it', async (t) => {
  const receiver = await startReceiver(t)
  const storage = memoryStorage()
  const { call } = await buildWebhookApi(t, { storage })
  for (const target of [receiver.url, 'http://example.com/', 'https://intranet/', 'https://printer.local/']) {
    const id = await storeWebhook(storage, target)
    const { body } = await call<Tested>('POST', `/webhooks/${id}/dispatch_test`)
    t.strictSame(body, blocked(body), target)
  }
  t.equal(receiver.requests.length, 0)
})

/** Past the rules for what a client may write. */
async function storeWebhook ({ webhooks }: RecruitingStorage, target: string): Promise<number> {
  const id = await webhooks.nextId('acme')
  const event = { tenantSlug: 'acme', name: 'Stored', status: 'active', event_types: ['job.created'], secret: 'whsec_AAAA' } as const
  await webhooks.create('acme', { ...event, id, target_url: target }, 50)
  return id
}

function blocked ({ data: { id, duration_ms: durationMs } }: Tested) {
  return {
    data: { id, event_type: 'job.created', status: 'failed', response_status: null, duration_ms: durationMs, error: 'blocked' }
  }
}
