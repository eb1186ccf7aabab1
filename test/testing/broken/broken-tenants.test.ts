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
          for (const event of data.events.values()) if (event.tenantSlug === to) event.tenantSlug = from
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
          data.notices.renameTenant(to, from)
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
    storage: 'merges a tenant into an existing one',
    caughtBy: 'a tenant cannot be renamed to one that has a webhook or an event',
    breaks: ({ webhooks, data }) => ({
      webhooks: {
        async renameTenant (from, to, options) {
          if (data.tenants.get(to)?.webhooks.size === 0) data.tenants.delete(to)
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
        removeTenant: (tenantSlug, { limit }) => webhooks.removeTenant(tenantSlug, { limit })
      }
    })
  },
  {
    storage: 'removes webhooks and keeps their deliveries due',
    caughtBy: 'a removed tenant has no webhook, no delivery and no notice, and others keep theirs',
    breaks: ({ data }) => ({
      webhooks: {
        async removeTenant (tenantSlug) {
          data.tenants.delete(tenantSlug)
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
        async removeTenant (tenantSlug, options) {
          const events = [...data.events]
          const left = await webhooks.removeTenant(tenantSlug, options)
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
