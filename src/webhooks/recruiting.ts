import type { ChangeKind, ChangeStats, DeliveryStats, HealthNotice, Id } from '../ports/index.js'
import type { RecruitingWebhooks } from './by-code/recruiting-webhooks.js'
import type { AttemptCounts } from './queue/counters.js'
import type { DefaultEvents, EventCatalogue, EventData } from './events/catalogue.js'

/** The calls of the engine, which are those of `app.recruiting`. */
export interface EngineCalls<Events extends EventCatalogue = EventCatalogue> {
  /**
   * Records an event and a delivery for each webhook that subscribes to it. Once it resolves, or once `transaction`
   * commits, the event is delivered at least once. Throws `invalid_event`, `idempotency_conflict`, `closed` and errors
   * of the storage, and then records nothing.
   */
  emit<Name extends keyof Events & string> (event: EmittedEvent<Events, Name>, options?: EmitOptions): Promise<EmitResult>
  /**
   * Resolves when no delivery of any process is due or in flight. With `until`, a `Date` or milliseconds since the
   * epoch, it also waits for deliveries that become due by then, such as retries. Throws `invalid_option` and `closed`.
   */
  drain (options?: { until?: Date | number }): Promise<void>
  /**
   * Records that a candidate or job was created, changed or deleted, for `sync`. With `transaction`, the one that writes
   * the row, nothing is missed. Throws `invalid_input`, `invalid_event` for an invalid `transaction`, `invalid_option` if
   * the storage keeps no changes, and errors of the storage.
   */
  changed (change: ChangedResource, options?: EmitOptions): Promise<void>
  /**
   * Deletes ended deliveries and events older than `delivery.retentionDays` and changes older than
   * `changesRetentionDays`, and returns their number. Workers do this every hour.
   */
  prune (): Promise<number>
  /**
   * Erases a subject, such as `candidate:42`: its events lose their `data`, their pending deliveries are cancelled, and
   * kept responses are removed. A replay sends `data: null` and `erased: true`. With `transaction`, takes effect when
   * that commits. Returns the number of events with this subject. Throws `invalid_event` and `closed`.
   */
  erase (subject: ErasedSubject, options?: EmitOptions): Promise<number>
  /**
   * Renames a tenant: its webhooks, deliveries, events and keys of `postgresKeyLookup`. All or nothing. With
   * `transaction`, takes effect when that commits. Attempts in flight end under the old name, and recorded events keep
   * it in their bodies. Returns the number of webhooks. Throws `invalid_input` (also if the tenant `to` exists),
   * `invalid_event` for an invalid `transaction`, and `closed`.
   */
  renameTenant (from: string, to: string, options?: EmitOptions): Promise<{ webhooks: number }>
  /**
   * Removes a tenant: its webhooks, notices and keys of `postgresKeyLookup` at once, then its events with their
   * deliveries, in batches. No further attempts start. Can be repeated after a failure. With `transaction`, removes one
   * batch when that commits; `left` is the number of events that later calls or `prune` remove. Throws `invalid_input`,
   * `invalid_event` for an invalid `transaction`, and `closed`.
   */
  removeTenant (tenantSlug: string, options?: EmitOptions): Promise<{ left: number }>
  /**
   * Returns figures to monitor. `attempts`, `durationMs` and `inFlight` are of this process, the others of all
   * processes.
   */
  stats (): Promise<RecruitingStats>
  /**
   * Seals every webhook secret with the first of the `secretKeys`, and returns the number of secrets that changed. Once
   * it has resolved, the other keys can be removed.
   */
  resealSecrets (): Promise<number>
  /** Manages webhooks by code, with the rules and the results of the API. */
  webhooks: RecruitingWebhooks
  /** Adds a listener for events of the engine. */
  on<Name extends keyof RecruitingEvents> (name: Name, listener: (...args: RecruitingEvents[Name]) => void): void
  /** Removes a listener. */
  off<Name extends keyof RecruitingEvents> (name: Name, listener: (...args: RecruitingEvents[Name]) => void): void
}

/** A candidate or job that changed. */
export interface ChangedResource {
  /** Its tenant: 1 to 100 characters without control characters. */
  tenantSlug: string
  /** `candidate` or `job`. */
  kind: ChangeKind
  /** Its id, of the kind that the option `ids` says. */
  id: Id
  /**
   * Whether it was deleted. A hint only: `sync` looks whether it is still there.
   * @default false
   */
  deleted?: boolean
}

/** The result of `stats`: the queue of all processes, and the attempts of this one since it started. */
export interface RecruitingStats extends DeliveryStats, AttemptCounts {
  /** How far syncs are held back by an open transaction; `null` if the storage keeps no changes. */
  changes: ChangeStats | null
  /** Attempts of this process that are in flight. */
  inFlight: number
}

/** An event in the ATS. */
export interface EmittedEvent<Events extends EventCatalogue, Name extends keyof Events = keyof Events> {
  /** The tenant of the event: 1 to 100 characters without control characters. */
  tenantSlug: string
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
   * Makes a repeated `emit` a no-op: 1 to 255 characters without control characters. Unique within the tenant. Not
   * sent.
   */
  idempotencyKey?: string
}

/** The subject to erase. */
export interface ErasedSubject {
  /** The tenant of the events: 1 to 100 characters without control characters. */
  tenantSlug: string
  /** The `subject` of the emitted events, 1 to 255 characters. */
  subject: string
}

/** Options of `emit` and `erase`. */
export interface EmitOptions {
  /**
   * Pass `transaction` to emit or erase atomically with your own rows: a client of `pg` after `begin`, or the transaction of
   * another library converted by `fromPrisma`, `fromKysely` and so on of `fastify-recruiting-api/postgres`. Nothing is sent
   * or erased unless it commits. Throws `invalid_event` for a pool, for a client outside a transaction, and if the storage
   * has no transactions.
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

/**
 * Registers the event catalogue of a host, so that the compiler checks the option `events` and every
 * `app.recruiting.emit`:
 * `declare module 'fastify-recruiting-api' { interface Register { events: typeof events } }`
 */
export interface Register {}

/** The catalogue in `Register`, or the default one. */
export type RegisteredEvents = Register extends { events: infer Events extends EventCatalogue } ? Events : DefaultEvents
