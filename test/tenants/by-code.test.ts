import t from 'tap'
import { createRecruiting, isRecruitingApiError } from '../../src/index.js'
import { memoryStorage } from '../../src/memory/index.js'
import { silentLogger } from '../fixtures/delivery/silent-logger.js'
import { webhookInput } from '../fixtures/api/webhook-api.js'

interface Host {
  recruiting: ReturnType<typeof createRecruiting>
  companies: Map<string, number>
}

function createHost (hasIds: boolean): Host {
  const companies = new Map([['acme', 41], ['globex', 42]])
  const tenantId = hasIds ? { tenantId: (slug: string) => companies.get(slug) ?? null } : {}
  return { recruiting: createRecruiting({ storage: memoryStorage(), delivery: false, logger: silentLogger, ...tenantId }), companies }
}

async function errorOf (call: Promise<unknown>): Promise<unknown> {
  return call.then(() => 'no error', (error: unknown) => isRecruitingApiError(error) ? `${error.code} ${error.message}` : error)
}

t.test('a tenant with an id can be renamed before and after the host has renamed its row', async (t) => {
  for (const isBefore of [true, false]) {
    const { recruiting, companies } = createHost(true)
    await recruiting.webhooks.create('acme', webhookInput)
    const renameRow = (): void => { companies.delete('acme'); companies.set('acme-corp', 41) }
    if (!isBefore) renameRow()
    t.same(await recruiting.renameTenant('acme', 'acme-corp'), { webhooks: 1 })
    if (isBefore) renameRow()
    t.equal((await recruiting.webhooks.list('acme-corp')).data.length, 1)
    await recruiting.close()
  }
})

t.test('a tenant with an id cannot be renamed to the name of another one, and both keep their webhooks', async (t) => {
  const { recruiting } = createHost(true)
  await recruiting.webhooks.create('acme', webhookInput)
  t.equal(await errorOf(recruiting.renameTenant('acme', 'globex')), 'invalid_input to: expected a name that no other tenant has')
  t.equal(await errorOf(recruiting.renameTenant('initech', 'hooli')), 'unknown_tenant tenantSlug: the option tenantId returned null for "initech"')
  t.equal((await recruiting.webhooks.list('acme')).data.length, 1)
  t.same(await recruiting.webhooks.list('globex'), { data: [], meta: { page: 1, per_page: 25, total: 0, total_pages: 0 } })
  await recruiting.close()
})

t.test('a tenant whose row is gone is removed by its id, which may be a number or text', async (t) => {
  for (const tenantId of [41, '41']) {
    const { recruiting, companies } = createHost(true)
    await recruiting.webhooks.create('acme', webhookInput)
    companies.delete('acme')
    t.equal(await errorOf(recruiting.removeTenant('acme')), 'unknown_tenant tenantSlug: the option tenantId returned null for "acme"')
    t.same(await recruiting.removeTenant('acme', { tenantId }), { left: 0 })
    companies.set('acme', 41)
    t.equal((await recruiting.webhooks.list('acme')).data.length, 0)
    await recruiting.close()
  }
})

t.test('removeTenant refuses what cannot be an id, and removes nothing', async (t) => {
  const { recruiting } = createHost(true)
  await recruiting.webhooks.create('acme', webhookInput)
  const rule = 'invalid_input tenantId: expected an integer, or text of 1 to 200 characters without control characters'
  for (const tenantId of [null, '', {}, Number.NaN, 'x'.repeat(201), true]) {
    t.equal(await errorOf(recruiting.removeTenant('acme', { tenantId: tenantId as string })), rule, String(tenantId))
  }
  t.equal((await recruiting.webhooks.list('acme')).data.length, 1)
  await recruiting.close()
})

t.test('removeTenant takes no id without the option tenantId, and removes nothing', async (t) => {
  const { recruiting } = createHost(false)
  await recruiting.webhooks.create('acme', webhookInput)
  t.equal(await errorOf(recruiting.removeTenant('acme', { tenantId: 41 })), 'invalid_input tenantId: expected none without the option tenantId')
  t.equal((await recruiting.webhooks.list('acme')).data.length, 1)
  await recruiting.close()
})

t.test('removing a tenant again goes on, and its name rests for 61 minutes from then', async (t) => {
  const { recruiting } = createHost(false)
  t.same(await recruiting.removeTenant('acme'), { left: 0 })
  t.same(await recruiting.removeTenant('acme'), { left: 0 })
  t.match(await errorOf(recruiting.webhooks.list('acme')), /^tenant_resting tenantSlug: "acme" was renamed or removed, and can be used again at 20/)
  await recruiting.close()
})
