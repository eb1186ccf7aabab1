/** An id of a candidate, job, source or recruiter. Ids of webhooks and deliveries are always integers. */
export type Id = number | string

/** `integer`: 1 to 2^53-1. `string`: 1 to 64 visible ASCII characters without `/`, such as a uuid. */
export type IdKind = 'integer' | 'string'

/** The kind of each id that comes from the host; the option `ids`. */
export interface IdKinds {
  /** `id` of a candidate. */
  candidate: IdKind
  /** `id` of a job. */
  job: IdKind
  /** `source_id` of a candidate. */
  source: IdKind
  /** The recruiter of a candidate, in `filter[recruiter_id]`. */
  recruiter: IdKind
}
