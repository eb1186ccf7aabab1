import { expectNames } from '../shared/expect.js'
import type { Clock, RecruitingStorage } from '../ports/index.js'
import { createCandidateSource } from './lists/candidates.js'
import type { MemoryCandidate, MemoryCandidateSource } from './lists/candidates.js'
import { isRecord, parseSlug, refuse } from './checks.js'
import { createDeliveryStore } from './deliveries/deliveries.js'
import { createJobSource } from './lists/jobs.js'
import type { MemoryJob, MemoryJobSource } from './lists/jobs.js'
import type { InitialRows } from './lists/row-source.js'
import { createWebhookData } from './webhook-data.js'
import { createWebhookStore } from './webhooks.js'

/** The initial rows of one tenant. */
export interface MemoryTenant {
  /** @default [] */
  candidates?: readonly MemoryCandidate[]
  /** @default [] */
  jobs?: readonly MemoryJob[]
}

/** Options of `memoryStorage`. */
export interface MemoryStorageOptions {
  /** Tenants by slug. @default {} */
  tenants?: Readonly<Record<string, MemoryTenant>>
  /** The clock of the storage. @default the system clock */
  clock?: Pick<Clock, 'now'>
}

/** A storage in memory, with methods to change candidates and jobs. */
export interface MemoryStorage extends RecruitingStorage {
  /** The candidates of all tenants, with `save` and `remove`. */
  candidates: MemoryCandidateSource
  /** The jobs of all tenants, with `save` and `remove`. */
  jobs: MemoryJobSource
}

const optionNames = { tenants: true, clock: true } satisfies Record<keyof MemoryStorageOptions, true>
const tenantNames = { candidates: true, jobs: true } satisfies Record<keyof MemoryTenant, true>

/**
 * Creates a storage in the memory of this process, for trials, demos and tests. Its data is lost when the process ends,
 * and other processes cannot see it.
 *
 * Throws `RecruitingApiError` (`invalid_option`) for an unknown option, a malformed row or a duplicate id within a
 * tenant.
 */
export function memoryStorage (options: MemoryStorageOptions = {}): MemoryStorage {
  expectNames(options, optionNames)
  const { tenants = {}, clock = { now: Date.now } } = options
  if (!isRecord(tenants)) refuse('tenants', 'an object', tenants)

  const now = (): number => clock.now()
  const data = createWebhookData(now)
  return {
    candidates: createCandidateSource(now, readRows(tenants, 'candidates')),
    jobs: createJobSource(now, readRows(tenants, 'jobs')),
    webhooks: createWebhookStore(data),
    deliveries: createDeliveryStore(data)
  }
}

function readRows (tenants: Record<string, unknown>, name: keyof MemoryTenant): InitialRows[] {
  return Object.entries(tenants).map(([slug, tenant]) => {
    const tenantSlug = parseSlug(slug, 'tenants')
    const path = `tenants.${tenantSlug}`
    if (!isRecord(tenant)) refuse(path, 'an object', tenant)
    expectNames(tenant, tenantNames, `${path}.`)
    return { tenantSlug, rows: tenant[name] ?? [], path: `${path}.${name}` }
  })
}
