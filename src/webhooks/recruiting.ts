import type { Static, TSchema } from '@sinclair/typebox'
import type {
  Adoption, AttemptError, ChangeKind, Delivery, DeliveryStats, DeliveryWithAttempts, FailingWebhook, HealthNotice,
  HeldBack, Hold, Id, SubjectEvent, TenantDeliveryStats, Webhook
} from '../ports/index.js'
import type { Page } from '../shared/paging.js'
import type { TenantArgument, TenantReference } from '../shared/tenants.js'
import type { EventCatalogue, EventData } from './events/catalogue.js'
import type {
  CreateWebhook, CreatedWebhook, DeliveryQuery, DispatchTest, FailingQuery, ImportWebhook, PreviewWebhook, Replay,
  ReplayResult, RotateSecret, RotatedWebhook, TestResult, UpdateWebhook, WebhookPreview, WebhookQuery, WebhookWithHealth
} from './schemas.js'

/**
 * The calls of the engine, which are those of `app.recruiting`. Each call about a tenant takes `{ tenantSlug }` or `{
 * tenantId }`, never both (`invalid_input`). With `tenantId` nothing is looked up. Where the tenant is an argument of
 * its own, a text is its slug.
 */
export interface EngineCalls<Events extends EventCatalogue = EventCatalogue> {
  /**
   * Records an event and a delivery for each webhook that subscribes to it. Once it resolves, or once `transaction`
   * commits, the event is delivered at least once. Throws `invalid_event`, `invalid_input`, `unknown_tenant`,
   * `tenant_resting`, `idempotency_conflict` and `closed`, and then records nothing. Throws errors of the storage: if
   * its response was lost, as with `storage_timeout`, the event may have been recorded. With an `idempotencyKey`,
   * call again: one event is recorded.
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
   * Records that a candidate or job was created, changed or deleted, for `sync`. With `transaction`, the one that
   * writes the row, nothing is missed. Throws `invalid_input`, `unknown_tenant`, `tenant_resting`, `invalid_event`
   * for an invalid `transaction`, `invalid_option` if the storage keeps no changes, and errors of the storage.
   */
  changed(change: ChangedResource, options?: EmitOptions): Promise<void>
  /**
   * Deletes ended deliveries and events older than `delivery.retentionDays` and changes older than
   * `changesRetentionDays`, and returns their number. Workers do this every hour. Ends early
   * when the engine closes. Throws `closed`.
   */
  prune(): Promise<number>
  /**
   * Erases a subject, such as `candidate:42`: its events lose their `data`, their pending deliveries are cancelled, and
   * kept responses are removed. A replay sends `data: null` and `erased: true`. With `transaction`, takes effect when
   * that commits. Returns the number of events with this subject. Without `transaction`, more than 200,000 events are
   * erased in several steps; after an error, call it again. Throws `invalid_event`, `invalid_input`, `unknown_tenant`,
   * `tenant_resting`, `busy` and `closed`.
   */
  erase(subject: ErasedSubject, options?: EmitOptions): Promise<number>
  /**
   * Lists the events with a subject, oldest first, each with the webhooks that it was sent to, and when, for a person
   * who asks who received their data. Goes back as far as `delivery.retentionDays`. Does not list the keys that read
   * the events in the feed: `onAudit` reports these requests. Reads pages of 100 events while you iterate. Throws
   * `invalid_input`, `unknown_tenant`, `tenant_resting` and `closed` when the iteration begins.
   */
  findSubject(tenant: TenantArgument, subject: string): AsyncIterableIterator<FoundEvent>
  /**
   * Renames a tenant: its webhooks, deliveries, events and keys of `postgresKeyLookup`. All or nothing. With
   * `transaction`, takes effect when that commits. Attempts in flight end under the old name, and recorded events
   * keep it in their bodies. Returns the number of webhooks. Without the option `tenantId`, sessions of the portal
   * and sync tokens of both names end, and nothing can use the old name for 61 minutes. With it, only the name in
   * logs and notices changes. Throws `invalid_input` (also if the tenant `to` exists), `invalid_event` for an invalid
   * `transaction`, `unknown_tenant`, `tenant_resting` and `closed`.
   */
  renameTenant(from: TenantArgument, to: string, options?: EmitOptions): Promise<{ webhooks: number }>
  /**
   * Removes a tenant: its webhooks, notices and keys of `postgresKeyLookup` at once, then its events with their
   * deliveries, in batches. No further attempts start. Can be repeated after a failure. With `transaction`, removes
   * one batch when that commits; `left` is the number of events that later calls or `prune` remove, or 10,000 if
   * there are more. Without the option `tenantId`, nothing can use the name for 61 minutes. Throws `invalid_input`,
   * `invalid_event` for an invalid `transaction`, `unknown_tenant` and `closed`.
   */
  removeTenant(tenant: TenantArgument, options?: EmitOptions): Promise<{ left: number }>
  /** Returns metrics. `attempts`, `durationMs` and `inFlight` are for this process, the others for all processes. */
  stats(): Promise<RecruitingStats>
  /**
   * Returns the figures of a tenant's deliveries, from all processes: pending, failing, and the result of the last
   * hour. Cheap enough to call for a page, because counting stops at 10,000. Throws `invalid_input`,
   * `unknown_tenant`, `tenant_resting` and `closed`.
   */
  stats(of: TenantReference): Promise<TenantDeliveryStats>
  /**
   * Ends a hold: `stats().held`. The storage then belongs to `delivery.environment` of this process. With `deliver`,
   * pending deliveries are sent. With `discard`, they end as `skipped`, every webhook becomes `inactive` unless
   * `keepWebhooks`, and every key of `postgresKeyLookup` is revoked unless `keepKeys`, so that a copy reaches no one.
   * Returns why nothing was sent, and how many deliveries were pending; `null`, and changes nothing, if nothing is
   * held. Throws `invalid_option` and `closed`.
   */
  adopt(options: AdoptCall): Promise<Adoption | null>
  /**
   * Seals every webhook secret with the first of the `secretKeys`, or with their function `seal`, and returns the
   * number of secrets that changed. Call it when every process has the same first key or functions; once it has
   * resolved, the other keys can be removed.
   */
  resealSecrets(): Promise<number>
  /** Manages webhooks from code, with the rules and the results of the API. */
  webhooks: RecruitingWebhooks
  /**
   * Returns the audited calls, made in the name of this actor: 1 to 128 characters without control characters, such as
   * the id of your support engineer. Throws `invalid_input`.
   */
  as(actor: string): ActorCalls
  /** Adds a listener for events of the engine. */
  on<Name extends keyof RecruitingEvents>(name: Name, listener: (...args: RecruitingEvents[Name]) => void): void
  /** Removes a listener. */
  off<Name extends keyof RecruitingEvents>(name: Name, listener: (...args: RecruitingEvents[Name]) => void): void
}

