import t from 'tap'
import { createRecruiting } from '../../src/index.js'
import { memoryStorage } from '../../src/storages/memory/index.js'
import { webhookInput } from '../fixtures/api/webhook-api.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'
import { spyStorage } from '../fixtures/delivery/spy-storage.js'
import { portal } from '../fixtures/portal/sessions.js'
import { callsOf } from '../fixtures/tenants/calls.js'

const type = 'application.created' as const
const byId = { logger: silentLogger, delivery: false, tenantId: () => 41 } as const

t.test('a call with a tenantId needs no lookup, and works for the same tenant as the slug', async (t) => {
  const recruiting = createRecruiting({
    storage: memoryStorage(), logger: silentLogger, delivery: false, portal, tenantId: (slug) => slug === 'acme' ? 41 : null
  })
  t.teardown(() => recruiting.close())
  const { id } = await recruiting.webhooks.create({ tenantSlug: 'acme' }, webhookInput)
  t.match(await recruiting.webhooks.find({ tenantId: 41 }, id), { id })
  t.match(await recruiting.webhooks.find({ tenantId: '41' }, id), { id })
  t.equal(await recruiting.webhooks.find({ tenantId: 42 }, id), null)

  const unasked = createRecruiting({
    storage: memoryStorage(), logger: silentLogger, delivery: false, portal, tenantId: () => { throw new Error('looked up') }
  })
  t.teardown(() => unasked.close())
  const { createSession, find, findDelivery, ...calls } = callsOf(unasked)
  for (const [name, call] of Object.entries(calls)) {
    const error = await call({ tenantId: 41 } as never).then(() => ({ code: 'not_found' }), (thrown) => thrown)
    t.equal(error.code, 'not_found', `${name}: ${String(error)}`)
  }
})

t.test('each call rejects a tenantSlug together with a tenantId, and stores nothing', async (t) => {
  const { storage, calls: stored } = spyStorage()
  const recruiting = createRecruiting({ storage, ...byId, portal })
  t.teardown(() => recruiting.close())
  stored.length = 0
  for (const [name, call] of Object.entries(callsOf(recruiting))) {
    const both = { code: 'invalid_input', field: 'tenantId', message: 'tenantId: expected none, because tenantSlug is given, got 41' }
    await t.rejects(call({ tenantSlug: 'acme', tenantId: 41 } as never), both, name)
    const invalid = /^invalid_(input|event)$/
    await t.rejects(call({ tenantId: 1.5 } as never), { code: invalid, field: 'tenantId' }, name)
    await t.rejects(call({ tenantSlug: '' } as never), { code: invalid, field: 'tenantSlug' }, name)
    await t.rejects(call({} as never), { code: invalid, field: 'tenantSlug' }, name)
    if (!/^(emit|changed|erase|createSession)$/.test(name)) {
      await t.rejects(call({ tenantID: 41 } as never), { code: 'invalid_input', field: 'tenantID' }, name)
    }
  }
  t.same(stored, [])
})

t.test('for a call with a tenantId, the option tenantSlug returns the slug; without it, the id is the slug', async (t) => {
  const asked: unknown[] = []
  for (const [given, name] of [[{ tenantSlug: (id: string, transaction: unknown) => { asked.push([id, transaction]); return 'acme' } }, 'acme'], [{}, '41']] as const) {
    const storage = memoryStorage()
    const recruiting = createRecruiting({ storage, ...byId, portal, ...given })
    t.teardown(() => recruiting.close())
    await recruiting.webhooks.create({ tenantId: 41 }, { ...webhookInput })
    await recruiting.emit({ tenantId: 41, type, data: { id: 1 } })
    const [body = ''] = await storage.feed.latest('41', { limit: 1, eventTypes: null })
    t.match(JSON.parse(body), { tenant_slug: name, data: { id: 1 } })
    const session = recruiting.portal.createSession({ tenantId: 41, actor: 'ada' })
    if (name === 'acme') t.match(await session, { url: /[#&]tenant=acme&/ })
    else await t.rejects(session, { code: 'unknown_tenant', field: 'tenantId' }, 'the page needs the slug')
  }
  t.same(asked, [['41', undefined], ['41', undefined], ['41', undefined]])
})

t.test('a call rejects and stores nothing if tenantSlug fails or returns no slug', async (t) => {
  const rule = /^tenantSlug: expected a function that returns a tenant slug of 1 to 100 characters/
  for (const [returned, message] of [['', rule], [41, rule], [new Error('no database'), 'no database']] as const) {
    const { storage, calls } = spyStorage()
    const tenantSlug = async (): Promise<string> => {
      if (returned instanceof Error) throw returned
      return returned as string
    }
    const recruiting = createRecruiting({ storage, ...byId, tenantSlug })
    t.teardown(() => recruiting.close())
    calls.length = 0
    await t.rejects(recruiting.emit({ tenantId: 41, type, data: {} }), { message })
    await t.rejects(recruiting.webhooks.create({ tenantId: 41 }, webhookInput), { message })
    t.same(calls, [])
  }
  t.throws(() => createRecruiting({ storage: memoryStorage(), tenantSlug: () => 'acme' }), { code: 'invalid_option', field: 'tenantSlug' })
})

t.test('data that changes during the slug lookup is recorded as validated', async (t) => {
  const storage = memoryStorage()
  const data: { id: unknown } = { id: 1 }
  const tenantSlug = async (): Promise<string> => {
    data.id = 'not an integer'
    return 'acme'
  }
  const recruiting = createRecruiting({ storage, ...byId, tenantSlug })
  t.teardown(() => recruiting.close())
  await recruiting.emit({ tenantId: 41, type, data })
  const [body = ''] = await storage.feed.latest('41', { limit: 1, eventTypes: null })
  t.same(JSON.parse(body).data, { id: 1 })
})

t.test('without the option tenantId, the slug is the id, and a resting slug is rejected as an id too', async (t) => {
  const recruiting = createRecruiting({ storage: memoryStorage(), logger: silentLogger, delivery: false })
  t.teardown(() => recruiting.close())
  const { id } = await recruiting.webhooks.create('acme', webhookInput)
  t.match(await recruiting.webhooks.find({ tenantId: 'acme' }, id), { id })
  await t.rejects(recruiting.emit({ tenantId: 'x'.repeat(101), type, data: {} }), { code: 'invalid_input', field: 'tenantId' })
  t.same(await recruiting.renameTenant({ tenantId: 'acme' }, 'acme-corp'), { webhooks: 1 })
  await t.rejects(recruiting.emit({ tenantId: 'acme', type, data: {} }), { code: 'tenant_resting' })
})
