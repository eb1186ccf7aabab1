import type { DeliveryStats, HealthNotice } from '../ports/index.js'
import type { AttemptCounts } from './queue/counters.js'
import type { DefaultEvents, EventCatalogue, EventData } from './events/catalogue.js'

/** `app.recruiting`: what the host does with the engine. */
export interface Recruiting<Events extends EventCatalogue = EventCatalogue> {
  /**
   * Records an event, and a delivery for each webhook that subscribes to it. Once it has resolved the event is
   * delivered at least once; with `transaction`, once that commits. Throws `invalid_event`, `idempotency_conflict` or
   * `closed`, and what the storage throws; nothing is recorded then.
   */
  emit<Name extends keyof Events & string> (event: EmittedEvent<Events, Name>, options?: EmitOptions): Promise<EmitResult>
  /**
   * Resolves when no delivery is due or under way, of any process. With `until`, a `Date` or milliseconds since the
   * epoch, it also waits for what falls due by then, such as retries. Throws `invalid_option` and `closed`.
   */
  drain (options?: { until?: Date | number }): Promise<void>
  /**
   * Deletes deliveries that ended and events older than `delivery.retentionDays`, and returns how many. Workers do it
   * every hour.
   */
  prune (): Promise<number>
  /**
   * Erases what is kept about a subject, such as `candidate:42`: events emitted with it lose their `data`, and their
   * pending deliveries are cancelled. A replay of them sends `data: null` and `erased: true`. With `transaction`, once
   * that commits. Returns how many events were emitted with that subject. Throws `invalid_event` and `closed`.
   */
  erase (subject: ErasedSubject, options?: EmitOptions): Promise<number>
  /** What an operator watches. `attempts`, `durationMs` and `inFlight` are this process's, the rest is everybody's. */
  stats (): Promise<RecruitingStats>
  /**
   * Seals every webhook secret with the first of the `secretKeys`, and returns how many were sealed with another or not
   * at all. Once it has resolved, the other keys can be dropped.
   */
  resealSecrets (): Promise<number>
  /** Listens for what the engine does by itself. */
  on<Name extends keyof RecruitingEvents> (name: Name, listener: (...args: RecruitingEvents[Name]) => void): void
  /** Ends what `on` began. */
  off<Name extends keyof RecruitingEvents> (name: Name, listener: (...args: RecruitingEvents[Name]) => void): void
}

/** What `stats` returns: the queue of all processes, and the attempts of this one since it started. */
export interface RecruitingStats extends DeliveryStats, AttemptCounts {
  /** Attempts of this process that are under way. */
  inFlight: number
}

/** What happened in the ATS. */
export interface EmittedEvent<Events extends EventCatalogue, Name extends keyof Events = keyof Events> {
  /** Whose it is: 1 to 100 characters, none of them control characters. */
  tenantSlug: string
  /** A name of the catalogue, such as `application.created`. */
  type: Name
  /** Sent as it is, as JSON; it must match the schema of its type. */
  data: EventData<Events, Name>
  /**
   * When it happened: a `Date` or an RFC 3339 date-time.
   * @default now
   */
  occurredAt?: Date | string
  /** What it is about, such as `candidate:42`, for `erase`; 1 to 255 characters, none of them control characters. Not sent. */
  subject?: string
  /** Makes a repeated `emit` a no-op: 1 to 255 characters, none of them control characters. Unique for the tenant. Not sent. */
  idempotencyKey?: string
}

/** What `erase` erases. */
export interface ErasedSubject {
  /** Whose events they are: 1 to 100 characters, none of them control characters. */
  tenantSlug: string
  /** The `subject` that events were emitted with; 1 to 255 characters. */
  subject: string
}

/** How `emit` and `erase` write. */
export interface EmitOptions {
  /**
   * The host's own open transaction: a client of `pg` after `begin`, or another library's by `fromPrisma`, `fromKysely` and
   * so on of `fastify-recruiting-api/postgres`. Nothing is sent or erased unless it commits.
   * A client outside a transaction, or a pool, is refused with `invalid_event`, and so is any by a storage without transactions.
   * @default one of the storage's own, committed at once
   */
  transaction?: unknown
}

/** What `emit` has recorded. */
export interface EmitResult {
  /** The event's id, which receivers see as `webhook-id`. */
  id: string
  /** How many active webhooks it goes to. */
  deliveries: number
}

/** What `app.recruiting.on` tells the host. */
export interface RecruitingEvents {
  /** A webhook has been failing for half the time after which it is disabled: its tenant wants to know. */
  webhookFailing: [notice: HealthNotice]
  /** A webhook was disabled by the service: its tenant must know. */
  webhookDisabled: [notice: HealthNotice]
}

/**
 * Names the catalogue of a host with events of its own, so that the compiler checks the option `events` of the plugin and
 * every `app.recruiting.emit`:
 * `declare module 'fastify-recruiting-api' { interface Register { events: typeof events } }`
 */
export interface Register {}

/** The catalogue that `Register` names, or the default one. */
export type RegisteredEvents = Register extends { events: infer Events extends EventCatalogue } ? Events : DefaultEvents

/** `app.recruiting`, with the host's events. */
export type RegisteredRecruiting = Recruiting<RegisteredEvents>
