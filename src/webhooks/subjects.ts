import type { DeliveryStore } from '../ports/index.js'
import { type Readers, plainText, readInput, slug } from '../shared/read-options.js'
import type { Tenants } from '../shared/tenants.js'
import { assertNames, assertTenantSlug, assertText, optionNames, subjectNames } from './events/arguments.js'
import type { EngineCalls, FoundEvent } from './recruiting.js'

interface Dependencies {
  assertOpen (): void
  deliveries: Pick<DeliveryStore, 'erase' | 'listSubjectEvents'>
  tenants: Tenants
}

const pageSize = 100

const readers: Readers<{ tenantSlug: string, subject: string }> = { tenantSlug: slug, subject: plainText(255) }

/** Erases subjects, and lists who received data about them. */
export function createSubjects ({ assertOpen, deliveries, tenants }: Dependencies): Pick<EngineCalls, 'erase' | 'findSubject'> {
  return {
    async erase (erased, options = {}) {
      assertOpen()
      assertNames('subject', erased, subjectNames)
      assertNames('options', options, optionNames)
      assertTenantSlug(erased.tenantSlug)
      assertText('subject', erased.subject)
      const tenant = await tenants.get(erased.tenantSlug, options.transaction)
      return deliveries.erase(tenant.id, erased.subject, options.transaction)
    },

    async * findSubject (...given) {
      assertOpen()
      const { tenantSlug, subject } = readInput({ tenantSlug: given[0], subject: given[1] }, readers)
      const tenant = await tenants.get(tenantSlug)
      yield * listEvents(deliveries, tenant.id, subject)
    }
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
