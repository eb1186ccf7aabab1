import type { AnyStorageHarness, MakeKeyLookup, MakeStorage, StorageHarness } from './harness.js'
import { namedTenants, numberIds } from './ids.js'

/**
 * - `lists`: candidates and jobs
 * - `webhooks`: webhooks and their secrets
 * - `deliveries`: the queue and its log
 * - `tenancy`: ids of another tenant, in every method that takes an id
 * - `races`: concurrent callers
 * - `sync`: changes, of a storage that keeps them; others pass
 * - `idempotency`: answers of requests with `Idempotency-Key`, of a storage that keeps them; others pass
 */
export type StorageGroup = 'lists' | 'webhooks' | 'deliveries' | 'tenancy' | 'races' | 'sync' | 'idempotency'

interface Case<Group, Make> {
  group: Group
  /** A sentence that is true of a storage that passes. Unique among all cases. */
  name: string
  /** The method under test, such as `deliveries.claimDue`. */
  port: string
  /** Resolves if the sentence holds; otherwise rejects, usually with an `AssertionError`. */
  run (make: Make): Promise<void>
}

/** One conformance case for a storage. */
export interface StorageCase extends Case<StorageGroup, MakeStorage> {}

/** One conformance case for a key lookup. */
export interface KeyLookupCase extends Case<'keys', MakeKeyLookup> {}

/** The description of a case. */
export type CaseHead = Pick<StorageCase, 'port' | 'name'>

/** Creates a case that runs on a new storage. Its ids are numbers, which stand for the ids of the storage. */
export function defineCase (
  group: StorageGroup,
  head: CaseHead,
  body: (harness: StorageHarness) => Promise<void>
): StorageCase {
  return defineIdCase(group, head, (harness) => body(numberIds(harness)))
}

/** Creates a case that uses the ids of the storage itself. */
export function defineIdCase (
  group: StorageGroup,
  head: CaseHead,
  body: (harness: AnyStorageHarness) => Promise<void>
): StorageCase {
  return {
    group,
    ...head,
    run: (make) => runOn(make, (harness) => body(namedTenants(harness)))
  }
}

/** Runs `body` on a new harness and then closes it. */
export async function runOn<Harness extends { close? (): Promise<void> | void }> (
  make: () => Promise<Harness> | Harness,
  body: (harness: Harness) => Promise<void>
): Promise<void> {
  const harness = await make()
  try {
    await body(harness)
  } finally {
    await harness.close?.()
  }
}
