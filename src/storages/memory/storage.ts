import { RecruitingApiError } from '../../core/shared/errors.js'
import { assertKnownNames, choice } from '../../core/shared/read-options.js'
import { createSteadyNow, type StoredClock, systemClock } from '../../core/shared/clock.js'
import { readIds } from '../../core/shared/ids.js'
import type {
  ChangeKind, ChangeSource, EventFeed, EventStorage, HoldStore, Id, IdempotencyStore, IdKinds, RecruitingStorage,
  SubscriptionStore
} from '../../core/ports/index.js'
import { memoryChanges } from './changes.js'
import { isRecord, parseTenant, reject } from './checks.js'
import { createHoldStore } from './holds.js'
import { createIdempotencyStore } from './idempotency.js'
import { createEventFeed } from './feed.js'
import { createDeliveryStore } from './deliveries/deliveries.js'
import { createRowSource, type InitialRows, type RowSourceContext } from './lists/row-source.js'
import {
  candidateKind, type IdOf, type IntegerIds, jobKind, type MemoryCandidate, type MemoryCandidateSource, type MemoryJob,
  type MemoryJobSource
} from './lists/rows.js'
import { createSubscriptionStore } from './subscriptions.js'
import { createWebhookData } from './webhook-data.js'
import { createWebhookStore } from './webhooks.js'

/** The initial rows of one tenant. */
export interface MemoryTenant<
  CandidateId extends Id = number,
  JobId extends Id = number,
  SourceId extends Id = number,
  RecruiterId extends Id = number
> {
  /** @default [] */
  candidates?: ReadonlyArray<MemoryCandidate<CandidateId, SourceId, RecruiterId>>
  /** @default [] */
  jobs?: ReadonlyArray<MemoryJob<JobId>>
}

/** Options of `memoryStorage`. */
export interface MemoryStorageOptions<Ids extends Partial<IdKinds> = IntegerIds> {
  /** Tenants by slug, or by id with the option `tenantId`. @default {} */
  tenants?: Readonly<
    Record<string, MemoryTenant<IdOf<Ids, 'candidate'>, IdOf<Ids, 'job'>, IdOf<Ids, 'source'>, IdOf<Ids, 'recruiter'>>>
  >
  /** Which ids of the rows are text, as in the option `ids` of the plugin. @default all are 'integer' */
  ids?: Ids
  /**
   * What records changes of candidates and jobs: `save` and `remove`, like the triggers of `watch`, or with `'manual'`
   * only calls of `changed`. @default 'watch'
   */
  changes?: 'watch' | 'manual'
  /** The clock of the storage. @default the system clock */
  clock?: StoredClock
}

/** A storage in memory, with methods to change candidates and jobs. */
export interface MemoryStorage<
  CandidateId extends Id = number,
  JobId extends Id = number,
  SourceId extends Id = number,
  RecruiterId extends Id = number
> extends EventStorage {
  /** The candidates of all tenants, with `save` and `remove`. */
  candidates: MemoryCandidateSource<CandidateId, SourceId, RecruiterId>
  /** The jobs of all tenants, with `save` and `remove`. */
  jobs: MemoryJobSource<JobId>
  /** The changes of both. `save` and `remove` record them, unless the option `changes` is `'manual'`. */
  changes: ChangeSource
  /** The events of all tenants, in order. */
  feed: EventFeed
  /** The environment that the storage belongs to. */
  holds: HoldStore
  /** The stored responses to requests with `Idempotency-Key`. */
  idempotency: IdempotencyStore
  /** The subscriptions of agents. */
  subscriptions: SubscriptionStore
}

const optionNames = {
  tenants: true, ids: true, changes: true, clock: true
} satisfies Record<keyof MemoryStorageOptions, true>
const tenantNames = { candidates: true, jobs: true } satisfies Record<keyof MemoryTenant, true>

/**
 * Creates a storage in the memory of this process, for trials, demos and tests. Its data is lost when the process ends,
 * and other processes cannot see it.
 *
 * Throws `RecruitingApiError` (`invalid_option`) for an unknown option, a malformed row or a duplicate id within a
 * tenant.
 */
export function memoryStorage<const Ids extends Partial<IdKinds> = IntegerIds> (
  options?: MemoryStorageOptions<Ids>
): MemoryStorage<IdOf<Ids, 'candidate'>, IdOf<Ids, 'job'>, IdOf<Ids, 'source'>, IdOf<Ids, 'recruiter'>>
export function memoryStorage (options: MemoryStorageOptions<Partial<IdKinds>> = {}): MemoryStorage<Id, Id, Id, Id> {
  assertKnownNames(options, optionNames)
  const ids = readIds(options.ids, 'ids')
  const { tenants = {}, clock = systemClock } = options
  if (!isRecord(tenants)) reject('tenants', 'an object', tenants)
  const recorder = choice(['watch', 'manual'], 'watch')(options.changes, 'changes')

  const now = createSteadyNow(clock)
  const changes = memoryChanges({ clock: { now } })
  const data = createWebhookData(now, changes)
  const contextOf = (kind: ChangeKind): RowSourceContext => ({
    now,
    onChange: (tenant, id) => {
      if (recorder === 'manual') return
      changes.record(tenant, { kind, id: String(id), deleted: false }).catch((error) => process.emitWarning(error))
    }
  })
  const candidates: MemoryCandidateSource<Id, Id, Id> =
    createRowSource(candidateKind(ids), contextOf('candidate'), readRows(tenants, 'candidates'))
  const jobs: MemoryJobSource<Id> = createRowSource(jobKind(ids), contextOf('job'), readRows(tenants, 'jobs'))
  return {
    candidates,
    jobs,
    webhooks: createWebhookStore(data),
    deliveries: createDeliveryStore(data),
    changes,
    feed: createEventFeed(data),
    holds: createHoldStore(data),
    idempotency: createIdempotencyStore(data),
    subscriptions: createSubscriptionStore(data),

    // The host may have copied the storage and replaced a source with one that has other ids.
    async verify (this: Partial<RecruitingStorage<Id, Id, Id, Id>>, published) {
      if (published !== null && this.candidates === candidates) {
        assertSameIds(ids, published.ids, ['candidate', 'source', 'recruiter'])
      }
      if (published !== null && this.jobs === jobs) assertSameIds(ids, published.ids, ['job'])
      return []
    }
  }
}

function assertSameIds (ids: IdKinds, wanted: IdKinds, names: ReadonlyArray<keyof IdKinds>): void {
  const wrong = names.find((name) => ids[name] !== wanted[name])
  if (wrong === undefined) return
  throw new RecruitingApiError(
    'storage_not_ready',
    `memoryStorage has ids.${wrong} '${ids[wrong]}', and the plugin '${wanted[wrong]}': ` +
      'set the same option ids for both',
    `ids.${wrong}`
  )
}

function readRows (tenants: Record<string, unknown>, name: keyof MemoryTenant): InitialRows[] {
  return Object.entries(tenants).map(([key, content]) => {
    const tenant = parseTenant(key, 'tenants')
    const path = `tenants.${tenant}`
    if (!isRecord(content)) reject(path, 'an object', content)
    assertKnownNames(content, tenantNames, `${path}.`)
    return { tenant, rows: content[name] ?? [], path: `${path}.${name}` }
  })
}
