import type { CandidateSource } from './candidate-source.js'
import type { DeliveryStore } from './delivery-store.js'
import type { JobSource } from './job-source.js'
import type { WebhookStore } from './webhook-store.js'

/**
 * All that emitting and delivering read and write. The two parts work on the same data and come as a pair. Several apps
 * and workers may share one storage, and it outlives each.
 */
export interface EventStorage {
  /** The endpoints of every tenant. */
  webhooks: WebhookStore
  /** The events and their deliveries, which are the queue. */
  deliveries: DeliveryStore

  /**
   * Looks whether the storage can be used: once for every app and engine that starts on it. `published` is `null` where
   * lists are not served. Rejects with a `RecruitingApiError` (`storage_not_ready`) that says what to do. Returns what
   * works but should be mended, as sentences for the log.
   */
  verify? (published: PublishedFields | null): Promise<string[]>
}

/** All that the API reads and writes. The parts may come from different places. */
export interface RecruitingStorage extends EventStorage {
  /** Usually the vendor's own. */
  candidates: CandidateSource
  /** Usually the vendor's own. */
  jobs: JobSource
}

/** The fields that `candidates` and `jobs` are asked for. */
export interface PublishedFields {
  /** Names as on the wire, such as `full_name`. */
  candidates: readonly string[]
  /** Names as on the wire, such as `status`. */
  jobs: readonly string[]
}
