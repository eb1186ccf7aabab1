import type { ListQuery, NewWebhook, Webhook, WebhookFilter, WebhookSortField } from '../../ports/index.js'
import { benchCase, type StorageDriver } from '../support/driver.js'
import { exactly, type Exactly, given, isInstant, rejects, same } from '../support/expect.js'
import { createWebhook, firstRows } from '../support/samples.js'

type Query = ListQuery<WebhookFilter, WebhookSortField>

// Returns a page of webhooks as their positions in the order of creation.
async function placesOf (
  { webhooks }: StorageDriver,
  created: readonly Webhook[],
  query: Partial<Query>
): Promise<number[]> {
  const rows = await webhooks.list('acme', { ...firstRows, ...query })
  return rows.map(({ id }) => created.findIndex((webhook) => webhook.id === id))
}

function by (field: WebhookSortField, direction: 'asc' | 'desc', last: 'asc' | 'desc' = direction): Partial<Query> {
  return { sort: [{ field, direction }, { field: 'id', direction: last }] }
}

async function createSome (driver: StorageDriver): Promise<Exactly<Webhook, 5>> {
  const created: Webhook[] = []
  for (const name of ['\u{1f600}', '\uffee', 'a', 'Z', 'a']) {
    created.push(await driver.addWebhook({ name, status: name === 'a' ? 'inactive' : 'active' }))
    await driver.wait(5)
  }
  return exactly(created, 5, 'webhooks created')
}

/** Cases about the list of webhooks. */
export const listCases = [
  benchCase('webhooks', {
    port: 'webhooks.list', name: 'webhooks are listed by any sort field, text by code point'
  }, async (driver) => {
    const created = await createSome(driver)
    await driver.webhooks.update('acme', created[0].id, {})
    same(await placesOf(driver, created, by('name', 'asc')), [3, 2, 4, 1, 0], 'by name: Z, a, a, \uffee, \u{1f600}')
    same(await placesOf(driver, created, by('name', 'desc')), [0, 1, 4, 2, 3], 'by name, descending')
    same(await placesOf(driver, created, by('name', 'asc', 'desc')), [3, 4, 2, 1, 0], 'by name, then by descending id')
    same(await placesOf(driver, created, by('created_at', 'asc')), [0, 1, 2, 3, 4], 'the oldest first')
    same(await placesOf(driver, created, by('created_at', 'desc')), [4, 3, 2, 1, 0], 'the newest first')
    same(
      await placesOf(driver, created, by('updated_at', 'asc')),
      [1, 2, 3, 4, 0],
      'by updated_at, the last updated webhook last'
    )
    same(
      await placesOf(driver, created, { sort: [{ field: 'id', direction: 'desc' }] }),
      [4, 3, 2, 1, 0],
      'by descending id'
    )
  }),

  benchCase('webhooks', {
    port: 'webhooks.list', name: 'a page of webhooks is a slice of the order, after the filter'
  }, async (driver) => {
    const created = await createSome(driver)
    same(await placesOf(driver, created, { offset: 1, limit: 2 }), [1, 2], 'offset 1, limit 2')
    same(await placesOf(driver, created, { offset: 5 }), [], 'offset 5 of 5')
    same(await placesOf(driver, created, { offset: 429_496_729_200 }), [], 'an offset far beyond')
    same(await placesOf(driver, created, { filter: { status: 'active' }, offset: 1, limit: 2 }), [1, 3],
      'offset 1, limit 2 of the active webhooks')
  }),

  benchCase('webhooks', { port: 'webhooks.list', name: 'webhooks are filtered by status' }, async (driver) => {
    const created = await createSome(driver)
    for (const [status, places] of [['inactive', [2, 4]], ['active', [0, 1, 3]], ['disabled', []]] as const) {
      same(await placesOf(driver, created, { filter: { status } }), places, `the ${status} webhooks`)
      same(await driver.webhooks.count('acme', { status }), places.length, `the number of ${status} webhooks`)
    }
    same(await driver.webhooks.count('acme', {}), 5, 'the number of webhooks')
  })
]

