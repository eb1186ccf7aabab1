import t from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { memoryStorage } from '../../../src/memory/index.js'

const quiet = { pending: 0, oldestDueMs: 0, failing: 0, delivered: 0, failed: 0, atLeast: { pending: false, delivered: false, failed: false } }

t.test('stats of a tenant are those of its id', async (t) => {
  const storage = memoryStorage()
  const ids = new Map([['acme', 42], ['globex', 43]])
  const recruiting = createRecruiting({ storage, delivery: false, tenantId: (slug) => ids.get(slug) ?? null })
  t.teardown(() => recruiting.close())
  await recruiting.webhooks.create('acme', { name: 'CRM', target_url: 'https://example.com/', event_types: ['application.created'] })
  await recruiting.emit({ tenantSlug: 'acme', type: 'application.created', data: {} })
  t.match(await recruiting.stats({ tenantSlug: 'acme' }), { ...quiet, pending: 1, oldestDueMs: Number })
  t.strictSame(await recruiting.stats({ tenantSlug: 'globex' }), quiet)
  ids.set('globex', 42)
  t.match(await recruiting.stats({ tenantSlug: 'globex' }), { pending: 1 })
  await t.rejects(recruiting.stats({ tenantSlug: 'nobody' }), { code: 'unknown_tenant' })
})

t.test('wrong arguments are refused, and none of them reads all tenants', async (t) => {
  const storage = memoryStorage()
  let reads = 0
  const { stats } = storage.deliveries
  storage.deliveries.stats = async () => { reads++; return stats() }
  const recruiting = createRecruiting({ storage, delivery: false })
  for (const [of, field] of [
    [null, 'options'], ['acme', 'options'], [[], 'options'], [{}, 'tenantSlug'], [{ tenantSlug: '' }, 'tenantSlug'], [{ tenantSlug: 5 }, 'tenantSlug'],
    [{ tenantSlug: undefined }, 'tenantSlug'], [{ tenant: 'acme' }, 'tenant'], [{ tenantSlug: 'acme', tenantId: 1 }, 'tenantId']
  ] as const) {
    await t.rejects(recruiting.stats(of as never), { code: 'invalid_input', field }, JSON.stringify(of))
  }
  t.equal(reads, 0)
  t.match(await recruiting.stats(), { pending: 0, inFlight: 0 })
  t.equal(reads, 1)
  await recruiting.removeTenant('acme')
  await t.rejects(recruiting.stats({ tenantSlug: 'acme' }), { code: 'tenant_resting' })
  await recruiting.close()
  await t.rejects(recruiting.stats({ tenantSlug: 'acme' }), { code: 'closed' })
  await t.rejects(recruiting.stats(), { code: 'closed' })
})
