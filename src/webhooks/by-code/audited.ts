import type { AuditedCall, AuditedResource } from '../../observe/audit.js'
import { showTenant, type TenantArgument } from '../../shared/tenants.js'
import type { ActorCalls } from '../recruiting.js'
import type { RecruitingWebhooks } from './recruiting-webhooks.js'

type Report = (call: AuditedCall) => void

/** Returns the same calls, which report what they did once they have succeeded. */
export function auditCalls (calls: ActorCalls, report: Report): ActorCalls {
  return {
    async erase (subject, options) {
      const rowCount = await calls.erase(subject, options)
      report({
        operationId: 'erase',
        tenantSlug: showTenant(subject),
        resource: { kind: 'subject', id: subject.subject },
        rowCount
      })
      return rowCount
    },
    async * findSubject (tenant, subject) {
      let rowCount = 0
      let hasEnded = false
      // Also reports callers that stop early: they have received events.
      try {
        for await (const event of calls.findSubject(tenant, subject)) {
          rowCount++
          yield event
        }
        hasEnded = true
      } finally {
        const call = {
          operationId: 'findSubject',
          tenantSlug: showTenant(tenant),
          resource: { kind: 'subject', id: subject }
        }
        if (hasEnded || rowCount > 0) report({ ...call, rowCount })
      }
    },
    async renameTenant (from, to, options) {
      const result = await calls.renameTenant(from, to, options)
      report({ operationId: 'renameTenant', tenantSlug: showTenant(from), resource: { kind: 'tenant', id: to } })
      return result
    },
    async removeTenant (tenant, options) {
      const result = await calls.removeTenant(tenant, options)
      const tenantSlug = showTenant(tenant)
      report({ operationId: 'removeTenant', tenantSlug, resource: { kind: 'tenant', id: tenantSlug } })
      return result
    },
    async adopt (options) {
      const result = await calls.adopt(options)
      report({ operationId: 'adopt' })
      return result
    },
    async resealSecrets () {
      const rowCount = await calls.resealSecrets()
      report({ operationId: 'resealSecrets', rowCount })
      return rowCount
    },
    webhooks: auditWebhooks(calls.webhooks, report)
  }
}

function auditWebhooks (webhooks: RecruitingWebhooks, report: Report): RecruitingWebhooks {
  /** `null` is the result of finding nothing, which is not reported. */
  async function one<Result extends object | null> (
    operationId: string,
    tenant: TenantArgument,
    result: Promise<Result>,
    findResource: (found: NonNullable<Result>) => AuditedResource
  ): Promise<Result> {
    const found = await result
    if (found !== null) {
      report({ operationId, tenantSlug: showTenant(tenant), resource: findResource(found), rowCount: 1 })
    }
    return found
  }

  const webhook = (id: number) => (): AuditedResource => ({ kind: 'webhook', id })
  const delivery = (id: number) => (): AuditedResource => ({ kind: 'delivery', id })

  return {
    async list (tenant, query) {
      const page = await webhooks.list(tenant, query)
      report({
        operationId: 'listWebhooks',
        tenantSlug: showTenant(tenant),
        filters: listFilters(query),
        rowCount: page.data.length
      })
      return page
    },
    find: (tenant, id) => one('getWebhook', tenant, webhooks.find(tenant, id), webhook(id)),
    create: (tenant, input) =>
      one('createWebhook', tenant, webhooks.create(tenant, input), ({ id }) => ({ kind: 'webhook', id })),
    import: (tenant, input) =>
      one('importWebhook', tenant, webhooks.import(tenant, input), ({ id }) => ({ kind: 'webhook', id })),
    update: (tenant, id, changes) => one('updateWebhook', tenant, webhooks.update(tenant, id, changes), webhook(id)),
    async delete (tenant, id) {
      await webhooks.delete(tenant, id)
      report({ operationId: 'deleteWebhook', tenantSlug: showTenant(tenant), resource: { kind: 'webhook', id } })
    },
    rotateSecret: (tenant, id, input) =>
      one('rotateWebhookSecret', tenant, webhooks.rotateSecret(tenant, id, input), webhook(id)),
    sendTest: (tenant, id, input) =>
      one('dispatchWebhookTest', tenant, webhooks.sendTest(tenant, id, input), webhook(id)),
    replay: (tenant, id, input) => one('replayWebhook', tenant, webhooks.replay(tenant, id, input), webhook(id)),
    async preview (tenant, input) {
      const found = await webhooks.preview(tenant, input)
      report({ operationId: 'previewWebhook', tenantSlug: showTenant(tenant), rowCount: found.events })
      return found
    },
    async listDeliveries (tenant, id, query) {
      const page = await webhooks.listDeliveries(tenant, id, query)
      const call = { operationId: 'listWebhookDeliveries', tenantSlug: showTenant(tenant), resource: webhook(id)() }
      report({ ...call, filters: listFilters(query), rowCount: page.data.length })
      return page
    },
    findDelivery: (tenant, id, deliveryId) =>
      one('getWebhookDelivery', tenant, webhooks.findDelivery(tenant, id, deliveryId), delivery(deliveryId)),
    retryDelivery: (tenant, id, deliveryId) =>
      one('retryWebhookDelivery', tenant, webhooks.retryDelivery(tenant, id, deliveryId), delivery(deliveryId)),
    async failing (options) {
      const found = await webhooks.failing(options)
      report({ operationId: 'listFailingWebhooks', rowCount: found.length })
      return found
    }
  }
}

function listFilters (query: object = {}): string[] {
  return Object.entries(query)
    .filter(([name, value]) => name.startsWith('filter[') && value !== undefined)
    .map(([name]) => name)
}
