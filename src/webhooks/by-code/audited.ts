import type { AuditedCall } from '../../observe/audit.js'
import { readField } from '../../shared/fields.js'
import type { Page } from '../../shared/paging.js'
import { showTenant, type TenantArgument } from '../../shared/tenants.js'
import { idsOf, type Operation, webhookOperations } from '../operation-table.js'
import type { ActorCalls } from '../recruiting.js'
import type { RecruitingWebhooks, WebhookCall } from './recruiting-webhooks.js'

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
  const audited = Object.entries(webhookOperations).map(([name, operation]) => [
    name,
    async (tenant: TenantArgument, ...rest: unknown[]) => {
      const call = webhooks[name as WebhookCall] as (...given: unknown[]) => Promise<unknown>
      const result = await call(tenant, ...rest)
      // Finding nothing is not reported.
      if (result !== null) report(describeCall(operation, tenant, rest, result))
      return result
    }
  ])
  return {
    ...Object.fromEntries(audited),
    async failing (options) {
      const found = await webhooks.failing(options)
      report({ operationId: 'listFailingWebhooks', rowCount: found.length })
      return found
    }
  }
}

function describeCall (
  operation: Operation, tenant: TenantArgument, given: readonly unknown[], result: unknown
): AuditedCall {
  const { operationId, resource: kind, shape } = operation
  const count = idsOf(operation).length
  // A webhook that was created has its id in the result. A list is about no record.
  const id = given[count - 1] ?? readField(result, 'id')
  const call = { operationId, tenantSlug: showTenant(tenant), filters: listFilters(given[count]) }
  return {
    ...call,
    ...kind === undefined || id === undefined ? {} : { resource: { kind, id: id as number } },
    ...shape === 'none' ? {} : { rowCount: shape === 'one' ? 1 : (result as Page<unknown>).data.length }
  }
}

function listFilters (query: unknown): string[] {
  return Object.entries(query ?? {})
    .filter(([name, value]) => name.startsWith('filter[') && value !== undefined)
    .map(([name]) => name)
}
