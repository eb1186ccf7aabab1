import type { callOperations, CallsOf } from '../api/calls.js'
import type { EventCatalogue, EventData } from '../api/catalogue.js'
import type { DeliveryQuery } from '../api/deliveries.js'
import type {
  CreateWebhook, DispatchTest, FailingQuery, ImportWebhook, PreviewWebhook, Replay, RotateSecret, UpdateWebhook,
  WebhookQuery
} from '../api/webhooks.js'
import type { subscriptionOperations } from '../api/subscriptions.js'
import type {
  Adoption, AttemptError, ChangeKind, DeliveryStats, FailingWebhook, HealthNotice, HeldBack, Hold, Id, MissedChanges,
  SubjectEvent, SubscriptionStats, TenantDeliveryStats
} from '../ports/index.js'
import type { TenantArgument, TenantReference } from '../shared/tenants.js'
import type { InputOf } from '../shared/typebox.js'

/**
 * The engine's calls, available as `app.recruiting`. A call about a tenant takes `{ tenantSlug }` or `{ tenantId }`,
 * never both (`invalid_input`). With `tenantId`, nothing is looked up. Where the tenant is a separate argument, a
 * string is its slug.
 */
export interface EngineCalls<Events extends EventCatalogue = EventCatalogue> {
  /**
   * Records an event and a delivery for each webhook that subscribes to it. Once it resolves, or once `transaction`
   * commits, the event is delivered at least once. Throws `invalid_event`, `invalid_input`, `unknown_tenant`,
   * `tenant_resting`, `idempotency_conflict` and `closed`, and then records nothing. Also throws the storage's errors:
   * if its response was lost, as with `storage_timeout`, the event may have been recorded. With an `idempotencyKey` you
   * can safely call again: one event is recorded.
   */
  emit<Name extends keyof Events & string>(
    event: EmittedEvent<Events, Name>,
    options?: EmitOptions
  ): Promise<EmitResult>
  /**
   * Resolves when no delivery of any process is due or in flight. With `until`, a `Date` or milliseconds since the
   * epoch, it also waits for deliveries that become due by then, such as retries. Throws `invalid_option`, `closed`,
   * `not_started` before the server is ready, and `held` if deliveries wait for `adopt`.
   */
  drain(options?: { until?: Date | number }): Promise<void>
  /**
   * Records that an item was created, changed or deleted, for `sync`. Pass the `transaction` that writes the row, so
   * that no change is missed. Throws `invalid_input`, `unknown_tenant`, `tenant_resting`, `invalid_event` for
   * an invalid `transaction`, `invalid_option` if the storage records no changes, and the storage's errors.
   */
  changed(change: ChangedResource, options?: EmitOptions): Promise<void>
  /**
   * Deletes ended deliveries and events older than `delivery.retentionDays` and changes older than
   * `changesRetentionDays`, and returns their number. Workers do this every hour. Stops early when the engine closes.
   * Throws `closed`.
   */
  prune(): Promise<number>
  /**
   * Erases a subject, such as `candidate:42`: removes the `data` and the stored responses of its events, and cancels
   * their pending deliveries. A replay sends `data: null` and `erased: true`. With `transaction`, takes effect when it
   * commits. Returns the number of events with this subject. Without `transaction`, more than 200,000 events are erased
   * in several steps; after an error, call it again. Throws `invalid_event`, `invalid_input`, `unknown_tenant`,
   * `tenant_resting`, `busy` and `closed`.
   */
  erase(subject: ErasedSubject, options?: EmitOptions): Promise<number>
  /**
   * Lists a subject's events, oldest first, with the webhooks that each was sent to and when. Use it to answer a person
   * who asks who received their data. Covers the last `delivery.retentionDays`. Does not list keys that read the events
   * in the feed: `onAudit` reports these requests. Reads pages of 100 events while you iterate. Throws
   * `invalid_input`, `unknown_tenant`, `tenant_resting` and `closed` when the iteration begins.
   */
  findSubject(tenant: TenantArgument, subject: string): AsyncIterableIterator<FoundEvent>
  /**
   * Renames a tenant: its webhooks, deliveries, events and keys of `postgresKeyLookup`. All or nothing. With
   * `transaction`, takes effect when it commits. Attempts in flight finish under the old name, and recorded events keep
   * it in their bodies. Returns the number of webhooks. Without the option `tenantId`, portal sessions and sync tokens
   * of both names expire, and the old name is reserved for 61 minutes. With the option, only the name in logs and
   * notices changes. Throws `invalid_input` (also if the tenant `to` exists), `invalid_event` for an invalid
   * `transaction`, `unknown_tenant`, `tenant_resting` and `closed`.
   */
  renameTenant(from: TenantArgument, to: string, options?: EmitOptions): Promise<{ webhooks: number }>
  /**
   * Removes a tenant: its webhooks, notices and keys of `postgresKeyLookup` immediately, then its events with their
   * deliveries, in batches. No further attempts start. Can be repeated after a failure. With `transaction`, removes one
   * batch when it commits; `left` is the number of events that later calls or `prune` remove, or 10,000 if there are
   * more. Without the option `tenantId`, the name is reserved for 61 minutes. Throws `invalid_input`, `invalid_event`
   * for an invalid `transaction`, `unknown_tenant` and `closed`.
   */
  removeTenant(tenant: TenantArgument, options?: EmitOptions): Promise<{ left: number }>
  /**
   * Suspends a tenant: its API requests get 403 with the code `suspended`, and nothing is sent to it, also no tests.
   * Events are recorded, and their deliveries wait until `resumeTenant`, for at most `delivery.retentionDays`. Attempts
   * in flight finish; other processes reject its requests within 5 seconds. Calls from code still work: a replay waits
   * as well, and a test gets the error `suspended`. With `transaction`, takes effect when it commits. Returns when the
   * suspension began, also if it did earlier. Throws `invalid_input`, `invalid_event` for an invalid `transaction`,
   * `unknown_tenant`, `tenant_resting` and `closed`.
   */
  suspendTenant(tenant: TenantArgument, options?: EmitOptions): Promise<Suspension>
  /**
   * Ends a tenant's suspension. With `deliver`, the waiting deliveries are sent in their usual order. With `skip`, they
   * become `skipped`: a replay can send them later. Failures of its active webhooks are cleared. Returns when the
   * suspension began; `null` if the tenant was not suspended. Otherwise like `suspendTenant`.
   */
  resumeTenant(tenant: TenantArgument, options: ResumeCall): Promise<Suspension | null>
  /**
   * Returns metrics. `attempts`, `durationMs`, `inFlight` and `inFlightLimit` are for this process, the others for all
   * processes.
   */
  stats(): Promise<RecruitingStats>
  /**
   * Returns a tenant's metrics from all processes: pending deliveries, failing webhooks and the results of the last
   * hour. Cheap enough for each view of a page, because counting stops at 10,000. Throws `invalid_input`,
   * `unknown_tenant`, `tenant_resting` and `closed`.
   */
  stats(of: TenantReference): Promise<TenantDeliveryStats>
  /**
   * Releases a hold, see `stats().held`. The storage then belongs to this process's `delivery.environment`. With
   * `deliver`, pending deliveries are sent. With `discard`, they become `skipped`, every webhook becomes `inactive`
   * unless `keepWebhooks`, and every key of `postgresKeyLookup` is revoked unless `keepKeys`, so that a copy reaches no
   * one. Returns why nothing was sent and the number of pending deliveries. If nothing is held, returns `null` and
   * changes nothing. Throws `invalid_option` and `closed`.
   */
  adopt(options: AdoptCall): Promise<Adoption | null>
  /**
   * Seals every webhook secret with the first of the `secretKeys`, or with their function `seal`. Returns the number of
   * changed secrets. Call it when every process has the same first key or functions. Afterwards you can remove the
   * other keys.
   */
  resealSecrets(): Promise<number>
  /** Manages webhooks from code, with the rules and the results of the API. */
  webhooks: RecruitingWebhooks
  /**
   * Returns the audited calls for an actor, such as the id of a support engineer: 1 to 128 characters without control
   * characters. Throws `invalid_input`.
   */
  as(actor: string): ActorCalls
  /** Agents' subscriptions to events. Without `storage.subscriptions`, calls throw `invalid_option`. */
  subscriptions: RecruitingSubscriptions
  /** Adds a listener for events of the engine. */
  on<Name extends keyof RecruitingEvents>(name: Name, listener: (...args: RecruitingEvents[Name]) => void): void
  /** Removes a listener. */
  off<Name extends keyof RecruitingEvents>(name: Name, listener: (...args: RecruitingEvents[Name]) => void): void
}