const eventTypes = ['job.published', 'candidate.created', 'application.created', 'job.closed']

/** Cases about creating, changing and deleting webhooks. */
export const writeCases = [
  benchCase('webhooks', {
    port: 'webhooks.create', name: 'a webhook is returned as it was created, without its secret'
  }, async ({ webhooks, wait }) => {
    const wanted: NewWebhook = {
      id: await webhooks.nextId('acme'),
      tenantSlug: 'acme',
      name: 'Payroll "Zoë" \u{1f600}',
      status: 'inactive',
      target_url: 'https://hooks.example/in?a=1&b=%20',
      event_types: eventTypes,
      secret: 'whsec_1'
    }
    const created = await webhooks.create('acme', wanted, 1)
    isInstant(created?.created_at, 'created_at is an RFC 3339 date in UTC with milliseconds')
    const { secret, tenantSlug, ...shown } = wanted
    const expected = {
      ...shown,
      headers: null,
      filters: null,
      created_at: created.created_at,
      updated_at: created.created_at
    }
    same(created, expected, 'the result of create')
    await wait(5)
    same(await webhooks.find('acme', wanted.id), expected, 'the result of find')
    same(await webhooks.list('acme', firstRows), [expected], 'the result of list')
  }),

  benchCase('webhooks', {
    port: 'webhooks.create', name: 'event types keep the order given by the client'
  }, async ({ webhooks, addWebhook }) => {
    const { id, event_types: created } = await addWebhook({ event_types: eventTypes })
    same(created, eventTypes, 'the event types that create returns')
    same((await webhooks.find('acme', id))?.event_types, eventTypes, 'the event types that find returns')
    const reversed = eventTypes.toReversed()
    same((await webhooks.update('acme', id, { event_types: reversed }))?.event_types, reversed,
      'the event types that update returns')
    same((await webhooks.find('acme', id))?.event_types, reversed, 'the event types that find returns afterwards')
  }),

  benchCase('webhooks', {
    port: 'webhooks.nextId', name: 'an id is never returned twice, across all tenants'
  }, async ({ webhooks, addWebhook }) => {
    const ids = await Promise.all(['acme', 'globex', 'acme', 'acme', 'globex'].map((slug) => webhooks.nextId(slug)))
    const { id } = await addWebhook()
    await webhooks.delete('acme', id)
    ids.push(id, await webhooks.nextId('acme'), await webhooks.nextId('globex'))
    same(new Set(ids).size, ids.length, `the number of different ids in ${ids.join(', ')}`)
    same(ids.filter((id) => !Number.isSafeInteger(id) || id < 1), [], 'the ids that are not positive integers')
  }),

  benchCase('webhooks', {
    port: 'webhooks.create', name: 'create rejects an id that another webhook has'
  }, async ({ webhooks, addWebhook }) => {
    const first = await addWebhook()
    await rejects(webhooks.create('acme', createWebhook(first.id), 50), 'a second webhook with the same id')
    await rejects(
      webhooks.create('globex', createWebhook(first.id), 50),
      'a webhook with the same id for another tenant'
    )
    same(await webhooks.find('acme', first.id), first, 'the webhook that has the id')
    same([await webhooks.count('acme', {}), await webhooks.count('globex', {})], [1, 0],
      'the number of webhooks of both tenants')
  }),

  benchCase('webhooks', {
    port: 'webhooks.create',
    name: 'at most maxPerTenant webhooks are stored, and a deleted one makes room'
  }, async ({ webhooks, addWebhook }) => {
    await addWebhook({ tenantSlug: 'globex' })
    const first = await addWebhook()
    await addWebhook({ status: 'inactive' })
    const id = await webhooks.nextId('acme')
    same(await webhooks.create('acme', createWebhook(id), 2), null, 'a third webhook with maxPerTenant 2')
    same(await webhooks.create('acme', createWebhook(id), 1), null, 'a third webhook with maxPerTenant 1')
    same([await webhooks.count('acme', {}), await webhooks.find('acme', id)], [2, null],
      'the number of webhooks, and the rejected one')
    await webhooks.delete('acme', first.id)
    same(
      (await webhooks.create('acme', createWebhook(id), 2))?.id,
      id,
      'the rejected webhook, after another was deleted'
    )
  }),

  benchCase('webhooks', {
    port: 'webhooks.update', name: 'an update changes the fields it names and no others'
  }, async ({ webhooks, addWebhook, wait }) => {
    let expected: Webhook = await addWebhook()
    const other = await addWebhook()
    const updates = [
      { name: 'New name' },
      { target_url: 'https://hooks.example/new' },
      { event_types: ['b.c', 'a.b'] },
      { status: 'inactive' as const },
      { name: 'Newer', status: 'active' as const },
      {}
    ]
    for (const update of updates) {
      await wait(5)
      const updated = given(await webhooks.update('acme', expected.id, update), 'update returns the webhook')
      expected = { ...expected, ...update, updated_at: updated.updated_at }
      same(updated, expected, `the result of update ${JSON.stringify(update)}`)
      same(await webhooks.find('acme', expected.id), expected, 'the result of find afterwards')
    }
    same(await webhooks.find('acme', other.id), other, 'another webhook')
  }),

  benchCase('webhooks', {
    port: 'webhooks.update', name: 'an update sets updated_at to now, even one that changes nothing'
  }, async ({ webhooks, addWebhook, wait }) => {
    const { id, created_at: createdAt } = await addWebhook()
    await wait(50)
    const { created_at: between } = await addWebhook()
    await wait(5)
    const updated = await webhooks.update('acme', id, {})
    isInstant(updated?.updated_at, 'updated_at is an RFC 3339 date in UTC with milliseconds')
    same([updated.created_at, updated.updated_at > between], [createdAt, true],
      'created_at, and updated_at has changed')
    same(await webhooks.update('acme', id + 1000, { name: 'x' }), null, 'the update of a webhook that does not exist')
  }),

  benchCase('webhooks', {
    port: 'webhooks.delete', name: 'a webhook can be deleted only once'
  }, async ({ webhooks, addWebhook }) => {
    const { id } = await addWebhook()
    const other = await addWebhook()
    same([await webhooks.delete('acme', id), await webhooks.delete('acme', id)], [true, false],
      'the results of deleting it twice')
    same(await webhooks.find('acme', id), null, 'the deleted webhook')
    same(await webhooks.update('acme', id, { status: 'active' }), null, 'an update of it')
    same(await webhooks.findSecrets('acme', id), null, 'its secrets')
    same(
      await webhooks.rotateSecret('acme', id, { secret: 'new', gracePeriodSeconds: 0 }),
      null,
      'a rotation of its secret'
    )
    same(
      [await webhooks.count('acme', {}), await webhooks.find('acme', other.id)],
      [1, other],
      'the remaining deliveries'
    )
  }),

  benchCase('webhooks', {
    port: 'webhooks.find',
    name: 'changing a webhook that was passed or returned changes nothing that is stored'
  }, async ({ webhooks }) => {
    const passed = { ...createWebhook(await webhooks.nextId('acme')), event_types: ['a.b'] }
    const created = await webhooks.create('acme', passed, 1)
    passed.event_types.push('changed')
    const types = ['a.b', 'c.d']
    const updated = await webhooks.update('acme', passed.id, { event_types: types })
    types.push('changed')
    const before = structuredClone(updated)
    for (const webhook of [
      created,
      updated,
      await webhooks.find('acme', passed.id),
      ...(await webhooks.list('acme', firstRows))
    ]) {
      webhook?.event_types.push('changed')
      if (webhook) webhook.name = 'changed'
    }
    same(await webhooks.find('acme', passed.id), before, 'the webhook, read again')
    same(before?.event_types, ['a.b', 'c.d'], 'its event types')
  })
]
