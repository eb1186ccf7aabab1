import type { CandidateSortField, Id, JobSortField } from '../../core/ports/index.js'
import type { components } from './api.js'

type Schemas = components['schemas']

export type { Id }

/** The fields and ids of a vendor's API that differ from the defaults. */
export interface ApiTypes {
  /** The candidate fields that replace or extend the defaults, such as `{ id: string, email: string | null }`. */
  candidate?: object
  /** The same for a job. */
  job?: object
  /** The data of each type of event, such as `{ 'application.created': { id: string } }`. */
  events?: object
}

type Extended<Row extends object, Own> = Own extends object ? Omit<Row, keyof Own> & Own : Row

/** A candidate as the API returns it. */
export type Candidate<Types extends ApiTypes = ApiTypes> = Extended<Schemas['Candidate'], Types['candidate']>

/** A job as the API returns it. */
export type Job<Types extends ApiTypes = ApiTypes> = Extended<Schemas['Job'], Types['job']>

/** A page of a list. */
export interface Page<Item> {
  data: Item[]
  meta: Schemas['LogPageMeta']
}

/** A page of a sync, with the current state of its items, or of the event feed. */
export interface SyncPage<Item> {
  data: Item[]
  meta: Schemas['TokenMeta']
}

/** A candidate that was created, changed or deleted. `candidate` is `null` if it was deleted. */
export interface CandidateChange<Types extends ApiTypes = ApiTypes>
  extends Omit<Schemas['CandidateChange'], 'id' | 'candidate'> {
  id: Candidate<Types>['id']
  candidate: Candidate<Types> | null
}

/** A job that was created, changed or deleted. `job` is `null` if it was deleted. */
export interface JobChange<Types extends ApiTypes = ApiTypes> extends Omit<Schemas['JobChange'], 'id' | 'job'> {
  id: Job<Types>['id']
  job: Job<Types> | null
}

interface FeedEvent<Type, Data> extends Omit<Schemas['Event'], 'type' | 'data'> {
  type: Type
  /** `null` if `erased`. */
  data: Data | null
}

/** An event of the feed. With `ApiTypes.events` it is a union by `type`. */
export type Event<Types extends ApiTypes = ApiTypes> = [Types['events']] extends [object]
  ? { [Type in keyof Types['events'] & string]: FeedEvent<Type, Types['events'][Type]> }[keyof Types['events'] & string]
  : FeedEvent<string, Record<string, unknown>>

/** The body of a notification. */
export interface WebhookEvent<Data = Record<string, unknown>> extends FeedEvent<string, Data> {
  /** Whether it is a test. */
  test?: true
}

/** Keeps the names as editor suggestions. */
type Sort<Field extends string> = Field | `-${Field}` | (string & Record<never, never>)

/** The query of a list. A list begins with `page` and ends with the last one. */
export interface PageQuery<Field extends string = string> extends Omit<Schemas['listEventTypesQuery'], 'sort'> {
  /** Up to 3 fields, separated by commas, each with a leading `-` if descending. */
  sort?: Sort<Field>
}

type Filters<Query> = Omit<Query, keyof PageQuery>

/** The filters of candidates or jobs, whose ids may be text. */
type RowFilters<Query> = {
  [Name in keyof Filters<Query>]: Name extends `filter[${string}_id]` ? Id : Filters<Query>[Name]
}

export interface CandidateQuery extends PageQuery<CandidateSortField>, RowFilters<Schemas['listCandidatesQuery']> {}

export interface JobQuery extends PageQuery<JobSortField>, RowFilters<Schemas['listJobsQuery']> {}

export interface WebhookQuery extends
  PageQuery<'id' | 'name' | 'created_at' | 'updated_at'>, Filters<Schemas['listWebhooksQuery']> {}

export interface DeliveryQuery extends
  PageQuery<'id' | 'created_at'>, Filters<Schemas['listWebhookDeliveriesQuery']> {}

/** An API key, without the key itself. */
export type ApiKey = Schemas['ApiKey']

export interface ApiKeyQuery extends PageQuery<'id' | 'created_at'> {}

/** The fields of a new API key. Its scopes can also be those of the vendor's own operations. */
export interface NewApiKey extends Omit<Schemas['CreateApiKey'], 'scopes' | 'candidate_fields' | 'job_fields'> {
  scopes: string[]
  candidate_fields?: string[] | null
  job_fields?: string[] | null
}

/** An API key with the key itself, which only creation and rotation return. */
export type CreatedApiKey = Schemas['CreatedApiKey']

export type RotatedApiKey = Schemas['RotatedApiKey']

/** A revoked key, with the number of its children and webhooks. */
export type RevokedApiKey = Schemas['RevokedApiKey']

/** Options of revoking a key. By default, only the key is revoked. */
export interface RevokeOptions {
  /** Whether to revoke its children too: keys that it created, keys that replace them, and their children. */
  children?: boolean
  /** `disable` makes its webhooks inactive; with `children`, those of its children too. */
  webhooks?: 'keep' | 'disable'
}

export type Webhook = Schemas['Webhook']

/** Only events whose data has one of these values at each path, such as `{ 'data.job_id': [1] }`. */
export type EventFilters = NonNullable<Webhook['filters']>

/** The fields of a new webhook. */
export type NewWebhook = Schemas['CreateWebhook']

/** A webhook with its secret, which only creation and rotation return. */
export type WebhookWithSecret = Schemas['CreatedWebhook']

export type RotatedWebhook = Schemas['RotatedWebhook']

export interface Rotation {
  /** How long the old secret or key stays valid. @default 86400 */
  grace_period_seconds?: number
}

/** A webhook with its health. */
export type WebhookWithHealth = Schemas['WebhookWithHealth']

/** How many recent events a webhook would have received. */
export type WebhookPreview = Schemas['WebhookPreview']

/** The result of a test notification. */
export type TestResult = Schemas['TestResult']

export type Delivery = Schemas['Delivery']

export type DeliveryWithAttempts = Schemas['DeliveryWithAttempts']

/** The events to send again; by default the undelivered events of the last 24 hours. */
export type ReplaySelection = Schemas['Replay']

export type ReplayResult = Schemas['ReplayResult']

/** A type of event that webhooks can subscribe to. */
export type EventType = Schemas['EventType']
