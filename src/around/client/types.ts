import type { Static } from '@sinclair/typebox'
import type * as deliveries from '../../core/api/deliveries.js'
import type * as events from '../../core/api/events.js'
import type * as keys from '../../core/api/keys.js'
import type * as rows from '../../core/api/rows.js'
import type * as subscriptions from '../../core/api/subscriptions.js'
import type * as webhooks from '../../core/api/webhooks.js'
import type { CandidateFilter, CandidateSortField, Id, JobFilter, JobSortField } from '../../core/ports/index.js'
import type { Page, Sort } from '../../core/shared/paging.js'
import type { InputOf } from '../../core/shared/typebox.js'

export type { Id, Page }

/** The fields and ids of a vendor's API that differ from the defaults. */
export interface ApiTypes {
  /** The candidate fields that replace or extend the defaults, such as `{ id: string, email: string | null }`. */
  candidate?: object
  /** The same for a job. */
  job?: object
  /** The vendor's own filters of candidates, such as `{ 'filter[email]': string }`. */
  candidateFilters?: object
  /** The same for jobs. */
  jobFilters?: object
  /** The data of each type of event, such as `{ 'application.created': { id: string } }`. */
  events?: object
}

type Extended<Row extends object, Own> = Own extends object ? Omit<Row, keyof Own> & Own : Row

/** A candidate as the API returns it. */
export type Candidate<Types extends ApiTypes = ApiTypes> = Extended<Static<typeof rows.Candidate>, Types['candidate']>

/** A job as the API returns it. */
export type Job<Types extends ApiTypes = ApiTypes> = Extended<Static<typeof rows.Job>, Types['job']>

/** A page of the event feed, or of a sync, with the current state of its items. */
export interface SyncPage<Item> {
  data: Item[]
  meta: {
    /** Send it as `token` to read the next page. Store the last one to continue later. */
    next_token: string
    /** Whether more items can be read now. */
    has_more: boolean
    /**
     * Only on the last page of a sync that began without a token: where the feed continues after your copy. Return it
     * from `load` of `client.events`.
     */
    events_token?: string
  }
}

/** An item that was created, changed or deleted. The field with the name of its kind is `null` if it was deleted. */
export type Change<Kind extends string, Item extends { id: unknown }> = {
  id: Item['id']
  /** Whether it was deleted: delete your copy. */
  deleted: boolean
} & { [Name in Kind]: Item | null }

export type CandidateChange<Types extends ApiTypes = ApiTypes> = Change<'candidate', Candidate<Types>>

export type JobChange<Types extends ApiTypes = ApiTypes> = Change<'job', Job<Types>>

interface FeedEvent<Type, Data> extends Omit<Static<typeof events.Event>, 'type' | 'data'> {
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

/** The query of a list. A list begins with `page` and ends with the last one. */
export interface PageQuery<Field extends string = string> {
  /** From 1; pages beyond the last one are empty. @default 1 */
  page?: number
  /** 1 to 200. @default 25 */
  per_page?: number
  /** Up to 3 fields, separated by commas, each with a leading `-` if descending. */
  sort?: Sort<Field>
}

type OwnFilters<Own> = Own extends object ? Partial<Own> : unknown

export type CandidateQuery<Types extends ApiTypes = ApiTypes> =
  PageQuery<CandidateSortField> & rows.FilterParameters<CandidateFilter<Id>> & OwnFilters<Types['candidateFilters']>

export type JobQuery<Types extends ApiTypes = ApiTypes> =
  PageQuery<JobSortField> & rows.FilterParameters<JobFilter> & OwnFilters<Types['jobFilters']>

export interface WebhookQuery extends InputOf<typeof webhooks.WebhookQuery> {}

export interface DeliveryQuery extends InputOf<typeof deliveries.DeliveryQuery> {}

/** An API key, without the key itself. */
export type ApiKey = Static<typeof keys.ApiKey>

/** Your own API key, without the key itself. */
export type OwnApiKey = Static<typeof keys.OwnApiKey>

export interface ApiKeyQuery extends PageQuery<'id' | 'created_at'> {}

/** The fields of a new API key. Its scopes can also be those of the vendor's own operations. */
export interface NewApiKey extends InputOf<ReturnType<typeof keys.createApiKeyBody>> {}

/** An API key with the key itself, which only creation and rotation return. */
export type CreatedApiKey = Static<typeof keys.CreatedApiKey>

export type RotatedApiKey = Static<typeof keys.RotatedApiKey>

/** A revoked key, with the number of its children and webhooks. */
export type RevokedApiKey = Static<typeof keys.RevokedApiKey>

/** Options of revoking a key. By default, only the key is revoked. */
export interface RevokeOptions {
  /** Whether to revoke its children too: keys that it created, keys that replace them, and their children. */
  children?: boolean
  /** `disable` makes its webhooks inactive; with `children`, those of its children too. */
  webhooks?: 'keep' | 'disable'
}

export type Webhook = Static<typeof webhooks.Webhook>

/** Only events whose data has one of these values at each path, such as `{ 'data.job_id': [1] }`. */
export type EventFilters = NonNullable<Webhook['filters']>

/** The fields of a new webhook. */
export type NewWebhook = InputOf<typeof webhooks.CreateWebhook>

/** A webhook with its secret, which only creation and rotation return. */
export type WebhookWithSecret = Static<typeof webhooks.CreatedWebhook>

export type RotatedWebhook = Static<typeof webhooks.RotatedWebhook>

/** A webhook with its health. */
export type WebhookWithHealth = Static<typeof webhooks.WebhookWithHealth>

/** How many recent events a webhook would have received. */
export type WebhookPreview = Static<typeof webhooks.WebhookPreview>

/** The result of a test notification. */
export type TestResult = Static<typeof webhooks.TestResult>

export type Delivery = Static<typeof deliveries.Delivery>

/** Why a webhook got an event or not. */
export type Explanation = Static<typeof deliveries.Explanation>

export type DeliveryWithAttempts = Static<typeof deliveries.DeliveryWithAttempts>

/** The events to send again; by default the undelivered events of the last 24 hours. */
export type ReplaySelection = InputOf<typeof webhooks.Replay>

export type ReplayResult = Static<typeof webhooks.ReplayResult>

/** A type of event that webhooks can subscribe to. */
export type EventType = Static<typeof events.EventType>

/** An agent's subscription to events, with the host of its callback. */
export type Subscription = Static<typeof subscriptions.Subscription>
