import type { CandidateFilter, CandidateRow, CandidateSortField, CandidateSource } from './candidate-source.js'
import type { ChangeSource } from './change-source.js'
import type { DeliveryStore } from './delivery-store.js'
import type { EventFeed } from './event-feed.js'
import type { HoldStore } from './hold-store.js'
import type { Id, IdKinds } from './ids.js'
import type { JobFilter, JobRow, JobSortField, JobSource } from './job-source.js'
import type { RowSource } from './list-source.js'
import type { WebhookStore } from './webhook-store.js'

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
  candidates: RowSource<CandidateRow<Id, Id>, CandidateFilter<never>, CandidateSortField, never>
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