/** The audited calls: `onAudit` gets an entry for each. */
export type ActorCalls = Pick<
  EngineCalls,
  'erase' | 'findSubject' | 'renameTenant' | 'removeTenant' | 'adopt' | 'prune' | 'resealSecrets' | 'webhooks'
>

/** A candidate or job that changed. */
export type ChangedResource = TenantReference & ChangedResourceFields

interface ChangedResourceFields {
  /** `candidate` or `job`. */
  kind: ChangeKind
  /** Its id, of the kind that the option `ids` says. */
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
  /** Attempts of this process since it started, by result. */
  attempts: Record<'delivered' | AttemptError, number>
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
   * How far syncs are behind because a transaction that recorded a change is open; `null` if the storage keeps no
   * changes.
   */
  changes: HeldBack | null
  /**
   * How far readers of `GET .../events` are behind because a transaction that emitted is open; `null` if the storage
   * has no feed.
   */
  feed: HeldBack | null
  /** Attempts of this process that are in flight. */
  inFlight: number
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
   * each, and by `subject`. Not sent.
   */
  subjects?: readonly string[]
  /**
   * Makes a repeated `emit` a no-op: 1 to 255 characters without control characters. Unique within the tenant. Not
   * sent.
   */
  idempotencyKey?: string
}

/** An event about a subject, and to which webhooks it was sent. */
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
   * @default a transaction of the storage's own, committed at once
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
}

/** The input of an operation, without the fields that have a default. */
type WithDefaults<Schema extends TSchema, Name extends keyof Static<Schema>> = Omit<Static<Schema>, Name> &
  Partial<Pick<Static<Schema>, Name>>

/** The parameters of a list of webhooks: `page`, `per_page`, `sort`, `filter[status]`. */
export type ListWebhooksQuery = Partial<Static<typeof WebhookQuery>>
/**
 * The parameters of a delivery log: `page`, `per_page`, `sort`, `filter[status]`, `filter[event_type]`,
 * `filter[event_id]`.
 */
