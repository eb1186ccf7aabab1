import t from 'tap'
import { buildWebhookApi, notFound, refusal } from '../../fixtures/api/webhook-api.js'

t.test('a dry run answers 200 with what the replay then queues, and queues nothing', async (t) => {
  const { app, call, create, storage } = await buildWebhookApi(t)
  const { id } = await create({ status: 'inactive' })
  const emit = () => app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  const [first, second] = [await emit(), await emit()]
  await call('PATCH', `/webhooks/${id}`, { status: 'active' })

  for (const [body, queued] of [[{}, 2], [{ include: 'all' }, 2], [{ event_types: ['application.hired'] }, 0], [{ event_ids: [first.id] }, 1]] as const) {
    const counted = await call<{ data: object }>('POST', `/webhooks/${id}/replay`, { ...body, dry_run: true })
    t.equal(counted.status, 200)
    t.match(counted.body, { data: { webhook_id: id, queued, truncated: false } })
    t.match(await storage.deliveries.stats(), { pending: 0 })
    t.equal((await call<{ data: object[] }>('GET', `/webhooks/${id}/deliveries`)).body.data.length, 2)
  }

  for (const body of [{ event_ids: [second.id] }, {}, {}]) {
    const counted = await call('POST', `/webhooks/${id}/replay`, { ...body, dry_run: true })
    const replayed = await call('POST', `/webhooks/${id}/replay`, { ...body, dry_run: false })
    t.strictSame([counted.status, replayed.status], [200, 202])
    t.strictSame(counted.body, replayed.body)
  }
})

t.test('a dry run counts 10,000 events at most, and says that there are more', async (t) => {
  const { app, call, create } = await buildWebhookApi(t)
  const { id } = await create({ status: 'inactive' })
  for (let count = 0; count < 10_001; count++) await app.recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  await call('PATCH', `/webhooks/${id}`, { status: 'active' })
  t.match(await call('POST', `/webhooks/${id}/replay`, { dry_run: true }), { status: 200, body: { data: { queued: 10_000, truncated: true } } })
})

t.test('a dry run is refused where the replay would be', async (t) => {
  const { call, callAsGlobex, create } = await buildWebhookApi(t)
  const { id } = await create()
  const inactive = await create({ status: 'inactive' })
  const refused = await call('POST', `/webhooks/${inactive.id}/replay`, { dry_run: true })
  t.strictSame([refused.status, refused.body], [400, refusal(refused, { field: '', message: 'the webhook is not active' })])
  for (const answer of [await call('POST', '/webhooks/17/replay', { dry_run: true }), await callAsGlobex('POST', `/webhooks/${id}/replay`, { dry_run: true })]) {
    t.strictSame([answer.status, answer.body], [404, notFound(answer)])
  }
  for (const value of [1, 'true', null]) {
    const answer = await call('POST', `/webhooks/${id}/replay`, { dry_run: value })
    t.strictSame([answer.status, answer.body], [400, refusal(answer, { field: 'dry_run', message: 'must be boolean' })])
  }
})
