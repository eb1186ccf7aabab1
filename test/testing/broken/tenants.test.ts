import { testMistakes } from '../../fixtures/delivery/broken-storage.js'

const keep = (secret: string): string => secret

testMistakes([
  {
    storage: 'renames the webhooks and forgets the events',
    caughtBy: 'subjects and idempotency keys of a renamed tenant belong to the new name',
    breaks: ({ webhooks, data }) => ({
      webhooks: {
        async renameTenant (from, to, options) {
          const count = await webhooks.renameTenant(from, to, options)
          for (const event of data.events.values()) if (event.tenant === to.id) event.tenant = from.id
          return count
        }
      }
    })
  },
  {
    storage: 'keeps notices under the old name',
    caughtBy: 'pending deliveries and notices of a renamed tenant carry the new name',
    breaks: ({ webhooks, data }) => ({
      webhooks: {
        async renameTenant (from, to, options) {
          const count = await webhooks.renameTenant(from, to, options)
          data.notices.setName(to.id, from.slug)
          return count
        }
      }
    })
  },
  {
    storage: 'does not reseal secrets',
    caughtBy: 'secrets of a renamed tenant are those that reseal returns',
    breaks: ({ webhooks }) => ({
      webhooks: { renameTenant: (from, to, options) => webhooks.renameTenant(from, to, { ...options, reseal: keep }) }
    })
  },
  {
    storage: 'reseals a secret that expired',
    caughtBy: 'a secret that expired is dropped by a rename and not resealed',
    breaks: ({ webhooks, data }) => ({
      webhooks: {
        renameTenant (from, to, options) {
          for (const { id, previousSecret } of data.tenants.get(from.id)?.webhooks.values() ?? []) options.reseal(String(previousSecret), id)
          return webhooks.renameTenant(from, to, options)
        }
      }
    })
  },
  {
    storage: 'keeps what was resealed before reseal threw',
    caughtBy: 'a rename whose reseal throws changes nothing',
    breaks: ({ webhooks, data }) => ({
      webhooks: {
        async renameTenant (from, to, options) {
          for (const webhook of data.tenants.get(from.id)?.webhooks.values() ?? []) webhook.secret = options.reseal(webhook.secret, webhook.id)
          return webhooks.renameTenant(from, to, { ...options, reseal: keep })
        }
      }
    })
  },
  {
    storage: 'merges a tenant into an existing one',
    caughtBy: 'a tenant cannot be renamed to one that has a webhook or an event',
    breaks: ({ webhooks, data }) => ({
      webhooks: {
        async renameTenant (from, to, options) {
          if (data.tenants.get(to.id)?.webhooks.size === 0) data.tenants.delete(to.id)
          return webhooks.renameTenant(from, to, options)
        }
      }
    })
  },
  {
    storage: 'accepts a transaction that it cannot roll back',
    caughtBy: 'renaming commits with the host\'s transaction, or is rejected by a storage without transactions',
    breaks: ({ webhooks }) => ({
      webhooks: {
        renameTenant: (from, to, { reseal }) => webhooks.renameTenant(from, to, { reseal }),
        removeTenant: (tenant, { limit }) => webhooks.removeTenant(tenant, { limit })
      }
    })
  },
  {
    storage: 'removes webhooks and keeps their deliveries due',
    caughtBy: 'a removed tenant has no webhook, no delivery and no notice, and others keep theirs',
    breaks: ({ data }) => ({
      webhooks: {
        async removeTenant (tenant) {
          data.tenants.delete(tenant)
          return 0
        }
      }
    })
  },
  {
    storage: 'keeps the events of a removed tenant',
    caughtBy: 'a new tenant with the name of a removed one sees nothing of it',
    breaks: ({ webhooks, data }) => ({
      webhooks: {
        async removeTenant (tenant, options) {
          const events = [...data.events]
          const left = await webhooks.removeTenant(tenant, options)
          for (const [id, event] of events) data.events.set(id, event)
          return left
        }
      }
    })
  },
  {
    storage: 'never reports that nothing is left',
    caughtBy: 'a tenant with more events than the limit is removed by several calls',
    breaks: () => ({ webhooks: { removeTenant: async () => 1 } })
  }
])
