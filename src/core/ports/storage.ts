import type {
  AnyCandidateSource, CandidateSource, JobFilter, JobRow, JobSortField, JobSource, OwnFilter, RowSource
} from './lists.js'
import type { ChangeSource, EventFeed } from './changes.js'
import type { DeliveryStore } from './deliveries.js'
import type { IdempotencyStore } from './idempotency.js'
import type { Id, IdKinds } from './ids.js'
import type { SubscriptionStore } from './subscriptions.js'
import type { WebhookStore } from './webhooks.js'

/** Connections to a database. */
export interface Connections {
  /** Their maximum number, from 1. */
  readonly max: number
}

/**
 * All data for emitting and delivering events. `webhooks` and `deliveries` share data, so they must come from the same
 * storage. Several apps and workers can share one storage, which outlives each of them.
 */
export interface EventStorage {
  /** The webhooks of all tenants. */
  webhooks: WebhookStore
  /** Events and their deliveries, which are the queue. */
  deliveries: DeliveryStore
  /** The changes of candidates, jobs and own lists. `sync` needs it, and a source with `listAfter` and `findMany`. */
  changes?: ChangeSource
  /** Reads events in order. Without it, `GET …/events` does not exist. */
  feed?: EventFeed
  /** Stops notifications from copies. Without it, the option `delivery.environment` cannot be used. */
  holds?: HoldStore
  /** Stores agents' subscriptions; also needs `feed`. Without it, agents can only poll. */
  subscriptions?: SubscriptionStore
  /** Stores the answers to requests with the header `Idempotency-Key`. Without it, these requests get 400. */
  idempotency?: IdempotencyStore
  /**
   * The connections that calls wait for: the same object in all storages that share them. Then requests of one tenant
   * use at most half of them, and take turns with those of other tenants. Without it, all calls start immediately.
   */
  connections?: Connections

  /**
   * Checks whether the storage can be used. Called once for every app and engine that uses it. `published` is `null` if
   * the process serves no lists. Rejects with a `RecruitingApiError` (`storage_not_ready`) whose message describes the
   * fix. Returns warnings, as sentences for the log.
   */
  verify? (published: PublishedFields | null): Promise<string[]>
}

/**
 * All data of the API. The parts can come from different places. The type arguments are `string` for the ids that the
 * option `ids` makes text.
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
  /** The options `candidateFilters` and `jobFilters`. @default none */
  filters?: { candidates: readonly OwnFilter[], jobs: readonly OwnFilter[] }
  /**
   * Whether the option `tenantId` is set, so that tenants have ids other than their slugs.
   * @default false
   */
  hasTenantIds?: boolean
}

/** Why a storage sends nothing. */
export interface Hold {
  /**
   * - `copy`: the data was restored from a dump, or copied from another database
   * - `environment`: the storage belongs to another environment than the process
   */
  reason: 'copy' | 'environment'
  /** When the hold was first detected. */
  since: string
}

/** The result of `adopt`. */
export interface Adoption {
  /** Why the storage was held. */
  reason: Hold['reason']
  /** Number of deliveries that were pending. */
  pending: number
}

/**
 * Stops all notifications from a storage that is a copy or belongs to another environment, so that tests with
 * production data reach no receiver. `environment` is the process's option `delivery.environment`, or `null`.
 */
export interface HoldStore {
  /**
   * Returns why this process must not send notifications; `null` if it can. A process without an environment can send
   * in any environment.
   */
  find (environment: string | null): Promise<Hold | null>
  /**
   * Ends the hold: the storage no longer counts as a copy, and belongs to `environment`; if that is `null`, to the
   * first environment that a later claim passes. With `discard`, pending deliveries become `skipped`, notices are
   * dropped, webhooks become `inactive` unless `keepWebhooks`, and stored keys are revoked unless `keepKeys`. All or
   * nothing. Returns `null` and changes nothing if there is no hold.
   */
  adopt (options: AdoptOptions): Promise<Adoption | null>
}

/** Options of `adopt`. */
export interface AdoptOptions {
  /** The process's option `delivery.environment`, or `null`. */
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
