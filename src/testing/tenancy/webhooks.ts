import { benchCase } from '../support/driver.js'
import { same } from '../support/expect.js'
import { firstRows } from '../support/samples.js'

// Slugs that a storage might confuse with acme, or with all tenants.
const strangers = ['globex', 'nobody', 'ACME', 'acme ', 'acm_', '%', '', '__proto__', "acme' or '1'='1"]

/** Cases about webhooks of other tenants. */
export const webhookTenancyCases = [
  benchCase('tenancy', {
    port: 'webhooks.find', name: 'a webhook of another tenant is neither found nor listed nor counted'
  }, async ({ webhooks, addWebhook }) => {
    const { id } = await addWebhook()
    const theirs = await addWebhook({ tenantSlug: 'globex' })
    for (const stranger of strangers) {
      const own = stranger === 'globex' ? [theirs] : []
      same(await webhooks.find(stranger, id), null, `the webhook of acme that ${JSON.stringify(stranger)} finds`)
      same(await webhooks.list(stranger, firstRows), own, `the webhooks of ${JSON.stringify(stranger)}`)
      same(await webhooks.count(stranger, {}), own.length, `the number of webhooks of ${JSON.stringify(stranger)}`)
      same(await webhooks.count(stranger, { status: 'active' }), own.length, 'the number of active ones')
    }
  }),

  benchCase('tenancy', {
    port: 'webhooks.findHealth', name: 'the health of another tenant\'s webhook is not shown'
  }, async ({ webhooks, addWebhook }) => {
    const { id } = await addWebhook()
    for (const stranger of strangers) {
      same(await webhooks.findHealth(stranger, id), null, `the health that ${JSON.stringify(stranger)} finds`)
    }
  }),

  benchCase('tenancy', {
    port: 'webhooks.findGraceEnd', name: 'the grace period of another tenant\'s webhook is not shown'
  }, async ({ webhooks, addWebhook }) => {
    const { id } = await addWebhook()
    await webhooks.rotateSecret('acme', id, { secret: 'second', gracePeriodSeconds: 60 })
    for (const stranger of strangers) {
      same(
        await webhooks.findGraceEnd(stranger, id),
        null,
        `the end of the grace period that ${JSON.stringify(stranger)} finds`
      )
    }
  }),

  benchCase('tenancy', {
    port: 'webhooks.update', name: 'a webhook of another tenant is neither changed nor deleted'
  }, async ({ webhooks, addWebhook }) => {
    const webhook = await addWebhook()
    for (const stranger of strangers) {
      same(await webhooks.update(stranger, webhook.id, { name: 'changed', status: 'inactive' }), null,
        `an update by ${JSON.stringify(stranger)}`)
      same(await webhooks.delete(stranger, webhook.id), false, `a deletion by ${JSON.stringify(stranger)}`)
    }
    same(await webhooks.find('acme', webhook.id), webhook, 'the webhook')
  }),

  benchCase('tenancy', {
    port: 'webhooks.findSecrets',
    name: 'the secret of another tenant\'s webhook is neither shown nor changed'
  }, async ({ webhooks, addWebhook }) => {
    const webhook = await addWebhook({ secret: 'sesame' })
    for (const stranger of strangers) {
      same(await webhooks.findSecrets(stranger, webhook.id), null, `the secrets that ${JSON.stringify(stranger)} finds`)
      same(await webhooks.rotateSecret(stranger, webhook.id, { secret: 'changed', gracePeriodSeconds: 60 }), null,
        `a rotation by ${JSON.stringify(stranger)}`)
      same(await webhooks.replaceSecret(stranger, webhook.id, { from: 'sesame', to: 'changed' }), false,
        `a replacement by ${JSON.stringify(stranger)}`)
    }
    same(
      [await webhooks.findSecrets('acme', webhook.id), await webhooks.find('acme', webhook.id)],
      [['sesame'], webhook],
      'the secrets, and the webhook'
    )
  }),

  benchCase('tenancy', {
    port: 'webhooks.create',
    name: 'webhooks of other tenants do not count towards maxPerTenant'
  }, async ({ webhooks, addWebhook }) => {
    await addWebhook({ tenantSlug: 'globex' })
    await addWebhook({ tenantSlug: 'globex' })
    const id = await webhooks.nextId('acme')
    const created = await webhooks.create(
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
      [created?.id, await webhooks.count('globex', {})],
      [id, 2],
      'the webhook created for acme, and the number of webhooks of globex'
    )
  })
]