/** The audited calls: `onAudit` gets an entry for each. */
export type ActorCalls = Pick<
  EngineCalls,
  'erase' | 'findSubject' | 'renameTenant' | 'removeTenant' | 'suspendTenant' | 'resumeTenant' | 'adopt' | 'prune' |
  'resealSecrets' | 'webhooks' | 'subscriptions'
>

/** Selects agents' subscriptions of a tenant: one, or all of a principal. */
export type EndedSubscriptions = TenantReference & (
  /** The id of an API key, or what your key lookup returned for an access token. */
  | { principal: string, id?: never }
  | { id: string, principal?: never }
)

/** The subscriptions that agents created over MCP. */
export interface RecruitingSubscriptions extends CallsOf<Pick<typeof subscriptionOperations, 'list'>> {
  /**
   * Ends subscriptions immediately, for example when you revoke the access of an OAuth client, and notifies their
   * callbacks. Returns their number. Throws `invalid_input`, `unknown_tenant`, `tenant_resting` and `closed`.
   */
  end (ended: EndedSubscriptions): Promise<number>
}

/** The suspension of a tenant. */
export interface Suspension {
  /** When it began, as RFC 3339. */
  since: string
}

/** Options of `resumeTenant`. */
export interface ResumeCall extends EmitOptions {
  /** What happens to the deliveries that wait. */
  pending: 'deliver' | 'skip'
}

