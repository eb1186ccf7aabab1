import type {
  AnyRecruitingStorage, FieldType, Id, IdKinds, KeyLookup, RecruitingStorage
} from '../../../core/ports/index.js'

/** A candidate to save in the storage under test. */
export interface SavedCandidate<
  CandidateId extends Id = number,
  SourceId extends Id = number,
  RecruiterId extends Id = number
> {
  /** A positive integer, or text with the option `ids`. Replaces the tenant's existing row with this id. */
  id: CandidateId
  full_name: string
  headline: string | null
  source_id: SourceId | null
  recruiter_id: RecruiterId | null
  /** RFC 3339 in UTC with milliseconds, like all dates here. */
  created_at: string
  updated_at: string
}

/** A job to save in the storage under test. */
export interface SavedJob<JobId extends Id = number> {
  /** A positive integer, or text with the option `ids`. Replaces the tenant's existing row with this id. */
  id: JobId
  name: string
  status: string
  created_at: string
  updated_at: string
}

/** A host's open transaction. */
export interface OpenTransaction {
  /** The value that a host passes to `emit` and `erase` as `transaction`. */
  transaction: unknown
  /** Commits the transaction. */
  commit (): Promise<void>
  /** Rolls the transaction back. */
  rollback (): Promise<void>
}

/** Optional settings and functions for the cases. */
interface HarnessOptions {
  /** Which ids of the storage are text, as in the option `ids` of the plugin. @default all are 'integer' */
  ids?: Partial<IdKinds>
  /** Whether the storage can only store uuids as text ids. @default false */
  hasUuids?: boolean
  /**
   * Returns the id of a tenant of `testTenants`, always the same, if the storage needs ids that are not slugs, such as
   * uuids.
   * @default the name is the id
   */
  tenantId? (name: string): string
  /**
   * Your own fields that `candidateFilters` and `jobFilters` name, one of each type, such as `{ candidates: { text:
   * 'email' } }`. Saved rows then have these fields, none of them null.
   * @default none: the cases of own filters pass
   */
  ownFields?: { [List in 'candidates' | 'jobs']?: { [Type in FieldType]?: string } }
  /** Advances the clock of the storage. @default the cases wait in real time, at most a second each */
  advance? (ms: number): Promise<void> | void
  /** Begins a transaction that the storage can use. @default the storage must reject transactions */
  begin? (): Promise<OpenTransaction>
  /** Called after the case, passed or failed. */
  close? (): Promise<void> | void
}

/** A storage under test, with the functions that the cases need. The type arguments are `string` for text ids. */
export interface StorageHarness<
  CandidateId extends Id = number,
  JobId extends Id = number,
  SourceId extends Id = number,
  RecruiterId extends Id = number
> extends HarnessOptions {
  /** An empty storage. Take parts that you do not implement from `memoryStorage()`. */
  storage: RecruitingStorage<CandidateId, JobId, SourceId, RecruiterId>
  /** Saves rows where `storage.candidates` finds them. Replaces existing rows with the same id. */
  saveCandidates(
    tenantSlug: string, rows: ReadonlyArray<SavedCandidate<CandidateId, SourceId, RecruiterId>>
  ): Promise<void> | void
  /** Saves rows where `storage.jobs` finds them. Replaces existing rows with the same id. */
  saveJobs(tenantSlug: string, rows: ReadonlyArray<SavedJob<JobId>>): Promise<void> | void
}

/** Any `StorageHarness`. */
export interface AnyStorageHarness extends HarnessOptions {
  storage: AnyRecruitingStorage
  saveCandidates (tenantSlug: string, rows: ReadonlyArray<SavedCandidate<never, never, never>>): Promise<void> | void
  saveJobs (tenantSlug: string, rows: ReadonlyArray<SavedJob<never>>): Promise<void> | void
}

/** Creates an empty storage. Called once per case. The cases use the tenants of `testTenants`. */
export type MakeStorage = () => Promise<AnyStorageHarness> | AnyStorageHarness

/** An API key to save in the lookup under test. */
export interface SavedKey {
  /** A bearer token of 1 to 512 characters. The harness can replace it, see `KeyHarness.save`. */
  key: string
  /** The only tenant that the key is valid for. */
  tenantSlug: string
  /** For example `candidates:read`. */
  scopes: readonly string[]
  /** `expired` and `revoked` keys were valid before. */
  state: 'valid' | 'expired' | 'revoked'
}

/** A key lookup under test. */
export interface KeyHarness {
  /** Called with keys from `save` and with unknown keys. */
  lookup: KeyLookup
  /**
   * Saves a key and returns the text that a client sends, which may differ from `key` (for example a JWT). Returns
   * `null` if the lookup does not support the state, for example if its keys never expire.
   */
  save (key: SavedKey): Promise<string | null> | string | null
  /** Called after the case, passed or failed. */
  close? (): Promise<void> | void
}

/** Creates a key lookup without keys. Called once per case. */
export type MakeKeyLookup = () => Promise<KeyHarness> | KeyHarness

/** The tenants that the cases write to. A storage that checks tenants must accept them. */
export const testTenants: readonly string[] = Object.freeze(['acme', 'globex', 'initech'])
