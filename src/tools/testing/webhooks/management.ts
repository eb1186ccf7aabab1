import type { ListQuery, NewWebhook, Webhook, WebhookFilter, WebhookSortField } from '../../../core/ports/index.js'
import { benchCases, casesWith, followsTransaction, type StorageDriver } from '../support/driver.js'
import { exactly, type Exactly, given, isInstant, rejects, same } from '../support/expect.js'
import { createWebhook, failed, firstRows, lenient, order, retry } from '../support/samples.js'

const test = benchCases('webhooks')
const listTest = casesWith(createSome, 'webhooks')

type Query = ListQuery<WebhookFilter, WebhookSortField>

// Returns a page of webhooks as their positions in the order of creation.
async function placesOf (
  { webhooks }: StorageDriver, created: readonly Webhook[], query: Partial<Query>
): Promise<number[]> {
  const rows = await webhooks.list('acme', { ...firstRows, ...query })
  return rows.map(({ id }) => created.findIndex((webhook) => webhook.id === id))
}

async function createSome (driver: StorageDriver): Promise<Exactly<Webhook, 5>> {
  const created: Webhook[] = []
  for (const name of ['\u{1f600}', '\uffee', 'a', 'Z', 'a']) {
    created.push(await driver.addWebhook({ name, status: name === 'a' ? 'inactive' : 'active' }))
    await driver.wait(5)
  }
  return exactly(created, 5, 'webhooks created')
}

const eventTypes = ['job.published', 'candidate.created', 'application.created', 'job.closed']

