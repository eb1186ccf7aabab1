import type {
  CandidateRow,
  CandidateSortField,
  Delivery,
  DeliveryStatus,
  DeliveryWithAttempts,
  EventFilters,
  Id,
  JobRow,
  JobSortField,
  Webhook,
  WebhookHealth,
  WebhookStatus
} from '../ports/index.js'

export type { Delivery, DeliveryWithAttempts, EventFilters, Id, Webhook }

/** The fields and ids of one vendor's API, where they differ from the default. */
export interface ApiTypes {
  /**
   * The fields of a candidate that replace or extend the default ones, such as `{ id: string, email: string | null
   * }`.
   */
  candidate?: object
  /** The same for a job. */
  job?: object
  /** The data of each type of event, such as `{ 'application.created': { id: string } }`. */
  events?: object
}

type Extended<Row extends object, Own> = Own extends object ? Omit<Row, keyof Own> & Own : Row

/** A candidate as the API returns it. */
export type Candidate<Types extends ApiTypes = ApiTypes> = Extended<CandidateRow, Types['candidate']>

/** A job as the API returns it. */
export type Job<Types extends ApiTypes = ApiTypes> = Extended<JobRow, Types['job']>

/** A page of a list. */
export interface Page<Item> {
  data: Item[]
  meta: {
    page: number
    per_page: number
    total: number
    total_pages: number
    /** Present if a log has more items than `total`, which is 10,000 then. */
    total_is_capped?: true
  }
}

/** A page of a sync, with items as they are now, or of the feed of events. */
export interface SyncPage<Item> {
  data: Item[]
  meta: { next_token: string, has_more: boolean }
}

/** A candidate that was created or changed, or is gone: then `candidate` is `null`. */
export interface CandidateChange<Types extends ApiTypes = ApiTypes> {
  id: Candidate<Types>['id']
  deleted: boolean
  candidate: Candidate<Types> | null
}

/** A job that was created or changed, or is gone: then `job` is `null`. */
export interface JobChange<Types extends ApiTypes = ApiTypes> {
  id: Job<Types>['id']
  deleted: boolean
  job: Job<Types> | null
}

interface FeedEvent<Type, Data> {
  /** The same as in its notifications. */
  id: string
  type: Type
  /** When the event happened, in RFC 3339. */
  timestamp: string
  tenant_slug: string
  /** `null` if `erased`. */
  data: Data | null
  /** Whether the data was erased. */
  erased?: true
}

/** An event of the feed. With `ApiTypes.events` it is a union by `type`. */
export type Event<Types extends ApiTypes = ApiTypes> = [Types['events']] extends [object]
  ? { [Type in keyof Types['events'] & string]: FeedEvent<Type, Types['events'][Type]> }[keyof Types['events'] & string]
  : FeedEvent<string, Record<string, unknown>>

type Sort<Field extends string> = Field | `-${Field}` | (string & Record<never, never>)

/** The query of a list. A list begins with `page` and ends with the last one. */
export interface PageQuery<Field extends string = string> {
  /** From 1. @default 1 */
  page?: number
  /** 1 to 200. @default 25 */
  per_page?: number
  /** Up to 3 fields, separated by commas, each with a leading `-` if descending. */
  sort?: Sort<Field>
}

export interface CandidateQuery extends PageQuery<CandidateSortField> {
  'filter[recruiter_id]'?: Id
  /** Part of the name, ignoring case. */
  'filter[q]'?: string
  /** RFC 3339. */
  'filter[updated_after]'?: string
}

export interface JobQuery extends PageQuery<JobSortField> {
  'filter[status]'?: string
  /** Part of the name, ignoring case. */
  'filter[q]'?: string
  /** RFC 3339. */
  'filter[updated_after]'?: string
}

export interface WebhookQuery extends PageQuery<'id' | 'name' | 'created_at' | 'updated_at'> {
  'filter[status]'?: WebhookStatus
}

export interface DeliveryQuery extends PageQuery<'id' | 'created_at'> {
  'filter[status]'?: DeliveryStatus
  'filter[event_type]'?: string
  'filter[event_id]'?: string
}

/** The fields of a new webhook. */
export interface NewWebhook {
  name: string
  target_url: string
  event_types: string[]
  status?: 'active' | 'inactive'
  headers?: Record<string, string> | null
  /** Only events whose data has one of these values at each path, such as `{ 'data.job_id': [1] }`. */
  filters?: EventFilters | null
}

/** A webhook with its secret, which only its creation and rotation return. */
export interface WebhookWithSecret extends Pick<Webhook, 'id' | 'name' | 'status' | 'target_url' | 'event_types'> {
  headers?: Record<string, null> | null
  filters?: EventFilters | null
  secret: string
}

export interface RotatedWebhook extends WebhookWithSecret {
  previous_secret_expires_at: string | null
}

/** A webhook with its health. */
export interface WebhookWithHealth extends Webhook {
  health: WebhookHealth & { held?: true }
  previous_secret_expires_at: string | null
}

/** The result of a test notification. */
export interface TestResult {
  id: string
  event_type: string
  status: 'delivered' | 'failed'
  response_status: number | null
  duration_ms: number
  error: string | null
}

/** The events to send again. By default those of the last 24 hours that were not delivered. */
export interface ReplaySelection {
  since?: string
  until?: string
  event_types?: string[]
  event_ids?: string[]
  include?: 'undelivered' | 'all'
  /** Only counts the events. */
  dry_run?: boolean
}

export interface ReplayResult {
  webhook_id: number
  include: 'undelivered' | 'all'
  since: string | null
  until: string | null
  /** How many deliveries were queued. */
  queued: number
  /** Whether more events match: replay again. */
  truncated: boolean
}

/** A type of event that webhooks can subscribe to. */
export interface EventType {
  name: string
  description: string | null
  /** The JSON Schema of `data`. */
  schema: object
  example: object | null
  deprecated?: { since: string, sunset: string | null, link: string | null }
}

/** The body of a notification. */
export interface WebhookEvent<Data = Record<string, unknown>> {
  /** The same in every attempt and replay. */
  id: string
  type: string
  /** When the event happened, in RFC 3339. */
  timestamp: string
  tenant_slug: string
  /** `null` if `erased`. */
  data: Data | null
  /** Whether it is a test. */
  test?: true
  /** Whether the data was erased. */
  erased?: true
}