export type ListDeliveriesQuery = Partial<Static<typeof DeliveryQuery>>
/** A webhook to create. */
export type CreateWebhookInput = WithDefaults<typeof CreateWebhook, 'status'>
/** A webhook to create, with its secret. */
export type ImportWebhookInput = WithDefaults<typeof ImportWebhook, 'status'>
/** The fields to change, at least one. */
export type UpdateWebhookInput = Static<typeof UpdateWebhook>
/** How long the previous secret stays valid. */
export type RotateSecretInput = Partial<Static<typeof RotateSecret>>
/** The event type of a test. */
export type SendTestInput = Static<typeof DispatchTest>
/** Selects the events to replay. */
export type ReplayInput = WithDefaults<typeof Replay, 'include' | 'dry_run'>

/** The event types and filters of a webhook. */
export type PreviewWebhookInput = Static<typeof PreviewWebhook>

/** How many webhooks to list. */
export type ListFailingQuery = Partial<Static<typeof FailingQuery>>

/**
 * Offers the operations of the API to code, for example for the vendor's settings page or support tools. Input and
 * results have the fields of the API, without the envelope `data`, and the same rules hold. The first argument is the
 * tenant: its slug, `{ tenantSlug }` or `{ tenantId }`.
 *
 * Throws `invalid_input`, whose `field` is the argument or the field in it, `not_found` if the webhook or delivery
 * does not exist, and `closed`.
 */
export interface RecruitingWebhooks {
  /** Lists the webhooks of a tenant, as `GET /webhooks`. */
  list (tenant: TenantArgument, query?: ListWebhooksQuery): Promise<Page<Webhook>>
  /**
   * Returns a webhook with its health and the end of its grace period, as `GET /webhooks/:id`; `null` if it does not
   * exist.
   */
  find (tenant: TenantArgument, id: number): Promise<WebhookWithHealth | null>
  /** Creates a webhook and returns it with its secret, as `POST /webhooks`. */
  create (tenant: TenantArgument, input: CreateWebhookInput): Promise<Static<typeof CreatedWebhook>>
  /**
   * Creates a webhook with a secret that its receiver already knows: `whsec_` and 24 to 64 bytes in base64. A webhook
   * of the tenant with the same address and secret is returned instead, unchanged, so an import can be repeated. For
   * the vendor alone.
   */
  import (tenant: TenantArgument, input: ImportWebhookInput): Promise<Webhook>
  /** Changes a webhook, as `PATCH /webhooks/:id`. */
  update (tenant: TenantArgument, id: number, changes: UpdateWebhookInput): Promise<Webhook>
  /** Deletes a webhook, as `DELETE /webhooks/:id`. */
  delete (tenant: TenantArgument, id: number): Promise<void>
  /** Gives a webhook a new secret and returns it, as `POST /webhooks/:id/rotate_secret`. */
  rotateSecret (tenant: TenantArgument, id: number, input?: RotateSecretInput): Promise<Static<typeof RotatedWebhook>>
  /** Sends a test notification from this process, as `POST /webhooks/:id/dispatch_test`. */
  sendTest (tenant: TenantArgument, id: number, input?: SendTestInput): Promise<Static<typeof TestResult>>
  /** Queues past events again, as `POST /webhooks/:id/replay`; with `dry_run`, only counts them. */
  replay (tenant: TenantArgument, id: number, input?: ReplayInput): Promise<Static<typeof ReplayResult>>
  /**
   * Counts up to 100 of the latest events of these types, and those that match the filters, as `POST
   * /webhooks/preview`. Throws `invalid_option` if the storage has no feed.
   */
  preview (tenant: TenantArgument, input: PreviewWebhookInput): Promise<Static<typeof WebhookPreview>>
  /**
   * Lists the deliveries of a webhook, as `GET /webhooks/:id/deliveries`. Throws `not_found` for an unknown webhook.
   */
  listDeliveries (tenant: TenantArgument, id: number, query?: ListDeliveriesQuery): Promise<Page<Delivery>>
  /**
   * Returns a delivery with its attempts, as `GET /webhooks/:id/deliveries/:delivery_id`; `null` if it does not
   * exist.
   */
  findDelivery (tenant: TenantArgument, id: number, deliveryId: number): Promise<DeliveryWithAttempts | null>
  /** Retries a delivery, as `POST /webhooks/:id/deliveries/:delivery_id/retry`. */
  retryDelivery (tenant: TenantArgument, id: number, deliveryId: number): Promise<Delivery>
  /**
   * Lists webhooks of all tenants that are failing or disabled, the longest failing first: since when, the last
   * error, and how many deliveries wait, counted up to 1,000. `limit` is 1 to 1,000, by default 100. For the vendor
   * only.
   */
  failing (options?: ListFailingQuery): Promise<FailingWebhook[]>
}

/** The calls that are operations of a tenant. */
export type WebhookCall = Exclude<keyof RecruitingWebhooks, 'failing'>
