import type { KeyLookup, RecruitingStorage } from '../../ports/index.js'

/** A candidate for the storage under test to hold. */
export interface SavedCandidate {
  /** A positive integer; the row of an id that the tenant has already is replaced. */
  id: number
  full_name: string
  headline: string | null
  source_id: number | null
  recruiter_id: number | null
  /** RFC 3339 in UTC with milliseconds, as all dates here. */
  created_at: string
  updated_at: string
}

/** A job for the storage under test to hold. */
export interface SavedJob {
  /** A positive integer; the row of an id that the tenant has already is replaced. */
  id: number
  name: string
  status: string
  created_at: string
  updated_at: string
}

/** The host's own transaction, begun for one case. */
export interface OpenTransaction {
  /** What a host passes to `emit` and `erase` as `transaction`. */
  transaction: unknown
  /** Keeps what was written with it, and ends it. */
  commit (): Promise<void>
  /** Undoes what was written with it, and ends it. */
  rollback (): Promise<void>
}

/** A storage to try, and what the cases need besides its ports. */
export interface StorageHarness {
  /** Empty. Parts that the vendor does not write come from `memoryStorage()`. */
  storage: RecruitingStorage
  /** Puts rows where `storage.candidates` finds them. The row of an id that is there already is replaced. */
  saveCandidates (tenantSlug: string, rows: readonly SavedCandidate[]): Promise<void> | void
  /** Puts rows where `storage.jobs` finds them. The row of an id that is there already is replaced. */
  saveJobs (tenantSlug: string, rows: readonly SavedJob[]): Promise<void> | void
  /** Moves the clock of the storage on. @default the cases wait as long, a second at most */
  advance? (ms: number): Promise<void> | void
  /** Begins a transaction that the storage takes part in. @default the storage is one that refuses transactions */
  begin? (): Promise<OpenTransaction>
  /** Called once the case has ended, well or not. */
  close? (): Promise<void> | void
}

/** Makes a fresh, empty storage. Called once for every case; the cases use the tenants of `testTenants`. */
export type MakeStorage = () => Promise<StorageHarness> | StorageHarness

/** An API key for the lookup under test to know. */
export interface SavedKey {
  /** 1 to 512 characters of a bearer token; the harness may hand out another, see `KeyHarness.save`. */
  key: string
  /** The one tenant that it is for. */
  tenantSlug: string
  /** Such as `candidates:read`. */
  scopes: readonly string[]
  /** `expired` and `revoked` keys were valid before. */
  state: 'valid' | 'expired' | 'revoked'
}

/** A key lookup to try. */
export interface KeyHarness {
  /** Asked about the keys that `save` made, and others. */
  lookup: KeyLookup
  /**
   * Makes a key known; returns the text to present, for lookups that make their keys themselves (such as a JWT).
   * `null` if the lookup has no such state: a lookup whose keys never expire has no expired ones.
   */
  save (key: SavedKey): Promise<string | null> | string | null
  /** Called once the case has ended, well or not. */
  close? (): Promise<void> | void
}

/** Makes a key lookup that knows no key. Called once for every case. */
export type MakeKeyLookup = () => Promise<KeyHarness> | KeyHarness

/** The tenants that the cases write to. A storage that checks its tenants has to know them. */
export const testTenants: readonly string[] = Object.freeze(['acme', 'globex'])