/** A candidate, job or item of an own list that changed. */
export type ChangedResource = TenantReference & ChangedResourceFields

interface ChangedResourceFields {
  /** `candidate`, `job`, or the kind of an own list, as in its option `kind`. */
  kind: ChangeKind
  /** Its id. Those of candidates and jobs are of the kind set in the option `ids`. */
  id: Id
  /**
   * Whether it was deleted. A hint only: `sync` checks whether it still exists.
   * @default false
   */
  deleted?: boolean
}

/** Options of `adopt`. */
export type AdoptCall = { pending: 'deliver' } | { pending: 'discard', keepWebhooks?: boolean, keepKeys?: boolean }

/** Attempts of this process since it started. */
export interface AttemptCounts {
  /** Attempts of this process since it started, by result. `postponed` ones, during an outage, are not recorded. */
  attempts: Record<'delivered' | 'postponed' | AttemptError, number>
  /** Their durations: a cumulative histogram, sum and count. */
  durationMs: {
    /** The number of attempts up to each bound in milliseconds. */
    buckets: Array<{ upTo: number, count: number }>
    sum: number
    count: number
  }
}

/** The result of `stats`: the queue of all processes, and the attempts of this one since it started. */
export interface RecruitingStats extends DeliveryStats, AttemptCounts {
  /**
   * How far syncs are behind because a transaction that recorded a change is open, and what triggers of `watch` failed
   * to record; `null` if the storage records no changes.
   */
  changes: HeldBack & { missed: MissedChanges[] } | null
  /**
   * How far readers of `GET .../events` are behind because a transaction that emitted is open; `null` if the storage
   * has no feed.
   */
  feed: HeldBack | null
  /** Agents' subscriptions; `null` if the storage has none. */
  subscriptions: SubscriptionStats | null
  /** Attempts of this process in flight. */
  inFlight: number
  /** Attempts of this process that may be in flight, `delivery.concurrency`; 0 if it does not deliver. */
  inFlightLimit: number
  /**
   * Why this process sends nothing, because the database is a copy or belongs to another environment; `null` if it
   * sends.
   */
  held: Hold | null
}

/** An event in the ATS. */
export type EmittedEvent<Events extends EventCatalogue, Name extends keyof Events = keyof Events> =
  TenantReference & EmittedEventFields<Events, Name>

interface EmittedEventFields<Events extends EventCatalogue, Name extends keyof Events> {
  /** A name from the catalogue, such as `application.created`. */
  type: Name
  /** Sent unchanged as JSON. It must match the schema of its type. */
  data: EventData<Events, Name>
  /**
   * Names of the fields of `data` that changed: at most 100, of the schema's properties if it does not allow others.
   * Webhooks can select events by them. Sent as `changed`.
   * @default not sent
   */
  changed?: readonly string[]
  /**
   * When the event happened, as a `Date` or an RFC 3339 date-time.
   * @default now
   */
  occurredAt?: Date | string
  /**
   * The subject of the event, such as `candidate:42`, for `erase`: 1 to 255 characters without control characters. Not
   * sent.
   */
  subject?: string
  /**
   * The subjects of an event about several people or things: at most 100. `erase` and `findSubject` find the event by
   * each of them and by `subject`. Not sent.
   */
  subjects?: readonly string[]
  /**
   * Makes a repeated `emit` a no-op: 1 to 255 characters without control characters. Unique within the tenant. Not
   * sent.
   */
  idempotencyKey?: string
}

/** An event about a subject, and the webhooks it was sent to. */
export type FoundEvent = Omit<SubjectEvent, 'position'>

