import t from 'tap'
import { type CreateWebhookInput, HttpError, type LimitedTenant } from '../../../src/index.js'
import { type Reply, buildWebhookApi, refusal, webhookInput } from '../../fixtures/api/webhook-api.js'

const tooMany = (limit: number) => ({ field: '', message: `the tenant already has the maximum of ${limit} webhooks` })

t.test('a tenant has 50 webhooks at most, inactive ones counted', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  for (let count = 0; count < 50; count++) await create({ status: count % 2 === 0 ? 'active' : 'inactive' })
  const answer = await call('POST', '/webhooks', webhookInput)
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, tooMany(50)))
  const { body } = await call<{ meta: { total: number } }>('GET', '/webhooks')
  t.equal(body.meta.total, 50)
})

t.test('of ten creates at once for the last place, exactly one succeeds', async (t) => {
  const { call, create } = await buildWebhookApi(t)
  for (let count = 0; count < 49; count++) await create()
  const answers = await Promise.all(Array.from({ length: 10 }, () => call('POST', '/webhooks', webhookInput)))
  t.same(countByStatus(answers), { 201: 1, 400: 9 })
  const { body } = await call<{ meta: { total: number } }>('GET', '/webhooks')
  t.equal(body.meta.total, 50)
})

t.test('the limit is the host\'s to set', async (t) => {
  const { call, create } = await buildWebhookApi(t, { maxWebhooksPerTenant: 1 })
  await create()
  const answer = await call('POST', '/webhooks', webhookInput)
  t.equal(answer.status, 400)
  t.strictSame(answer.body, refusal(answer, tooMany(1)))
})

t.test('the webhooks of one tenant take no place from another\'s', async (t) => {
  const { callAsGlobex, create } = await buildWebhookApi(t, { maxWebhooksPerTenant: 1 })
  await create()
  t.equal((await callAsGlobex('POST', '/webhooks', webhookInput)).status, 201)
})

t.test('a delete makes room', async (t) => {
  const { call, create } = await buildWebhookApi(t, { maxWebhooksPerTenant: 1 })
  const { id } = await create()
  await call('DELETE', `/webhooks/${id}`)
  t.equal((await call('POST', '/webhooks', webhookInput)).status, 201)
})

function countByStatus (answers: readonly Reply[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

t.test('a function gives the limit of each tenant, and counts for a minute', async (t) => {
  const tenants: LimitedTenant[] = []
  let max = 1
  const { call, callAsGlobex, clock, app } = await buildWebhookApi(t, {
    maxWebhooksPerTenant: async (tenant) => {
      tenants.push(tenant)
      return tenant.tenantSlug === 'acme' ? max : 2
    }
  })
  const statuses = async (create: typeof call): Promise<number> => (await create('POST', '/webhooks', webhookInput)).status
  t.strictSame([await statuses(call), await statuses(call)], [201, 400])
  t.strictSame([await statuses(callAsGlobex), await statuses(callAsGlobex), await statuses(callAsGlobex)], [201, 201, 400])
  t.strictSame(tenants, [{ tenantSlug: 'acme', tenantId: 'acme' }, { tenantSlug: 'globex', tenantId: 'globex' }])
  max = 2
  const answer = await call('POST', '/webhooks', webhookInput)
  t.strictSame(answer.body, refusal(answer, tooMany(1)))
  await clock.advance(60_000)
  t.strictSame([await statuses(call), await statuses(call)], [201, 400])
  max = 1
  await clock.advance(60_000)
  t.equal((await app.recruiting.webhooks.list('acme')).meta.total, 2, 'a lower limit deletes none')
})

t.test('a function that fails creates nothing: a 500 for clients, and its error by code', async (t) => {
  for (const [maxWebhooksPerTenant, message] of [
    [() => { throw new Error('no plan') }, 'maxWebhooksPerTenant: the function failed'],
    [async () => { throw new HttpError('not_found') }, 'maxWebhooksPerTenant: the function failed'],
    [() => 0, 'maxWebhooksPerTenant: expected a function that returns an integer from 1 to 10000, got 0'],
    [async () => 10_001, 'maxWebhooksPerTenant: expected a function that returns an integer from 1 to 10000, got 10001'],
    [() => '5' as never, 'maxWebhooksPerTenant: expected a function that returns an integer from 1 to 10000, got "5"']
  ] as Array<[() => number, string]>) {
    const { call, app, storage } = await buildWebhookApi(t, { maxWebhooksPerTenant })
    const before = await storage.webhooks.nextId('acme')
    t.equal((await call('POST', '/webhooks', webhookInput)).status, 500)
    t.equal((await call('POST', '/webhooks', { ...webhookInput, event_types: ['unknown.type'] })).status, 400, 'input is refused before')
    await t.rejects(app.recruiting.webhooks.create('acme', webhookInput as CreateWebhookInput), { message })
    t.equal(await storage.webhooks.nextId('acme'), before + 1, 'no id was taken')
    t.equal((await app.recruiting.webhooks.list('acme')).meta.total, 0)
  }
})

t.test('a function that hangs is given up after 5 seconds', async (t) => {
  const { call, clock } = await buildWebhookApi(t, { maxWebhooksPerTenant: () => new Promise(() => {}) })
  const answering = call('POST', '/webhooks', webhookInput)
  while (clock.timerCount === 0) await new Promise(setImmediate)
  await clock.advance(5000)
  t.equal((await answering).status, 500)
})
