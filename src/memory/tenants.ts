import type { RestingTenant, WebhookStore } from '../ports/index.js'
import { tenantResting } from '../shared/tenants.js'
import { formatDateTime, refuseTransaction } from './checks.js'
import { type EventRecord, validSecrets } from './deliveries/records.js'
import { deleteRequests } from './idempotency.js'
import { listWebhooks, stopDeliveries, type WebhookData } from './webhook-data.js'

function listResting ({ resting, now }: WebhookData): RestingTenant[] {
  for (const [tenant, end] of resting) if (end <= now()) resting.delete(tenant)
  return [...resting].map(([tenantId, end]) => ({ tenantId, until: formatDateTime(end) }))
}

function findRest (data: WebhookData, tenant: string): RestingTenant | undefined {
  return listResting(data).find(({ tenantId }) => tenantId === tenant)
}

/** Throws `tenant_resting`. */
export function assertAwake (data: WebhookData, tenant: string): void {
  const rest = findRest(data, tenant)
  if (rest !== undefined) throw tenantResting(tenant, rest.until)
}

export function createTenants (data: WebhookData): Pick<WebhookStore, 'renameTenant' | 'removeTenant' | 'listResting'> {
  function eventsOf (tenant: string): EventRecord[] {
    return [...data.events.values()].filter((event) => event.tenant === tenant)
  }

  function setName (tenant: string, slug: string): number {
    const webhooks = listWebhooks(data, tenant)
    for (const webhook of webhooks) webhook.tenantSlug = slug
    data.notices.setName(tenant, slug)
    return webhooks.length
  }

  function rest (tenant: string, restSeconds: number): void {
    if (restSeconds > 0) data.resting.set(tenant, data.now() + restSeconds * 1000)
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
      if (data.tenants.has(to) || findRest(data, to) !== undefined) return null
      const tenant = data.tenants.get(from)
      const now = data.now()
      // Before anything changes, because it may throw.
      const resealed = listWebhooks(data, from).map((webhook) => {
        const [secret = webhook.secret, previous = null] = validSecrets(webhook, now).map((valid) =>
          reseal(valid, webhook.id)
        )
        const headers = webhook.headers && { ...webhook.headers, sealed: reseal(webhook.headers.sealed, webhook.id) }
        return { webhook, secret, previous, headers }
      })
      for (const name of [from, to]) endPositions(name)
      rest(from, restSeconds)
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
      for (const webhook of listWebhooks(data, tenant)) {
        webhook.isDeleted = true
        stopDeliveries(data, webhook, 'cancelled')
      }
      for (const { id, event } of data.deliveries.values()) if (event.tenant === tenant) data.deliveries.delete(id)
      for (const { event } of eventsOf(tenant)) data.events.delete(event.id)
      data.notices.removeTenant(tenant)
      endPositions(tenant)
      data.tenants.delete(tenant)
      rest(tenant, restSeconds)
      return 0
    },

    async listResting () {
      return listResting(data)
    }
  }
}
