import type { WebhookStore } from '../ports/index.js'
import { refuseTransaction } from './deliveries/record.js'
import type { EventRecord } from './deliveries/records.js'
import { type WebhookData, stopDeliveries } from './webhook-data.js'

export function createTenants (data: WebhookData): Pick<WebhookStore, 'renameTenant' | 'removeTenant'> {
  function eventsOf (tenantSlug: string): EventRecord[] {
    return [...data.events.values()].filter((event) => event.tenantSlug === tenantSlug)
  }

  return {
    async renameTenant (from, to, { reseal, transaction }) {
      refuseTransaction(transaction)
      if (data.tenants.has(to)) return null
      data.changes.renameTenant(from, to)
      const tenant = data.tenants.get(from)
      if (tenant === undefined) return 0

      data.tenants.delete(from)
      data.tenants.set(to, tenant)
      data.pending.renameTenant(from, to)
      for (const event of eventsOf(from)) event.tenantSlug = to
      for (const webhook of tenant.webhooks.values()) {
        webhook.tenantSlug = to
        webhook.secret = reseal(webhook.secret, webhook.id)
        webhook.previousSecret = webhook.previousSecret && reseal(webhook.previousSecret, webhook.id)
      }
      data.notices.renameTenant(from, to)
      return tenant.webhooks.size
    },

    async removeTenant (tenantSlug, { transaction }) {
      refuseTransaction(transaction)
      for (const webhook of data.tenants.get(tenantSlug)?.webhooks.values() ?? []) {
        webhook.isDeleted = true
        stopDeliveries(data, webhook, 'cancelled')
      }
      for (const { id, event } of data.deliveries.values()) if (event.tenantSlug === tenantSlug) data.deliveries.delete(id)
      for (const { event } of eventsOf(tenantSlug)) data.events.delete(event.id)
      data.notices.removeTenant(tenantSlug)
      data.changes.removeTenant(tenantSlug)
      data.tenants.delete(tenantSlug)
      return 0
    }
  }
}
