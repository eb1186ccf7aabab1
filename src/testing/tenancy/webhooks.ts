import { benchCases } from '../support/driver.js'
import { same } from '../support/expect.js'
import { firstRows } from '../support/samples.js'

const test = benchCases('tenancy')

// Slugs that a storage might confuse with acme, or with all tenants.
const strangers = ['globex', 'nobody', 'ACME', 'acme ', 'acm_', '%', '', '__proto__', "acme' or '1'='1"]

/** Cases about webhooks of other tenants. */
export const webhookTenancyCases = [
  test('webhooks.find', 'a webhook of another tenant is neither found nor listed nor counted', async (t) => {
    const { id } = await t.addWebhook()
    const theirs = await t.addWebhook({ tenantSlug: 'globex' })
    for (const stranger of strangers) {
      const own = stranger === 'globex' ? [theirs] : []
      same(await t.webhooks.find(stranger, id), null, `the webhook of acme that ${JSON.stringify(stranger)} finds`)
      same(await t.webhooks.list(stranger, firstRows), own, `the webhooks of ${JSON.stringify(stranger)}`)
      same(await t.webhooks.count(stranger, {}), own.length, `the number of webhooks of ${JSON.stringify(stranger)}`)
      same(await t.webhooks.count(stranger, { status: 'active' }), own.length, 'the number of active ones')
    }
  }),

  test('webhooks.findHealth', 'the health of another tenant\'s webhook is not shown', async (t) => {
    const { id } = await t.addWebhook()
    for (const stranger of strangers) {
      same(await t.webhooks.findHealth(stranger, id), null, `the health that ${JSON.stringify(stranger)} finds`)
    }
  }),

  test('webhooks.findGraceEnd', 'the grace period of another tenant\'s webhook is not shown', async (t) => {
    const { id } = await t.addWebhook()
    await t.webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 60 })
    for (const stranger of strangers) {
      same(
        await t.webhooks.findGraceEnd(stranger, id),
        null,
        `the end of the grace period that ${JSON.stringify(stranger)} finds`
      )
    }
  }),

  test('webhooks.update', 'a webhook of another tenant is neither changed nor deleted', async (t) => {
    const webhook = await t.addWebhook()
    for (const stranger of strangers) {
      same(await t.webhooks.update(stranger, webhook.id, { name: 'changed', status: 'inactive' }), null,
        `an update by ${JSON.stringify(stranger)}`)
      same(await t.webhooks.delete(stranger, webhook.id), false, `a deletion by ${JSON.stringify(stranger)}`)
    }
    same(await t.webhooks.find('acme', webhook.id), webhook, 'the webhook')
  }),

  test('webhooks.findSecrets', 'the secret of another tenant\'s webhook is neither shown nor changed', async (t) => {
    const webhook = await t.addWebhook({ secret: 'sesame' })
    for (const stranger of strangers) {
      same(await t.webhooks.findSecrets(stranger, webhook.id), null,
        `the secrets that ${JSON.stringify(stranger)} finds`)
      same(await t.webhooks.rotateSecret(stranger, webhook.id, { secret: 'changed', gracePeriodSeconds: 60 }), null,
        `a rotation by ${JSON.stringify(stranger)}`)
      same(await t.webhooks.replaceSecret(stranger, webhook.id, { from: 'sesame', to: 'changed' }), false,
        `a replacement by ${JSON.stringify(stranger)}`)
    }
    same(
      [await t.webhooks.findSecrets('acme', webhook.id), await t.webhooks.find('acme', webhook.id)],
      [['sesame'], webhook],
      'the secrets, and the webhook'
    )
  }),

  test('webhooks.create', 'webhooks of other tenants do not count towards maxPerTenant', async (t) => {
    await t.addWebhook({ tenantSlug: 'globex' })
    await t.addWebhook({ tenantSlug: 'globex' })
    const id = await t.webhooks.nextId('acme')
    const created = await t.webhooks.create(
      'acme',
      {
        id,
        tenantSlug: 'acme',
        name: 'First',
        status: 'active',
        target_url: 'https://hooks.example/',
        event_types: ['a.b'],
        secret: 's'
      },
      1
    )
    same(
      [created?.id, await t.webhooks.count('globex', {})],
      [id, 2],
      'the webhook created for acme, and the number of webhooks of globex'
    )
  })
]
