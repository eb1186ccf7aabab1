import type { DeliveryStore } from './delivery-store.js'
import type { CandidateSource, JobSource } from './list-source.js'
import type { WebhookStore } from './webhook-store.js'

/**
 * All that the API reads and writes. The four parts may come from different places, but `webhooks` and `deliveries`
 * work on the same data and come as a pair. Several apps and workers may share one storage, and it outlives each.
 */
export interface RecruitingStorage {
  candidates: CandidateSource
  jobs: JobSource
  webhooks: WebhookStore
  deliveries: DeliveryStore

  /**
   * Looks whether the storage can be used: once for every app and engine that starts on it. `published` is `null` where
   * lists are not served. Rejects with a `RecruitingApiError` (`storage_not_ready`) that says what to do. Returns what
   * works but should be mended, as sentences for the log.
   */
  verify? (published: PublishedFields | null): Promise<string[]>
}

/** The fields that `candidates` and `jobs` are asked for. */
export interface PublishedFields {
  candidates: readonly string[]
  jobs: readonly string[]
}
