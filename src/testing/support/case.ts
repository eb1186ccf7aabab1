import type { MakeKeyLookup, MakeStorage, StorageHarness } from './harness.js'

/**
 * - `lists`: all that candidates and jobs must do
 * - `webhooks`: endpoints and their secrets
 * - `deliveries`: the queue and its log
 * - `tenancy`: another tenant's ids, wherever an id goes
 * - `races`: several callers at once
 */
export type StorageGroup = 'lists' | 'webhooks' | 'deliveries' | 'tenancy' | 'races'

interface Case<Group, Make> {
  group: Group
  /** What is true of a storage that passes. No two cases have the same. */
  name: string
  /** The method under test, such as `deliveries.claimDue`. */
  port: string
  /** The sentence of the port's comment that the case proves; several are joined by ` … `. */
  says: string
  /** Resolves if the sentence holds. Rejects, as a rule with an `AssertionError`, if it does not. */
  run (make: Make): Promise<void>
}

/** One thing that a storage must do. */
export interface StorageCase extends Case<StorageGroup, MakeStorage> {}

/** One thing that a key lookup must do. */
export interface KeyLookupCase extends Case<'keys', MakeKeyLookup> {}

/** What a case says of itself. */
export type CaseHead = Pick<StorageCase, 'port' | 'says' | 'name'>

/** Makes a case that runs on a storage of its own. */
export function defineCase (
  group: StorageGroup,
  head: CaseHead,
  body: (harness: StorageHarness) => Promise<void>
): StorageCase {
  return {
    group,
    ...head,
    run: (make) => runOn(make, body)
  }
}

/** Runs a body on a harness of its own, which is closed afterwards. */
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
