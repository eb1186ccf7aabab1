import t from 'tap'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { type Delivering, startDelivering } from '../../fixtures/delivery/delivering.js'

t.test('during the grace period a delivery verifies with the new and with the previous secret', async (t) => {
  const delivering = await startDelivering(t)
  const rotated = await rotate(delivering, 60)
  t.same(await verifiers(delivering, { new: rotated, old: delivering.webhook.secret }), ['new', 'old'])
  t.match(signatureOf(delivering), /^v1,\S+ v1,\S+$/)
})

t.test('after the grace period a delivery verifies only with the new secret', async (t) => {
  const delivering = await startDelivering(t)
  const rotated = await rotate(delivering, 60)
  const secrets = { new: rotated, old: delivering.webhook.secret }
  await delivering.clock.advance(59_999)
  t.same(await verifiers(delivering, secrets), ['new', 'old'], 'in its last millisecond')
  await delivering.clock.advance(1)
  t.same(await verifiers(delivering, secrets), ['new'], 'at its end')
  t.match(signatureOf(delivering), /^v1,\S+$/)
})

t.test('without a grace period the previous secret is invalid at once', async (t) => {
  const delivering = await startDelivering(t)
  const rotated = await rotate(delivering, 0)
  t.same(await verifiers(delivering, { new: rotated, old: delivering.webhook.secret }), ['new'])
})

t.test('a second rotation drops the oldest secret at once, however long its grace', async (t) => {
  const delivering = await startDelivering(t)
  const second = await rotate(delivering, 604_800)
  const third = await rotate(delivering, 60)
  t.same(await verifiers(delivering, { first: delivering.webhook.secret, second, third }), ['second', 'third'])
})

t.test('a second rotation without a grace drops both', async (t) => {
  const delivering = await startDelivering(t)
  const second = await rotate(delivering, 604_800)
  const third = await rotate(delivering, 0)
  t.same(await verifiers(delivering, { first: delivering.webhook.secret, second, third }), ['third'])
})

t.test('an event recorded before a rotation is signed with the secrets at the time of the attempt', async (t) => {
  const delivering = await startDelivering(t)
  const { drain, emit, receiver, retry } = delivering
  receiver.answer(500, 204)
  await emit()
  await drain()
  const rotated = await rotate(delivering, 0)
  await retry()
  t.same(verify(delivering, { new: rotated, old: delivering.webhook.secret }), ['new'])
})

async function rotate ({ call, webhook }: Delivering, seconds: number): Promise<string> {
  const path = `/webhooks/${webhook.id}/rotate_secret`
  const { body } = await call<{ data: { secret: string } }>('POST', path, { grace_period_seconds: seconds })
  return body.data.secret
}

/** Delivers an event, and tells by the names of which secrets both libraries verify it. */
async function verifiers (delivering: Delivering, secrets: Record<string, string>): Promise<string[]> {
  await delivering.emit()
  await delivering.drain()
  return verify(delivering, secrets)
}

function verify ({ receiver }: Delivering, secrets: Record<string, string>): string[] {
  const { body = '', headers = {} } = receiver.requests.at(-1) ?? {}
  const text = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  return Object.entries(secrets).filter(([, secret]) => {
    const verdicts = [StandardWebhook, SvixWebhook].map((Webhook) => {
      try {
        return Boolean(new Webhook(secret).verify(body, text))
      } catch {
        return false
      }
    })
    if (verdicts[0] !== verdicts[1]) throw new Error('the libraries disagree')
    return verdicts[0]
  }).map(([name]) => name)
}

function signatureOf ({ receiver }: Delivering): string {
  return String(receiver.requests.at(-1)?.headers['webhook-signature'])
}
