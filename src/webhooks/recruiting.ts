import type {
  Adoption, ChangeKind, DeliveryStats, HealthNotice, HeldBack, Hold, Id, SubjectEvent, TenantDeliveryStats
} from '../ports/index.js'
import type { TenantArgument, TenantReference } from '../shared/tenants.js'
import type { RecruitingWebhooks } from './by-code/recruiting-webhooks.js'
import type { AttemptCounts } from './queue/counters.js'
import type { EventCatalogue, EventData } from './events/catalogue.js'

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
  /**
   * Returns metrics. `attempts`, `durationMs` and `inFlight` are for this process, the others for all processes.
   */
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
