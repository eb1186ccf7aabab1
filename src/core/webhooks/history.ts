import { RecruitingApiError } from '../shared/errors.js'
import type { CallReport } from '../observe/audit.js'
import type { Clock, DeliveryStore, EventFeed } from '../ports/index.js'
import { createPlaces, type Places } from '../shared/places.js'
import { plainText, readInput } from '../shared/read-options.js'
import { type Tenants, readTenant, readTenantArgument, showTenant, tenantNames } from '../shared/tenants.js'
import { assertNames, assertText, optionNames } from './events/dispatcher.js'
import type { EngineCalls, ErasedSubject, FoundEvent } from './recruiting.js'

/** Earlier pages of a log are cheap. */
const deepOffset = 10_000

/** The methods that read stored events and deliveries for tenants and hosts. */
export type History = Pick<
  DeliveryStore, 'list' | 'count' | 'find' | 'replay' | 'countReplay' | 'retry' | 'erase' | 'listSubjectEvents'
> & Partial<Pick<EventFeed, 'latest'>> & {
  /** `undefined` for a storage without a feed. */
  findEvent?: EventFeed['find']
}

export type HistoryPlaces = ReturnType<typeof createHistoryPlaces>

/**
 * Lets only a few calls read history at a time. Their cost grows with the tenant's data, so one tenant could otherwise
 * use every connection. A call waits up to a second for its turn, then rejects with `busy`. Log pages with a capped
 * total need no place.
 */
export function limitHistory (deliveries: DeliveryStore, feed: EventFeed | undefined, { run }: Places): History {
  return {
    list (...values) {
      const [tenant, , { offset }] = values
      return offset < deepOffset ? deliveries.list(...values) : run(tenant, () => deliveries.list(...values))
    },
    count (...values) {
      const [tenant, , , { limit } = {}] = values
      return limit === undefined ? run(tenant, () => deliveries.count(...values)) : deliveries.count(...values)
    },
    find: (...values) => deliveries.find(...values),
    retry: (...values) => deliveries.retry(...values),
    replay: (...values) => run(values[0], () => deliveries.replay(...values)),
    countReplay: (...values) => run(values[0], () => deliveries.countReplay(...values)),
    erase: (...values) => run(values[0], () => deliveries.erase(...values)),
    listSubjectEvents: (...values) => run(values[0], () => deliveries.listSubjectEvents(...values)),
    ...feed === undefined
      ? {}
      : {
          latest: (...values) => run(values[0], () => feed.latest(...values)),
          findEvent: (...values) => feed.find(...values)
        }
  }
}

/** Creates the places for all engines of a process, which usually share a pool. Calls by code wait for no requests. */
export function createHistoryPlaces (clock: Clock) {
  const create = (): Places => createPlaces({
    count: 4,
    waitMs: 1000,
    maxWaiting: 20,
    clock,
    full: () => new RecruitingApiError('busy', "too many calls read the tenant's history: try again in 5 seconds")
  })
  return { requests: create(), code: create() }
}

const pageSize = 100
const subjectNames: ReadonlyArray<keyof ErasedSubject> = [...tenantNames, 'subject']

interface SubjectParts {
  assertOpen (): void
  deliveries: Pick<History, 'erase' | 'listSubjectEvents'>
  tenants: Tenants
}

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

export async function * listEvents (
  deliveries: Pick<History, 'listSubjectEvents'>, tenant: string, subject: string
): AsyncGenerator<FoundEvent, void> {
  for (let after: number | undefined = 0; after !== undefined;) {
    const page = await deliveries.listSubjectEvents(tenant, subject, { after, limit: pageSize })
    for (const { position: _, ...event } of page) yield event
    after = page.length < pageSize ? undefined : page.at(-1)?.position
  }
}
