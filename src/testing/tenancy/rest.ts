import { type StorageDriver, benchCase } from '../support/driver.js'
import { rejects, same } from '../support/expect.js'
import { createEvent, createWebhook, named } from '../support/samples.js'

const longestRestMs = 2000
const keep = { reseal: (secret: string): string => secret }

async function listResting ({ webhooks }: Pick<StorageDriver, 'webhooks'>): Promise<string[]> {
  return (await webhooks.listResting()).map(({ tenantId }) => tenantId)
}

/** Lets acme rest, and lists at once. */
async function rest (driver: StorageDriver, restMs: number): Promise<{ resting: string[], tookMs: number }> {
  const start = performance.now()
  await driver.webhooks.removeTenant('acme', { limit: 10, restSeconds: restMs / 1000 })
  const resting = await listResting(driver)
  return { resting, tookMs: performance.now() - start }
}

/** Cases about tenants whose names rest, and about names of tenants with ids of their own. */
export const restCases = [
  benchCase('tenancy', {
    port: 'webhooks.removeTenant', name: 'a removed tenant rests for the given time'
  }, async (driver) => {
    let restMs = 20
    let { resting, tookMs } = await rest(driver, restMs)
    // In real time, a slow storage is asked after the end of a short rest.
    while (resting.length === 0 && tookMs >= restMs && restMs < longestRestMs) {
      ;({ resting, tookMs } = await rest(driver, (restMs *= 10)))
    }
    same(resting, ['acme'], 'the resting tenants')
    await driver.wait(restMs + 10)
    same(await listResting(driver), [], 'the resting tenants, after the time')
    await driver.addWebhook()
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', name: 'the previous id of a renamed tenant rests, and the new one does not'
  }, async (driver) => {
    await driver.addWebhook()
    await driver.webhooks.renameTenant(named('acme'), named('globex'), { ...keep, restSeconds: 3600 })
    same(await listResting(driver), ['acme'], 'the resting tenants')
    await driver.emit({ tenantSlug: 'globex' })
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', name: 'a tenant cannot be renamed to one that rests'
  }, async ({ webhooks, addWebhook }) => {
    const { id } = await addWebhook()
    await webhooks.removeTenant('globex', { limit: 10, restSeconds: 3600 })
    same(await webhooks.renameTenant(named('acme'), named('globex'), keep), null, 'the result of renameTenant')
    same((await webhooks.find('acme', id))?.id, id, 'the webhook under the old name')
  }),

  benchCase('tenancy', {
    port: 'webhooks.create', name: 'a tenant that rests gets no webhook'
  }, async ({ webhooks }) => {
    await webhooks.removeTenant('acme', { limit: 10, restSeconds: 3600 })
    const id = await webhooks.nextId('acme')
    await rejects(webhooks.create('acme', createWebhook(id), 50), 'creating a webhook')
    same(await webhooks.count('acme', {}), 0, 'the number of webhooks')
  }),

  benchCase('tenancy', {
    port: 'deliveries.record', name: 'a tenant that rests gets no event, and others do'
  }, async ({ webhooks, deliveries, emit }) => {
    await webhooks.removeTenant('acme', { limit: 10, restSeconds: 3600 })
    await rejects(deliveries.record('acme', createEvent('evt_late')), 'recording an event')
    await emit({ tenantSlug: 'globex' })
    same(await webhooks.removeTenant('acme', { limit: 10 }), 0, 'the events left of the removed tenant')
  }),

  benchCase('tenancy', {
    port: 'webhooks.listResting', name: 'each resting tenant is listed with the end of its rest'
  }, async ({ webhooks }) => {
    await webhooks.removeTenant('acme', { limit: 10, restSeconds: 60 })
    await webhooks.removeTenant('globex', { limit: 10, restSeconds: 3600 })
    const [first, second] = (await webhooks.listResting()).sort((one, other) => one.tenantId < other.tenantId ? -1 : 1)
    same([first?.tenantId, second?.tenantId], ['acme', 'globex'], 'the resting tenants')
    same(
      Math.round((Date.parse(String(second?.until)) - Date.parse(String(first?.until))) / 1000),
      3540,
      'the seconds between the ends'
    )
  }),

  benchCase('tenancy', {
    port: 'webhooks.renameTenant', name: 'a tenant that keeps its id keeps everything, under a new name'
  }, async ({ webhooks, addWebhook, emit, claimOne }) => {
    const { id } = await addWebhook({ tenantSlug: '4f1c6a2e', secret: 'sealed' })
    await emit({ tenantSlug: '4f1c6a2e', idempotencyKey: 'once' })
    const unsealed = (): never => { throw new Error('a secret of a tenant that keeps its id was resealed') }
    same(
      await webhooks.renameTenant(
        { slug: 'acme', id: '4f1c6a2e' },
        { slug: 'globex', id: '4f1c6a2e' },
        { reseal: unsealed, restSeconds: 0 }
      ),
      1,
      'the result of renameTenant'
    )
    const claimed = await claimOne()
    same(
      [claimed.tenantId, claimed.tenantSlug, claimed.webhookId, claimed.secrets],
      ['4f1c6a2e', 'globex', id, ['sealed']],
      'the claimed delivery'
    )
    same(
      (await emit({ tenantSlug: '4f1c6a2e', idempotencyKey: 'once' })).id,
      'evt_1',
      'the event recorded with the same key'
    )
    same(await webhooks.listResting(), [], 'the resting tenants')
  })
]