export const managementCases = [
  // About the list of webhooks.
  listTest('list', 'webhooks are listed by any sort field, text by code point', async (t, created) => {
    await t.webhooks.update('acme', created[0].id, {})
    for (const [sort, places] of [
      [order('name', 'id'), [3, 2, 4, 1, 0]],
      [order('-name', '-id'), [0, 1, 4, 2, 3]],
      [order('name', '-id'), [3, 4, 2, 1, 0]],
      [order('created_at', 'id'), [0, 1, 2, 3, 4]],
      [order('-created_at', '-id'), [4, 3, 2, 1, 0]],
      [order('updated_at', 'id'), [1, 2, 3, 4, 0]],
      [order('-id'), [4, 3, 2, 1, 0]]
    ] as const) {
      same(await placesOf(t, created, { sort }), places, `the webhooks by ${JSON.stringify(sort)}`)
    }
  }),

  listTest('list', 'a page of webhooks is a slice of the order, after the filter', async (t, created) => {
    same(await placesOf(t, created, { offset: 1, limit: 2 }), [1, 2], 'offset 1, limit 2')
    same(await placesOf(t, created, { offset: 5 }), [], 'offset 5 of 5')
    same(await placesOf(t, created, { offset: 429_496_729_200 }), [], 'an offset far beyond')
    same(await placesOf(t, created, { filter: { status: 'active' }, offset: 1, limit: 2 }), [1, 3],
      'offset 1, limit 2 of the active webhooks')
  }),

  listTest('list', 'webhooks are filtered by status', async (t, created) => {
    for (const [status, places] of [['inactive', [2, 4]], ['active', [0, 1, 3]], ['disabled', []]] as const) {
      same(await placesOf(t, created, { filter: { status } }), places, `the ${status} webhooks`)
      same(await t.webhooks.count('acme', { status }), places.length, `the number of ${status} webhooks`)
    }
    same(await t.webhooks.count('acme', {}), 5, 'the number of webhooks')
  }),

  // About creating, changing and deleting webhooks.
  test('create', 'a webhook is returned as it was created, without its secret', async (t) => {
    const wanted: NewWebhook = {
      id: await t.webhooks.nextId('acme'),
      tenantSlug: 'acme',
      name: 'Payroll "Zoë" \u{1f600}',
      status: 'inactive',
      target_url: 'https://hooks.example/in?a=1&b=%20',
      event_types: eventTypes,
      secret: 'whsec_1',
      created_by: { type: 'session', id: 'user:17' }
    }
    const created = await t.webhooks.create('acme', wanted, { maxPerTenant: 1 })
    isInstant(created?.created_at, 'created_at is an RFC 3339 date in UTC with milliseconds')
    const { secret, tenantSlug, ...shown } = wanted
    const expected = {
      ...shown,
      headers: null,
      filters: null,
      changed: null,
      contact: null,
      created_by: { type: 'session', id: 'user:17' },
      created_at: created.created_at,
      updated_at: created.created_at
    }
    same(created, expected, 'the result of create')
    await t.wait(5)
    same(await t.webhooks.find('acme', wanted.id), expected, 'the result of find')
    same(await t.webhooks.list('acme', firstRows), [expected], 'the result of list')
  }),

  test('update', 'a contact is stored, changed and removed, and notices have it', async (t) => {
    const { id, contact } = await t.addWebhook({ contact: 'ops@example.com' })
    same([contact, (await t.webhooks.update('acme', id, { name: 'Renamed' }))?.contact],
      ['ops@example.com', 'ops@example.com'], 'the contact after create, and after another change')
    same((await t.webhooks.update('acme', id, { contact: 'it@example.com' }))?.contact, 'it@example.com',
      'the contact after a change')
    same((await t.webhooks.list('acme', firstRows)).map((webhook) => webhook.contact), ['it@example.com'],
      'the contact in the list')
    await t.emit()
    const [lease] = exactly(await t.claimAll(1), 1, 'claimed deliveries')
    const [warned] = await t.recordAttempts([retry(lease, { retryInMs: 0 })], { ...lenient, warnAfterSeconds: 0 })
    same([warned?.kind, warned?.contact], ['failing', 'it@example.com'], 'the first notice')
    const [disabled] = await t.complete((again) => failed(again, { isGone: true }))
    same([disabled?.kind, disabled?.contact], ['gone', 'it@example.com'], 'the second notice')
    same((await t.webhooks.update('acme', id, { contact: null }))?.contact, null, 'the contact after null')
  }),

  test('nextId', 'an id is never returned twice, across all tenants', async (t) => {
    const ids = await Promise.all(['acme', 'globex', 'acme', 'acme', 'globex'].map((slug) => t.webhooks.nextId(slug)))
    const { id } = await t.addWebhook()
    await t.webhooks.delete('acme', id)
    ids.push(id, await t.webhooks.nextId('acme'), await t.webhooks.nextId('globex'))
    same(new Set(ids).size, ids.length, `the number of different ids in ${ids.join(', ')}`)
    same(ids.filter((id) => !Number.isSafeInteger(id) || id < 1), [], 'the ids that are not positive integers')
  }),

  test('create', 'create rejects the id of another webhook', async (t) => {
    const first = await t.addWebhook()
    await rejects(t.webhooks.create('acme', createWebhook(first.id), { maxPerTenant: 50 }), 'a second webhook with the same id')
    await rejects(t.webhooks.create('globex', createWebhook(first.id), { maxPerTenant: 50 }),
      'a webhook with the same id for another tenant')
    same(await t.webhooks.find('acme', first.id), first, 'the webhook that has the id')
    same([await t.webhooks.count('acme', {}), await t.webhooks.count('globex', {})], [1, 0],
      'the number of webhooks of both tenants')
  }),

  test('create', 'at most maxPerTenant webhooks are stored, and a deleted one makes room', async (t) => {
    await t.addWebhook({ tenantSlug: 'globex' })
    const first = await t.addWebhook()
    await t.addWebhook({ status: 'inactive' })
    const id = await t.webhooks.nextId('acme')
    same(await t.webhooks.create('acme', createWebhook(id), { maxPerTenant: 2 }), null, 'a third webhook with maxPerTenant 2')
    same(await t.webhooks.create('acme', createWebhook(id), { maxPerTenant: 1 }), null, 'a third webhook with maxPerTenant 1')
    same([await t.webhooks.count('acme', {}), await t.webhooks.find('acme', id)], [2, null],
      'the number of webhooks, and the rejected one')
    await t.webhooks.delete('acme', first.id)
    same((await t.webhooks.create('acme', createWebhook(id), { maxPerTenant: 2 }))?.id, id,
      'the rejected webhook, after another was deleted')
  }),

  test('create',
    "creating a webhook commits with the host's transaction; a storage without transactions rejects it",
    async (t) => {
      async function create (transaction: unknown): Promise<Webhook | null> {
        const id = await t.webhooks.nextId('acme', transaction)
        return t.webhooks.create('acme', createWebhook(id), { maxPerTenant: 1, transaction })
      }
      await followsTransaction(t, 'creating', {
        write: create,
        check: (webhook) => same(webhook?.status, 'active', 'the status of the webhook in the transaction'),
        look: async (isCreated) => same(await t.webhooks.count('acme', {}), Number(isCreated), 'the number of webhooks')
      })
    }),

  test('create', 'at most maxPerCreator webhooks of one creator are stored', async (t) => {
    const create = async (id: string | null, type: 'key' | 'session', maxPerCreator: number | null) => {
      const webhook = { ...createWebhook(await t.webhooks.nextId('acme')), created_by: { type, id } }
      return (await t.webhooks.create('acme', webhook, { maxPerTenant: 50, maxPerCreator })) !== null
    }
    await t.addWebhook()
    same([await create('1', 'key', 2), await create('1', 'key', 2), await create('1', 'key', 2)], [true, true, false],
      'three webhooks of a key with maxPerCreator 2')
    same([await create('2', 'key', 1), await create('1', 'session', 1), await create('1', 'key', null)],
      [true, true, true], 'webhooks of another key, of a user with the same id, and without maxPerCreator')
  }),

  test('update', 'an update changes only the fields that it contains', async (t) => {
    let expected: Webhook = await t.addWebhook()
    const other = await t.addWebhook()
    const updates = [
      { name: 'New name' },
      { target_url: 'https://hooks.example/new' },
      { event_types: ['b.c', 'a.b'] },
      { status: 'inactive' as const },
      { name: 'Newer', status: 'active' as const },
      {}
    ]
    for (const update of updates) {
      await t.wait(5)
      const updated = given(await t.webhooks.update('acme', expected.id, update), 'update returns the webhook')
      isInstant(updated.updated_at, 'updated_at is an RFC 3339 date in UTC with milliseconds')
      same(updated.updated_at > expected.updated_at, true, 'updated_at has changed')
      expected = { ...expected, ...update, updated_at: updated.updated_at }
      same(updated, expected, `the result of update ${JSON.stringify(update)}`)
      same(await t.webhooks.find('acme', expected.id), expected, 'the result of find afterwards')
    }
    same(await t.webhooks.find('acme', other.id), other, 'another webhook')
    same(await t.webhooks.update('acme', other.id + 1000, { name: 'x' }), null, 'a webhook that does not exist')
  }),

  test('delete', 'a webhook can be deleted only once', async (t) => {
    const { id } = await t.addWebhook()
    const other = await t.addWebhook()
    same([await t.webhooks.delete('acme', id), await t.webhooks.delete('acme', id)], [true, false],
      'the results of deleting it twice')
    same(await t.webhooks.find('acme', id), null, 'the deleted webhook')
    same(await t.webhooks.update('acme', id, { status: 'active' }), null, 'an update of it')
    same(await t.webhooks.findSecrets('acme', id), null, 'its secrets')
    same(await t.webhooks.rotateSecret('acme', id, { secret: 'new', gracePeriodSeconds: 0 }), null,
      'a rotation of its secret')
    same([await t.webhooks.count('acme', {}), await t.webhooks.find('acme', other.id)], [1, other],
      'the number of webhooks left, and the other webhook')
  }),

  test('find', 'changing a passed or returned webhook does not change the stored one', async (t) => {
    const passed = { ...createWebhook(await t.webhooks.nextId('acme')), event_types: ['a.b'] }
    const created = await t.webhooks.create('acme', passed, { maxPerTenant: 1 })
    passed.event_types.push('changed')
    const types = ['a.b', 'c.d']
    const updated = await t.webhooks.update('acme', passed.id, { event_types: types })
    types.push('changed')
    const before = structuredClone(updated)
    for (const webhook of [
      created, updated, await t.webhooks.find('acme', passed.id), ...(await t.webhooks.list('acme', firstRows))
    ]) {
      webhook?.event_types.push('changed')
      if (webhook) webhook.name = 'changed'
    }
    same(await t.webhooks.find('acme', passed.id), before, 'the webhook, read again')
    same(before?.event_types, ['a.b', 'c.d'], 'its event types')
  })
]
