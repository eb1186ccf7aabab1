import type {
  AnyCandidateSource, CandidateSource, JobFilter, JobRow, JobSortField, JobSource, RowSource
} from './lists.js'
import type { ChangeSource, EventFeed } from './changes.js'
import type { DeliveryStore } from './deliveries.js'
import type { Id, IdKinds } from './ids.js'
import type { WebhookStore } from './webhooks.js'

/**
 * All data that emitting and delivering use. `webhooks` and `deliveries` share data, so they must come from the
 * same storage. Several apps and workers may share one storage, which outlives each of them.
 */
export interface EventStorage {
  /** The webhooks of all tenants. */
  webhooks: WebhookStore
  /** Events and their deliveries, which are the queue. */
  deliveries: DeliveryStore
  /**
   * The changes of candidates and jobs. `sync` exists for sources that have `listAfter` and `findMany`, if this is
   * given.
   */
  changes?: ChangeSource
  /** Reads events in order. Without it, `GET …/events` does not exist. */
  feed?: EventFeed
  /** Holds notifications of copies. Without it, the option `delivery.environment` cannot be used. */
  holds?: HoldStore
  /** Keeps answers. Without it, requests with the header `Idempotency-Key` get 400. */
  idempotency?: IdempotencyStore

  /**
   * Checks whether the storage can be used. Called once for every app and engine that starts on it. `published` is
   * `null` if the process serves no lists. Rejects with a `RecruitingApiError` (`storage_not_ready`) that says what to
   * do. Returns warnings, as sentences for the log.
   */
  verify? (published: PublishedFields | null): Promise<string[]>
}

/**
 * All data that the API uses. The parts may come from different places. The type arguments are `string` for the ids
 * that the option `ids` makes text.
 */
export interface RecruitingStorage<
  CandidateId extends Id = number,
  JobId extends Id = number,
  SourceId extends Id = number,
  RecruiterId extends Id = number
> extends EventStorage {
  /** Usually implemented by the vendor. */
  candidates: CandidateSource<CandidateId, SourceId, RecruiterId>
  /** Usually implemented by the vendor. */
  jobs: JobSource<JobId>
}

/** Any `RecruitingStorage`. Without its option `ids`, the kinds of its ids are unknown, so they are `never`. */
export interface AnyRecruitingStorage extends EventStorage {
  candidates: AnyCandidateSource
  jobs: RowSource<JobRow<Id>, JobFilter, JobSortField, never>
}

/** The fields that the API reads from `candidates` and `jobs`, and the kinds of ids. */
export interface PublishedFields {
  /** Names as on the wire, such as `full_name`. */
  candidates: readonly string[]
  /** Names as on the wire, such as `status`. */
  jobs: readonly string[]
  /** The option `ids`. */
  ids: IdKinds
  /**
   * Whether the option `tenantId` is set, so that tenants have ids other than their slugs.
   * @default false
   */
  hasTenantIds?: boolean
}

/** Why nothing is sent from a storage. */
export interface Hold {
  /**
   * - `copy`: the data was restored from a dump, or copied from another database
   * - `environment`: the storage belongs to another environment than the process
   */
  reason: 'copy' | 'environment'
  /** When the hold was first noticed. */
  since: string
}

/** The result of `adopt`. */
export interface Adoption {
  /** Why nothing was sent before. */
  reason: Hold['reason']
  /** Number of deliveries that were pending. */
  pending: number
}

/**
 * Holds all notifications of a storage that is a copy, or that belongs to another environment, so that tests on
 * production's data reach no receiver. `environment` is the option `delivery.environment` of the process, or `null`.
 */
export interface HoldStore {
  /**
   * Returns why this process must not send notifications; `null` if it may. A process without an environment may send
   * in any environment.
   */
  find (environment: string | null): Promise<Hold | null>
  /**
   * Ends the hold of this process: the storage is no longer a copy, and belongs to `environment`; if that is `null`, to
   * the first environment that a later claim passes. With `discard`, pending deliveries become `skipped` and notices
   * are dropped; every webhook becomes `inactive` unless `keepWebhooks`, and every key that the storage keeps is
   * revoked unless `keepKeys`. All or nothing. Returns `null` and changes nothing if there is no hold.
   */
  adopt (options: AdoptOptions): Promise<Adoption | null>
}

/** Options of `adopt`. */
export interface AdoptOptions {
  /** That of the process. */
  environment: string | null
  pending: 'deliver' | 'discard'
  /**
   * Only with `discard`.
   * @default false
   */
  keepWebhooks?: boolean
  /**
   * Only with `discard`.
   * @default false
   */
  keepKeys?: boolean
}

/** A request with the header `Idempotency-Key`. */
export interface IdempotentRequest {
  /** SHA-256 of the API key's id and the header, as 64 hexadecimal digits. */
  digest: string
  /** SHA-256 of the method, the URL and the body, as 64 hexadecimal digits. */
  fingerprint: string
  /** Names this attempt of the request; no other attempt has the same. */
  claim: string
  /** How long the attempt may take. Afterwards another one may claim the digest. */
  leaseMs: number
  /** How long the digest and its answer are kept. */
  keepMs: number
}

/** The stored state of a request. */
export interface IdempotencyState {
  /** Whether the digest is claimed for this attempt now. */
  isClaimed: boolean
  /** That of the request which claimed the digest last. */
  fingerprint: string
  /** What `save` stored; `null` while the request is running. */
  answer: string | null
}

/** Keeps the answers of requests with the header `Idempotency-Key`, so that they can be repeated. */
export interface IdempotencyStore {
  /**
   * Claims the digest for this attempt if the tenant has none like it, if it was kept long enough, or if its lease
   * ended without an answer. Of several concurrent calls, one claims it. Otherwise changes nothing.
   */
  claim (tenant: string, request: IdempotentRequest): Promise<IdempotencyState>
  /**
   * Stores the answer of an attempt; `null` forgets the digest, so that the request can be sent again. Does nothing if
   * another attempt has claimed the digest, or if the tenant was renamed or removed.
   */
  save (tenant: string, attempt: Pick<IdempotentRequest, 'digest' | 'claim'>, answer: string | null): Promise<void>
}
