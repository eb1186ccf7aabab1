import type { AuditedCall, AuditedResource } from '../../observe/audit.js'
import type { ActorCalls } from '../recruiting.js'
import type { RecruitingWebhooks } from './recruiting-webhooks.js'

type Report = (call: AuditedCall) => void

/** Returns the same calls, which report what they did once they have succeeded. */
export function auditCalls (calls: ActorCalls, report: Report): ActorCalls {
  return {
    async erase (subject, options) {
      const rowCount = await calls.erase(subject, options)
      report({ operationId: 'erase', tenantSlug: subject.tenantSlug, resource: { kind: 'subject', id: subject.subject }, rowCount })
      return rowCount
    },
    async * findSubject (tenantSlug, subject) {
      let rowCount = 0
      let hasEnded = false
      // Also reports callers that stop early: they have received events.
      try {
        for await (const event of calls.findSubject(tenantSlug, subject)) {
          rowCount++
          yield event
        }
        hasEnded = true
      } finally {
        if (hasEnded || rowCount > 0) report({ operationId: 'findSubject', tenantSlug, resource: { kind: 'subject', id: subject }, rowCount })
      }
    },
    async renameTenant (from, to, options) {
      const result = await calls.renameTenant(from, to, options)
      report({ operationId: 'renameTenant', tenantSlug: from, resource: { kind: 'tenant', id: to } })
      return result
    },
    async removeTenant (tenantSlug, options) {
      const result = await calls.removeTenant(tenantSlug, options)
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
    operationId: string, tenantSlug: string, result: Promise<Result>, findResource: (found: NonNullable<Result>) => AuditedResource
  ): Promise<Result> {
    const found = await result
    if (found !== null) report({ operationId, tenantSlug, resource: findResource(found), rowCount: 1 })
    return found
  }

  const webhook = (id: number) => (): AuditedResource => ({ kind: 'webhook', id })
  const delivery = (id: number) => (): AuditedResource => ({ kind: 'delivery', id })

  return {
    async list (tenantSlug, query) {
      const page = await webhooks.list(tenantSlug, query)
      report({ operationId: 'listWebhooks', tenantSlug, filters: listFilters(query), rowCount: page.data.length })
      return page
    },
    find: (tenantSlug, id) => one('getWebhook', tenantSlug, webhooks.find(tenantSlug, id), webhook(id)),
    create: (tenantSlug, input) => one('createWebhook', tenantSlug, webhooks.create(tenantSlug, input), ({ id }) => ({ kind: 'webhook', id })),
    import: (tenantSlug, input) => one('importWebhook', tenantSlug, webhooks.import(tenantSlug, input), ({ id }) => ({ kind: 'webhook', id })),
    update: (tenantSlug, id, changes) => one('updateWebhook', tenantSlug, webhooks.update(tenantSlug, id, changes), webhook(id)),
    async delete (tenantSlug, id) {
      await webhooks.delete(tenantSlug, id)
      report({ operationId: 'deleteWebhook', tenantSlug, resource: { kind: 'webhook', id } })
    },
    rotateSecret: (tenantSlug, id, input) => one('rotateWebhookSecret', tenantSlug, webhooks.rotateSecret(tenantSlug, id, input), webhook(id)),
    sendTest: (tenantSlug, id, input) => one('dispatchWebhookTest', tenantSlug, webhooks.sendTest(tenantSlug, id, input), webhook(id)),
    replay: (tenantSlug, id, input) => one('replayWebhook', tenantSlug, webhooks.replay(tenantSlug, id, input), webhook(id)),
    async preview (tenantSlug, input) {
      const found = await webhooks.preview(tenantSlug, input)
      report({ operationId: 'previewWebhook', tenantSlug, rowCount: found.events })
      return found
    },
    async listDeliveries (tenantSlug, id, query) {
      const page = await webhooks.listDeliveries(tenantSlug, id, query)
      report({ operationId: 'listWebhookDeliveries', tenantSlug, resource: { kind: 'webhook', id }, filters: listFilters(query), rowCount: page.data.length })
      return page
    },
    findDelivery: (tenantSlug, id, deliveryId) => one('getWebhookDelivery', tenantSlug, webhooks.findDelivery(tenantSlug, id, deliveryId), delivery(deliveryId)),
    retryDelivery: (tenantSlug, id, deliveryId) => one('retryWebhookDelivery', tenantSlug, webhooks.retryDelivery(tenantSlug, id, deliveryId), delivery(deliveryId)),
    async failing (options) {
      const found = await webhooks.failing(options)
      report({ operationId: 'listFailingWebhooks', rowCount: found.length })
      return found
    }
  }
}

function listFilters (query: object = {}): string[] {
  return Object.entries(query).filter(([name, value]) => name.startsWith('filter[') && value !== undefined).map(([name]) => name)
}
