import type { DeliveryStore } from './delivery-store.js'
import type { CandidateSource, JobSource } from './list-source.js'
import type { WebhookStore } from './webhook-store.js'

/**
 * All that the API reads and writes. The four parts may come from different places, but `webhooks` and `deliveries`
 * work on the same data and come as a pair.
 */
export interface RecruitingStorage {
  candidates: CandidateSource
  jobs: JobSource
  webhooks: WebhookStore
  deliveries: DeliveryStore
}
