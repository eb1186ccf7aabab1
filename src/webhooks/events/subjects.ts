import type { CallReport } from '../../observe/audit.js'
import type { DeliveryStore } from '../../ports/index.js'
import { plainText, readInput } from '../../shared/read-options.js'
import { type Tenants, readTenant, readTenantArgument, showTenant, tenantNames } from '../../shared/tenants.js'
import type { EngineCalls, ErasedSubject, FoundEvent } from '../recruiting.js'
import { assertNames, assertText, optionNames } from './dispatcher.js'

const subjectNames: ReadonlyArray<keyof ErasedSubject> = [...tenantNames, 'subject']

const pageSize = 100

interface SubjectParts {
  assertOpen (): void
  deliveries: Pick<DeliveryStore, 'erase' | 'listSubjectEvents'>
  tenants: Tenants
}

/** Erases subjects, and lists who received data about them. */
export function createSubjects (
  { assertOpen, deliveries, tenants }: SubjectParts, report: CallReport
): Pick<EngineCalls, 'erase' | 'findSubject'> {
  return {
    async erase (erased, options = {}) {
      assertOpen()
      assertNames('subject', erased, subjectNames)
      assertNames('options', options, optionNames)
      const reference = readTenant(erased, 'invalid_event')
      assertText('subject', erased.subject)
      const { subject } = erased
      const tenantId = await tenants.getId(reference, options.transaction)
      const rowCount = await eraseAll(deliveries, tenantId, subject, options.transaction)
      const resource = { kind: 'subject', id: subject }
      report({ operationId: 'erase', tenantSlug: showTenant(erased), tenantId, resource, rowCount })
      return rowCount
    },

    async * findSubject (tenant, given) {
      assertOpen()
      const reference = readTenantArgument(tenant)
      const { subject } = readInput({ subject: given }, { subject: plainText(255) })
      const tenantId = await tenants.getId(reference)
      let rowCount = 0
      let hasEnded = false
      // Also reports callers that stop early: they have received events.
      try {
        for await (const event of listEvents(deliveries, tenantId, subject)) {
          rowCount++
          yield event
        }
        hasEnded = true
      } finally {
        const resource = { kind: 'subject', id: subject }
        const call = { operationId: 'findSubject', tenantSlug: showTenant(tenant), tenantId, resource, rowCount }
        if (hasEnded || rowCount > 0) report(call)
      }
    }
  }
}

/** Calls the storage until nothing is left to erase: a call stops at a bound. */
async function eraseAll (
  deliveries: Pick<DeliveryStore, 'erase'>, tenantId: string, subject: string, transaction: unknown
): Promise<number> {
  for (;;) {
    const { events, truncated } = await deliveries.erase(tenantId, subject, transaction)
    if (!truncated) return events
  }
}

/** Lists all events with a subject, page by page. */
export async function * listEvents (
  deliveries: Pick<DeliveryStore, 'listSubjectEvents'>, tenant: string, subject: string
): AsyncGenerator<FoundEvent, void> {
  for (let after: number | undefined = 0; after !== undefined;) {
    const page = await deliveries.listSubjectEvents(tenant, subject, { after, limit: pageSize })
    for (const { position: _, ...event } of page) yield event
    after = page.length < pageSize ? undefined : page.at(-1)?.position
  }
}
