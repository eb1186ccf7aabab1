import type { WebhookStore } from '../ports/index.js'
import { refuseTransaction } from './checks.js'
import { type EventRecord, validSecrets } from './deliveries/records.js'
import { deleteRequests } from './idempotency.js'
import { stopDeliveries, type WebhookData } from './webhook-data.js'

export function createTenants (data: WebhookData): Pick<WebhookStore, 'renameTenant' | 'removeTenant' | 'listResting'> {
  function eventsOf (tenant: string): EventRecord[] {
    return [...data.events.values()].filter((event) => event.tenant === tenant)
  }

  function setName (tenant: string, slug: string): number {
    const webhooks = [...data.tenants.get(tenant)?.webhooks.values() ?? []]
    for (const webhook of webhooks) webhook.tenantSlug = slug
    data.notices.setName(tenant, slug)
    return webhooks.length
  }

  /** Ends the positions among the changes and the events of a tenant, and forgets its requests. */
  function endPositions (tenant: string): void {
    data.changes.removeTenant(tenant)
    deleteRequests(data, (request) => request.tenant === tenant)
    data.endedFeeds.set(tenant, (data.endedFeeds.get(tenant) ?? 0) + 1)
  }

  return {
    async renameTenant ({ id: from }, { id: to, slug }, { reseal, restSeconds = 0, transaction }) {
      refuseTransaction(transaction)
      if (from === to) return setName(to, slug)
      if (data.tenants.has(to) || data.resting.has(to)) return null
      const tenant = data.tenants.get(from)
      const now = data.now()
      // Before anything changes, because it may throw.
      const resealed = [...tenant?.webhooks.values() ?? []].map((webhook) => {
        const [secret = webhook.secret, previous = null] = validSecrets(webhook, now).map((valid) =>
          reseal(valid, webhook.id)
        )
        const headers = webhook.headers && { ...webhook.headers, sealed: reseal(webhook.headers.sealed, webhook.id) }
        return { webhook, secret, previous, headers }
      })
      for (const name of [from, to]) endPositions(name)
      data.resting.add(from, restSeconds)
      if (tenant === undefined) return 0

      data.tenants.delete(from)
      data.tenants.set(to, tenant)
      data.pending.renameTenant(from, to)
      for (const event of eventsOf(from)) event.tenant = to
      for (const { webhook, secret, previous, headers } of resealed) {
        webhook.tenant = to
        webhook.secret = secret
        webhook.previousSecret = previous
        webhook.headers = headers
      }
      data.notices.renameTenant(from, to)
      return setName(to, slug)
    },

    async removeTenant (tenant, { restSeconds = 0, transaction }) {
      refuseTransaction(transaction)
      for (const webhook of data.tenants.get(tenant)?.webhooks.values() ?? []) {
        webhook.isDeleted = true
        stopDeliveries(data, webhook, 'cancelled')
      }
      for (const { id, event } of data.deliveries.values()) if (event.tenant === tenant) data.deliveries.delete(id)
      for (const { event } of eventsOf(tenant)) data.events.delete(event.id)
      data.notices.removeTenant(tenant)
      endPositions(tenant)
      data.tenants.delete(tenant)
      data.resting.add(tenant, restSeconds)
      return 0
    },

    async listResting () {
      return data.resting.list()
    }
  }
}