/** The subject to erase. */
export type ErasedSubject = TenantReference & ErasedSubjectFields

interface ErasedSubjectFields {
  /** A subject of the emitted events, 1 to 255 characters. */
  subject: string
}

/** Options of `emit` and `erase`. */
export interface EmitOptions {
  /**
   * Pass `transaction` to emit or erase atomically with your own rows: a client of `pg` after `begin`, or the
   * transaction of another library converted by `fromPrisma`, `fromKysely` and so on of
   * `fastify-recruiting-api/postgres`. Nothing is sent or erased unless it commits. Throws `invalid_event` for a
   * pool, for a client outside a transaction, and if the storage has no transactions.
   * @default the storage's own transaction, committed immediately
   */
  transaction?: unknown
}

/** The result of `emit`. */
export interface EmitResult {
  /** The id of the event, which receivers see as `webhook-id`. */
  id: string
  /** Number of active webhooks that receive the event. */
  deliveries: number
}

/** The events of `app.recruiting.on`. */
export interface RecruitingEvents {
  /** A webhook has been failing for half the time after which it is disabled. Warn its tenant. */
  webhookFailing: [notice: HealthNotice]
  /** The service disabled a webhook. Inform its tenant. */
  webhookDisabled: [notice: HealthNotice]
  /** This process cannot send, or can again. Alert yourself: no tenant can fix it. */
  outage: [outage: Outage]
}

/** A fault of a process or its network that keeps it from sending to any endpoint. Its attempts do not count. */
export interface Outage {
  /**
   * `proxy`: `delivery.proxy` is down or rejects its credentials. `name_server`: no name server works. `descriptors`:
   * the process may open no more sockets. `network`: there is no route, or `delivery.localAddress` does not exist.
   */
  cause: 'proxy' | 'name_server' | 'descriptors' | 'network'
  /** The error of the first attempt. */
  reason: string
  startedAt: string
  /** `null` when it begins. */
  endedAt: string | null
  /** Number of attempts so far that could not be made. */
  attempts: number
}

/** The parameters of a list of webhooks: `page`, `per_page`, `sort`, `filter[status]`. */
export type ListWebhooksQuery = InputOf<typeof WebhookQuery>
/**
 * The parameters of a delivery log: `page`, `per_page`, `sort`, `filter[status]`, `filter[event_type]`,
 * `filter[event_id]`.
 */
export type ListDeliveriesQuery = InputOf<typeof DeliveryQuery>
/** A webhook to create. */
export type CreateWebhookInput = InputOf<typeof CreateWebhook>
/** A webhook to create, with its secret. */
export type ImportWebhookInput = InputOf<typeof ImportWebhook>
/** The fields to change, at least one. */
export type UpdateWebhookInput = InputOf<typeof UpdateWebhook>
/** How long the previous secret stays valid. */
export type RotateSecretInput = InputOf<typeof RotateSecret>
/** The event type of a test. */
export type SendTestInput = InputOf<typeof DispatchTest>
/** Selects the events to replay. */
export type ReplayInput = InputOf<typeof Replay>

/** The event types, filters and changed fields of a webhook. */
export type PreviewWebhookInput = InputOf<typeof PreviewWebhook>

/** How many webhooks to list. */
export type ListFailingQuery = InputOf<typeof FailingQuery>

/**
 * The API's operations as functions, for example for the vendor's settings page or support tools. Input and results
 * have the API's fields, without the envelope `data`, and the same rules apply. The first argument is the tenant's
 * slug, `{ tenantSlug }` or `{ tenantId }`.
 *
 * Throws `invalid_input`, whose `field` is the argument or the field in it, `not_found` if the webhook or delivery does
 * not exist, and `closed`.
 */
export interface RecruitingWebhooks extends Omit<CallsOf<typeof callOperations>, 'create'> {
  /**
   * Creates a webhook. With `transaction`, it exists once that commits; until then, other creates of the tenant wait.
   * Also throws `invalid_event` for an invalid `transaction`, and `busy`.
   */
  create (
    ...given: [...Parameters<CallsOf<typeof callOperations>['create']>, options?: EmitOptions]
  ): ReturnType<CallsOf<typeof callOperations>['create']>
  /**
   * Lists failing and disabled webhooks of all tenants, the longest failing first. Each has its health, its last error
   * and the number of pending deliveries, up to 1,000. `limit` is 1 to 1,000, by default 100. For the vendor only.
   */
  failing (options?: ListFailingQuery): Promise<FailingWebhook[]>
}

/** The calls about one tenant. */
export type WebhookCall = keyof typeof callOperations
