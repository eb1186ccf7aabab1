import t from 'tap'
import type { Static } from '@sinclair/typebox'
import type { RotatedWebhook } from '../../../src/index.js'
import { buildWebhookApi, healthy, refusal, timeOf, webhookInput } from '../../fixtures/api/webhook-api.js'

type Rotated = { data: Static<typeof RotatedWebhook> }

t.test('rotate_secret answers in the shape of create, with the end of the grace', async (t) => {
  const { call, clock, create } = await buildWebhookApi(t)
  const { id, secret } = await create()
  const { status, body } = await call<Rotated>('POST', `/webhooks/${id}/rotate_secret`, { grace_period_seconds: 60 })
  t.equal(status, 200)
  t.strictSame(body, {
    data: {
      id, ...webhookInput, status: 'active', secret: body.data.secret, previous_secret_expires_at: timeOf(clock, 60_000)
    }
  })
  t.match(body.data.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.not(body.data.secret, secret)
})

t.test('the grace is a day unless the client says otherwise', async (t) => {
  const { call, clock, create } = await buildWebhookApi(t)
  const { id } = await create()
  for (const body of [undefined, {}, { grace_period_seconds: 86400 }]) {
    const { body: { data } } = await call<Rotated>('POST', `/webhooks/${id}/rotate_secret`, body)
    t.equal(data.previous_secret_expires_at, timeOf(clock, 86_400_000))
  }
})

t.test('the grace may be a week at most', async (t) => {
  const { call, clock, create } = await buildWebhookApi(t)
  const { id } = await create()
  const { status, body } = await call<Rotated>('POST', `/webhooks/${id}/rotate_secret`, { grace_period_seconds: 604800 })
  t.equal(status, 200)
  t.equal(body.data.previous_secret_expires_at, timeOf(clock, 604_800_000))
})

t.test('without a grace the previous secret is dropped at once', async (t) => {
  const { call, create, storage } = await buildWebhookApi(t)
  const { id } = await create()
  const { body } = await call<Rotated>('POST', `/webhooks/${id}/rotate_secret`, { grace_period_seconds: 0 })
  t.equal(body.data.previous_secret_expires_at, null)
  t.same(await storage.webhooks.findSecrets('acme', id), [body.data.secret])
})

t.test('a rotation sets updated_at', async (t) => {
  const { call, clock, create } = await buildWebhookApi(t)
  const { id } = await create()
  const createdAt = timeOf(clock)
  await clock.advance(1000)
  await call('POST', `/webhooks/${id}/rotate_secret`)
  const { body } = await call<{ data: object }>('GET', `/webhooks/${id}`)
  t.strictSame(body.data, { id, ...webhookInput, status: 'active', headers: null, filters: null, created_at: createdAt, updated_at: timeOf(clock), health: healthy, previous_secret_expires_at: timeOf(clock, 86_400_000) })
})

t.test('GET by id shows the end of the grace until it is reached; PATCH and the list do not', async (t) => {
  const { app, call, clock, create } = await buildWebhookApi(t)
  const { id } = await create()
  const shown = async (): Promise<unknown> => (await call<{ data: { previous_secret_expires_at: unknown } }>('GET', `/webhooks/${id}`)).body.data.previous_secret_expires_at
  t.equal(await shown(), null)
  await call('POST', `/webhooks/${id}/rotate_secret`, { grace_period_seconds: 60 })
  const end = timeOf(clock, 60_000)
  t.equal(await shown(), end)
  t.equal((await app.recruiting.webhooks.find('acme', id))?.previous_secret_expires_at, end, 'by code, too')
  const changed = await call<{ data: object }>('PATCH', `/webhooks/${id}`, { name: 'ATS' })
  const { body: { data: [listed] } } = await call<{ data: object[] }>('GET', '/webhooks')
  t.notOk('previous_secret_expires_at' in changed.body.data)
  t.notOk('previous_secret_expires_at' in (listed ?? {}))
  await clock.advance(60_000)
  t.equal(await shown(), null)
  await call('POST', `/webhooks/${id}/rotate_secret`)
  await call('POST', `/webhooks/${id}/rotate_secret`, { grace_period_seconds: 0 })
  t.equal(await shown(), null)
})

t.test('the secret of an inactive webhook can be rotated', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  const { id } = await create({ status: 'inactive' })
  const { status, body } = await call<Rotated>('POST', `/webhooks/${id}/rotate_secret`)
  t.equal(status, 200)
  t.equal(body.data.status, 'inactive')
})

t.test('after two concurrent rotations, both new secrets are valid and the previous one is not', async (t) => {
  const { call, create, storage } = await buildWebhookApi(t)
  const { id, secret } = await create()
  const answers = await Promise.all([1, 2].map(() => call<Rotated>('POST', `/webhooks/${id}/rotate_secret`)))
  const secrets = answers.map(({ body }) => body.data.secret)
  t.equal(new Set([secret, ...secrets]).size, 3)
  t.same(new Set(await storage.webhooks.findSecrets('acme', id)), new Set(secrets))
})

const range = { min: 'must be >= 0', max: 'must be <= 604800', integer: 'must be integer', object: 'must be object' }
const refused: Array<[body: unknown, field: string, message: string]> = [
  [{ grace_period_seconds: -1 }, 'grace_period_seconds', range.min],
  [{ grace_period_seconds: 604801 }, 'grace_period_seconds', range.max],
  [{ grace_period_seconds: 1.5 }, 'grace_period_seconds', range.integer],
  [{ grace_period_seconds: '60' }, 'grace_period_seconds', range.integer],
  [{ grace_period_seconds: null }, 'grace_period_seconds', range.integer],
  [{ grace_period_seconds: true }, 'grace_period_seconds', range.integer],
  [{ grace: 60 }, 'grace', 'is not known'],
  [{ secret: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=' }, 'secret', 'is not known'],
  [[], '', range.object],
  [null, '', range.object],
  [60, '', range.object]
]

for (const [body, field, message] of refused) {
  t.test(`a rotation with ${JSON.stringify(body)} is refused, and the secret stays`, async (t) => {
    const { call, create, storage } = await buildWebhookApi(t)
    const { id, secret } = await create()
    const answer = await call('POST', `/webhooks/${id}/rotate_secret`, body)
    t.equal(answer.status, 400)
    t.strictSame(answer.body, refusal(answer, { field, message }))
    t.same(await storage.webhooks.findSecrets('acme', id), [secret])
  })
}
