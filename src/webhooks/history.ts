import { RecruitingApiError } from '../errors.js'
import type { CallReport } from '../observe/audit.js'
import type { Clock, DeliveryStore, EventFeed } from '../ports/index.js'
import { createSlots } from '../shared/clock.js'
import { plainText, readInput } from '../shared/read-options.js'
import { type Tenants, readTenant, readTenantArgument, showTenant, tenantNames } from '../shared/tenants.js'
import { assertNames, assertText, optionNames } from './events/dispatcher.js'
import type { EngineCalls, ErasedSubject, FoundEvent } from './recruiting.js'

const maxReaders = 2
const waitMs = 1000
/** Earlier pages of a log are cheap. */
const deepOffset = 10_000

/** The methods that read stored events and deliveries for tenants and hosts. */
export type History = Pick<
  DeliveryStore, 'list' | 'count' | 'find' | 'replay' | 'countReplay' | 'retry' | 'erase' | 'listSubjectEvents'
> & Partial<Pick<EventFeed, 'latest'>>

/** Runs a call in a slot, in the order of the calls. */
export type RunInSlot = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * Lets at most two calls of the process read history at a time. Their cost grows with the tenant's data, so one tenant
 * could otherwise use every connection. A call waits up to a second, then rejects with `busy`.
 */
export function limitHistory (deliveries: DeliveryStore, feed: EventFeed | undefined, run: RunInSlot): History {
  return {
    list (...values) {
      const [, , { offset }] = values
      return offset < deepOffset ? deliveries.list(...values) : run(() => deliveries.list(...values))
    },
    find: (...values) => deliveries.find(...values),
    retry: (...values) => deliveries.retry(...values),
    count: (...values) => run(() => deliveries.count(...values)),
    replay: (...values) => run(() => deliveries.replay(...values)),
    countReplay: (...values) => run(() => deliveries.countReplay(...values)),
    erase: (...values) => run(() => deliveries.erase(...values)),
    listSubjectEvents: (...values) => run(() => deliveries.listSubjectEvents(...values)),
    ...feed === undefined ? {} : { latest: (...values) => run(() => feed.latest(...values)) }
  }
}

/** Creates the slots for all engines of a process, which usually share a pool. */
export function createHistorySlots (clock: Clock): RunInSlot {
  return createSlots(maxReaders, waitMs, clock, () =>
    new RecruitingApiError('busy', "too many calls read tenants' history: try again in 5 seconds")).run
}

const pageSize = 100
const subjectNames: ReadonlyArray<keyof ErasedSubject> = [...tenantNames, 'subject']

interface SubjectParts {
  assertOpen (): void
  deliveries: Pick<History, 'erase' | 'listSubjectEvents'>
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
      // Also reports callers that stop early, because they received events.
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

/** Calls the storage until nothing is left to erase: each call stops at a limit. */
async function eraseAll (
  deliveries: Pick<History, 'erase'>, tenantId: string, subject: string, transaction: unknown
): Promise<number> {
  for (;;) {
    const { events, truncated } = await deliveries.erase(tenantId, subject, transaction)
    if (!truncated) return events
  }
}

/** Lists all events with a subject, page by page. */
export async function * listEvents (
  deliveries: Pick<History, 'listSubjectEvents'>, tenant: string, subject: string
): AsyncGenerator<FoundEvent, void> {
  for (let after: number | undefined = 0; after !== undefined;) {
    const page = await deliveries.listSubjectEvents(tenant, subject, { after, limit: pageSize })
    for (const { position: _, ...event } of page) yield event
    after = page.length < pageSize ? undefined : page.at(-1)?.position
  }
}
