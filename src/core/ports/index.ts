/**
 * The ports: the interfaces that a host implements. The comment of each method is its specification.
 *
 * - **tenant**: a customer of the vendor. Its id as text is the first argument of every call made for a tenant;
 *   without the option `tenantId` that is its slug.
 * - **webhook**: a URL of a tenant and the event types it subscribes to. Its receiver is the endpoint.
 * - **event**: something that happened in the ATS. `emit` records it once, with the exact bytes to send.
 * - **delivery**: one event for one webhook. A replay creates a new delivery of the same event.
 * - **attempt**: one try to deliver, with one deadline and one result.
 * - **claim**, **lease**, **fence**: a worker claims a due delivery for a limited time, the lease. The fence is a
 *   number that increases with every claim. It lets a storage ignore the result of a worker that lost its lease.
 *
 * Resources use the field names of the wire; arguments are camelCase. Absent values are `null`. Dates are RFC 3339
 * strings in UTC with milliseconds. Durations are numbers, with the unit in their names. A storage adds them to its own
 * clock, so the processes' clocks need not agree. Arguments and results belong to the caller: changing them afterwards
 * does not change stored data.
 */
export type * from './keys.js'
export type * from './ids.js'
export type {
  CandidateFilter, CandidateQuery, CandidateRow, CandidateSortField, CandidateSource, FieldType, FieldUse,
  JobFilter, JobQuery, JobRow, JobSortField, JobSource, ListQuery, ListSource, OwnCondition, OwnFilter, RowFields,
  RowPage, RowQuery, RowSource, SortItem
} from './lists.js'
export type * from './changes.js'
export type * from './event-filters.js'
export type * from './webhooks.js'
export type * from './deliveries.js'
export type * from './subscriptions.js'
export type * from './storage.js'
export type * from './idempotency.js'
