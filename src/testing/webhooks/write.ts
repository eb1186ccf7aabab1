import type { NewWebhook, Webhook } from '../../ports/index.js'
import { benchCase } from '../support/bench.js'
import { given, isInstant, rejects, same } from '../support/expect.js'
import { createWebhook } from '../support/samples.js'

const stores = 'Stores a webhook; `created_at` and `updated_at` are now. … Secrets are no part of it.'
const full = '`null`, and nothing stored, if the tenant has `maxPerTenant` webhooks already.'
const taken = "Rejects for an id that a webhook has already, whoever's it is."
const ids = 'A positive integer up to 2^53-1 that was never given out before, to nobody, and never will be again.'
const changes = 'Changes a webhook and sets `updated_at` to now; `null` if there is none.'
const fields = 'The fields to change; absent ones stay.'
const removes = 'Removes a webhook; its pending deliveries become `cancelled`, and are never claimed again. `false` if there was none.'
const owned = 'changing it afterwards changes nothing that is stored.'
const order = 'In the order given by the client.'

const eventTypes = ['job.published', 'candidate.created', 'application.created', 'job.closed']

/** Cases about making, changing and deleting webhooks. */
export const writeCases = [
  benchCase('webhooks', {
    port: 'webhooks.create', says: stores, name: 'a webhook is shown as it was created, without its secret'
  }, async ({ webhooks, wait }) => {
    const wanted: NewWebhook = {
      id: await webhooks.nextId('acme'),
      name: 'Payroll "Zoë" \u{1f600}',
      status: 'inactive',
      target_url: 'https://hooks.example/in?a=1&b=%20',
      event_types: eventTypes,
      secret: 'whsec_1'
    }
    const created = await webhooks.create('acme', wanted, 1)
    isInstant(created?.created_at, 'created_at is a date as it crosses the ports')
    const { secret, ...shown } = wanted
    const expected = { ...shown, created_at: created.created_at, updated_at: created.created_at }
    same(created, expected, 'what create returns')
    await wait(5)
    same(await webhooks.find('acme', wanted.id), expected, 'what find returns')
    const page = { filter: {}, sort: [{ field: 'id' as const, direction: 'asc' as const }], offset: 0, limit: 200 }
    same(await webhooks.list('acme', page), [expected], 'what list returns')
  }),

  benchCase('webhooks', {
    port: 'webhooks.create', says: order, name: 'event types keep the order given by the client'
  }, async ({ webhooks, addWebhook }) => {
    const { id, event_types: created } = await addWebhook({ event_types: eventTypes })
    same(created, eventTypes, 'the event types that create returns')
    same((await webhooks.find('acme', id))?.event_types, eventTypes, 'the event types that find returns')
    const reversed = eventTypes.toReversed()
    same((await webhooks.update('acme', id, { event_types: reversed }))?.event_types, reversed,
      'the event types that update returns')
    same((await webhooks.find('acme', id))?.event_types, reversed, 'the event types that find returns then')
  }),

  benchCase('webhooks', {
    port: 'webhooks.nextId', says: ids, name: 'an id is never given out twice, to no tenant'
  }, async ({ webhooks, addWebhook }) => {
    const ids = await Promise.all(['acme', 'globex', 'acme', 'acme', 'globex'].map((slug) => webhooks.nextId(slug)))
    const { id } = await addWebhook()
    await webhooks.delete('acme', id)
    ids.push(id, await webhooks.nextId('acme'), await webhooks.nextId('globex'))
    same(new Set(ids).size, ids.length, `how many of ${ids.join(', ')} are different`)
    same(ids.filter((id) => !Number.isSafeInteger(id) || id < 1), [], 'the ids that are not positive integers')
  }),

  benchCase('webhooks', {
    port: 'webhooks.create', says: taken, name: 'an id that a webhook has already is refused'
  }, async ({ webhooks, addWebhook }) => {
    const first = await addWebhook()
    await rejects(webhooks.create('acme', createWebhook(first.id), 50), 'a second webhook of the same id')
    await rejects(webhooks.create('globex', createWebhook(first.id), 50), 'a webhook of the same id for another tenant')
    same(await webhooks.find('acme', first.id), first, 'the webhook that has the id')
    same([await webhooks.count('acme', {}), await webhooks.count('globex', {})], [1, 0],
      'how many webhooks the two tenants have')
  }),

  benchCase('webhooks', {
    port: 'webhooks.create',
    says: full,
    name: 'no more webhooks are stored than maxPerTenant, and a deleted one makes place'
  }, async ({ webhooks, addWebhook }) => {
    await addWebhook({ tenantSlug: 'globex' })
    const first = await addWebhook()
    await addWebhook({ status: 'inactive' })
    const id = await webhooks.nextId('acme')
    same(await webhooks.create('acme', createWebhook(id), 2), null, 'a third webhook where two are allowed')
    same(await webhooks.create('acme', createWebhook(id), 1), null, 'a third webhook where one is allowed')
    same([await webhooks.count('acme', {}), await webhooks.find('acme', id)], [2, null],
      'how many there are, and the one refused')
    await webhooks.delete('acme', first.id)
    same((await webhooks.create('acme', createWebhook(id), 2))?.id, id, 'the one refused, once another was deleted')
  }),

  benchCase('webhooks', {
    port: 'webhooks.update', says: fields, name: 'an update changes the fields it names and no others'
  }, async ({ webhooks, addWebhook, wait }) => {
    let expected: Webhook = await addWebhook()
    const other = await addWebhook()
    const updates = [
      { name: 'New name' }, { target_url: 'https://hooks.example/new' }, { event_types: ['b.c', 'a.b'] }, { status: 'inactive' as const },
      { name: 'Newer', status: 'active' as const }, {}
    ]
    for (const update of updates) {
      await wait(5)
      const updated = given(await webhooks.update('acme', expected.id, update), 'the webhook is found')
      expected = { ...expected, ...update, updated_at: updated.updated_at }
      same(updated, expected, `what update ${JSON.stringify(update)} returns`)
      same(await webhooks.find('acme', expected.id), expected, 'what find returns then')
    }
    same(await webhooks.find('acme', other.id), other, 'another webhook')
  }),

  benchCase('webhooks', {
    port: 'webhooks.update', says: changes, name: 'an update sets updated_at to now, even one that changes nothing'
  }, async ({ webhooks, addWebhook, wait }) => {
    const { id, created_at: createdAt } = await addWebhook()
    await wait(50)
    const { created_at: between } = await addWebhook()
    await wait(5)
    const updated = await webhooks.update('acme', id, {})
    isInstant(updated?.updated_at, 'updated_at is a date as it crosses the ports')
    same([updated.created_at, updated.updated_at > between], [createdAt, true],
      'created_at, and whether updated_at has moved on')
    same(await webhooks.update('acme', id + 1000, { name: 'x' }), null, 'the update of a webhook that does not exist')
  }),

  benchCase('webhooks', {
    port: 'webhooks.delete', says: removes, name: 'a deleted webhook is gone, and only once'
  }, async ({ webhooks, addWebhook }) => {
    const { id } = await addWebhook()
    const other = await addWebhook()
    same([await webhooks.delete('acme', id), await webhooks.delete('acme', id)], [true, false],
      'what deleting it twice returns')
    same(await webhooks.find('acme', id), null, 'the deleted webhook')
    same(await webhooks.update('acme', id, { status: 'active' }), null, 'an update of it')
    same(await webhooks.findSecrets('acme', id), null, 'its secrets')
    same(await webhooks.rotateSecret('acme', id, { secret: 'new', gracePeriodSeconds: 0 }), null, 'a rotation of its secret')
    same([await webhooks.count('acme', {}), await webhooks.find('acme', other.id)], [1, other], 'what is left')
  }),

  benchCase('webhooks', {
    port: 'webhooks.find',
    says: owned,
    name: 'changing a webhook that was handed in or out changes nothing that is stored'
  }, async ({ webhooks }) => {
    const handedIn = { ...createWebhook(await webhooks.nextId('acme')), event_types: ['a.b'] }
    const created = await webhooks.create('acme', handedIn, 1)
    handedIn.event_types.push('changed')
    const types = ['a.b', 'c.d']
    const updated = await webhooks.update('acme', handedIn.id, { event_types: types })
    types.push('changed')
    const before = structuredClone(updated)
    const page = { filter: {}, sort: [{ field: 'id' as const, direction: 'asc' as const }], offset: 0, limit: 200 }
    for (const webhook of [created, updated, await webhooks.find('acme', handedIn.id), ...await webhooks.list('acme', page)]) {
      webhook?.event_types.push('changed')
      if (webhook) webhook.name = 'changed'
    }
    same(await webhooks.find('acme', handedIn.id), before, 'the webhook, asked for again')
    same(before?.event_types, ['a.b', 'c.d'], 'its event types')
  })
]
