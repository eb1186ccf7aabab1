import type { CandidateSource } from './candidate-source.js'
import type { DeliveryStore } from './delivery-store.js'
import type { JobSource } from './job-source.js'
import type { WebhookStore } from './webhook-store.js'

/**
 * All data that emitting and delivering use. The two parts work on the same data and come as a pair. Several apps and
 * workers may share one storage, which outlives each of them.
 */
export interface EventStorage {
  /** The webhooks of all tenants. */
  webhooks: WebhookStore
  /** Events and their deliveries, which are the queue. */
  deliveries: DeliveryStore

  /**
   * Checks whether the storage can be used. Called once for every app and engine that starts on it. `published` is
   * `null` if the process serves no lists. Rejects with a `RecruitingApiError` (`storage_not_ready`) that says what to
   * do. Returns warnings, as sentences for the log.
   */
  verify? (published: PublishedFields | null): Promise<string[]>
}

/** All data that the API uses. The parts may come from different places. */
export interface RecruitingStorage extends EventStorage {
  /** Usually the vendor's own. */
  candidates: CandidateSource
  /** Usually the vendor's own. */
  jobs: JobSource
}

/** The fields that the API reads from `candidates` and `jobs`. */
export interface PublishedFields {
  /** Names as on the wire, such as `full_name`. */
  candidates: readonly string[]
  /** Names as on the wire, such as `status`. */
  jobs: readonly string[]
}
