import t from 'tap'
import type { ListQuery, NewWebhook, Webhook, WebhookFilter, WebhookSortField } from '../../src/ports/index.js'
import { createDeliveryKit, createWebhook } from './fixtures/delivery-kit.js'

const all: ListQuery<WebhookFilter, WebhookSortField> = {
  filter: {}, sort: [{ field: 'id', direction: 'asc' }], offset: 0, limit: 200
}

t.test('a webhook is shown as it was created, without its secret', async (t) => {
  const { webhooks } = createDeliveryKit()
  const created = await webhooks.create('acme', {
    id: await webhooks.nextId('acme'),
    name: 'Payroll',
    status: 'inactive',
    target_url: 'https://hooks.example/in',
    event_types: ['job.created', 'candidate.created'],
    secret: 'whsec_1'
  }, 1)
  const shown = {
    id: 1,
    name: 'Payroll',
    status: 'inactive',
    target_url: 'https://hooks.example/in',
    event_types: ['job.created', 'candidate.created'],
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z'
  }

  t.strictSame(created, shown)
  t.strictSame(await webhooks.find('acme', 1), shown)
  t.strictSame(await webhooks.list('acme', all), [shown])
})

t.test('an id is never given out twice, to no tenant', async (t) => {
  const { webhooks, addWebhook } = createDeliveryKit()
  const ids = await Promise.all(['acme', 'other', 'acme', 'nobody'].map((slug) => webhooks.nextId(slug)))
  const { id } = await addWebhook()
  await webhooks.delete('acme', id)
  ids.push(id, await webhooks.nextId('acme'))

  t.equal(new Set(ids).size, 6)
  t.ok(ids.every((given) => Number.isSafeInteger(given) && given > 0))
})

t.test('two webhooks cannot have one id', async (t) => {
  const { webhooks } = createDeliveryKit()
  await webhooks.create('acme', createWebhook(1), 50)

  await t.rejects(webhooks.create('acme', createWebhook(1), 50), { message: 'webhook id 1 is taken' })
  await t.rejects(webhooks.create('other', createWebhook(1), 50), { message: 'webhook id 1 is taken' })
  t.equal(await webhooks.count('other', {}), 0)
})

t.test('of several creations at once for the last free place, exactly one succeeds', async (t) => {
  const { webhooks, addWebhook } = createDeliveryKit()
  await addWebhook()
  await addWebhook({ tenantSlug: 'other' })
  const ids = await Promise.all([1, 2, 3].map(() => webhooks.nextId('acme')))
  const created = await Promise.all(ids.map((id) => webhooks.create('acme', createWebhook(id), 2)))

  t.equal(created.filter((webhook) => webhook !== null).length, 1)
  t.equal(await webhooks.count('acme', {}), 2)
})

t.test('a place is free again once a webhook is deleted', async (t) => {
  const { webhooks } = createDeliveryKit()
  await webhooks.create('acme', createWebhook(1), 1)
  t.equal(await webhooks.create('acme', createWebhook(2), 1), null)
  t.equal(await webhooks.delete('acme', 1), true)

  t.hasStrict(await webhooks.create('acme', createWebhook(2), 1), { id: 2 })
  t.equal(await webhooks.delete('acme', 1), false)
  t.equal(await webhooks.find('acme', 1), null)
})

t.test('webhooks are listed by any sort field, page by page', async (t) => {
  const { webhooks, addWebhook, clock } = createDeliveryKit()
  await addWebhook({ name: '\u{1f600}' })
  await addWebhook({ name: '\uffee' })
  await clock.advance(1000)
  await addWebhook({ name: 'a' })
  await webhooks.update('acme', 1, {})
  const listIds = async (field: WebhookSortField, page: Partial<typeof all> = {}): Promise<number[]> => {
    const sort: typeof all.sort = [{ field, direction: 'asc' }, { field: 'id', direction: 'desc' }]
    return (await webhooks.list('acme', { ...all, sort, ...page })).map(({ id }) => id)
  }

  t.strictSame(await listIds('id'), [1, 2, 3])
  t.strictSame(await listIds('name'), [3, 2, 1])
  t.strictSame(await listIds('created_at'), [2, 1, 3])
  t.strictSame(await listIds('updated_at'), [2, 3, 1])
  t.strictSame(await listIds('name', { offset: 1, limit: 1 }), [2])
  t.strictSame(await listIds('name', { offset: 3 }), [])
})

t.test('webhooks are filtered by status', async (t) => {
  const { webhooks, addWebhook } = createDeliveryKit()
  await addWebhook()
  await addWebhook({ status: 'inactive' })

  t.strictSame((await webhooks.list('acme', { ...all, filter: { status: 'inactive' } })).map(({ id }) => id), [2])
  t.equal(await webhooks.count('acme', { status: 'active' }), 1)
  t.equal(await webhooks.count('acme', { status: 'disabled' }), 0)
  t.equal(await webhooks.count('acme', {}), 2)
})

t.test('a webhook of another tenant is one that does not exist', async (t) => {
  const { webhooks, addWebhook } = createDeliveryKit()
  const { id } = await addWebhook()
  const before = await webhooks.find('acme', id)

  for (const stranger of ['other', 'nobody', '__proto__']) {
    t.equal(await webhooks.find(stranger, id), null)
    t.equal(await webhooks.update(stranger, id, { name: 'changed' }), null)
    t.equal(await webhooks.delete(stranger, id), false)
    t.equal(await webhooks.rotateSecret(stranger, id, { secret: 'changed', gracePeriodSeconds: 0 }), null)
    t.equal(await webhooks.findSecrets(stranger, id), null)
    t.strictSame(await webhooks.list(stranger, all), [])
    t.equal(await webhooks.count(stranger, {}), 0)
  }
  t.strictSame(await webhooks.find('acme', id), before)
  t.strictSame(await webhooks.findSecrets('acme', id), ['secret-1'])
})

t.test('only the fields named in an update change, and the time of the update', async (t) => {
  const { webhooks, addWebhook, clock } = createDeliveryKit()
  const created = await addWebhook()
  let expected: Webhook = created

  const changes = [
    { name: 'New name' }, { target_url: 'https://hooks.example/new' }, { event_types: ['b.c', 'a.b'] },
    { status: 'inactive' as const }, {}
  ]
  for (const change of changes) {
    await clock.advance(1)
    expected = { ...expected, ...change, updated_at: new Date(clock.now()).toISOString() }
    t.strictSame(await webhooks.update('acme', created.id, change), expected)
    t.strictSame(await webhooks.find('acme', created.id), expected)
  }
  t.equal(await webhooks.update('acme', 999, { name: 'x' }), null)
})

t.test('changing a webhook that was handed in or out changes nothing in the storage', async (t) => {
  const { webhooks } = createDeliveryKit()
  const handedIn: NewWebhook & { event_types: string[] } = { ...createWebhook(1), event_types: ['a.b'] }
  const created = await webhooks.create('acme', handedIn, 1)
  handedIn.event_types.push('changed')
  const eventTypes = ['a.b', 'c.d']
  const updated = await webhooks.update('acme', 1, { event_types: eventTypes })
  eventTypes.push('changed')

  for (const webhook of [created, updated, await webhooks.find('acme', 1), ...await webhooks.list('acme', all)]) {
    webhook?.event_types.push('changed')
    if (webhook) webhook.name = 'changed'
  }
  t.hasStrict(await webhooks.find('acme', 1), { name: 'Webhook 1', event_types: ['a.b', 'c.d'] })
  t.strictSame((await webhooks.find('acme', 1))?.event_types, ['a.b', 'c.d'])
})
