import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { TObject } from '@sinclair/typebox'
import type { DeliveryOptions, DeliverySettings } from './delivery.js'
import type { AuditListener } from '../http/audit.js'
import type { OpenApiOptions, OpenApiSettings } from './openapi.js'
import type { EventStorage, KeyLookup, RecruitingStorage } from '../ports/index.js'
import type { RateLimitOptions, RateLimitSettings } from './rate-limit.js'
import type { RegisteredEvents } from '../webhooks/events/register.js'
import type { OpenTelemetryApi } from '../observe/tracing.js'
import type { DefaultEvents, EventCatalogue } from '../webhooks/events/catalogue.js'

interface EventsOption<Events extends EventCatalogue> {
  /**
   * The events this host emits: from names such as `application.created` (`[a-z0-9_]+(\.[a-z0-9_]+)+`) to the TypeBox
   * schemas of their `data`. In TypeScript, the plugin takes the catalogue that `Register` names.
   * @default defaultEvents
   */
  events: Events
}

/** Types that know another catalogue than the default one require it: otherwise `emit` would refuse what they allow. */
type OptionalDefault<Events extends EventCatalogue> = DefaultEvents extends Events ? Partial<EventsOption<Events>> : EventsOption<Events>

/** The options of `createRecruiting`, which the plugin takes as well. */
export type RecruitingOptions<Events extends EventCatalogue = EventCatalogue> = EngineOptions & OptionalDefault<Events>

/** The options of the plugin. */
export type RecruitingApiOptions<Events extends EventCatalogue = RegisteredEvents> = ApiOptions & OptionalDefault<Events>

interface EngineOptions {
  /** Where webhooks and deliveries are kept. */
  storage: EventStorage
  /**
   * How many webhooks a tenant may have, 1 to 10,000.
   * @default 50
   */
  maxWebhooksPerTenant?: number
  /**
   * The longest body of an event, the JSON that is sent, in bytes of UTF-8: 1,024 to 16,777,216. `emit` refuses longer ones.
   * @default 262144
   */
  maxEventBytes?: number
  /**
   * Keys of 32 bytes under which webhook secrets are sealed (AES-256-GCM) before the storage sees them: the first
   * seals, all of them open. Without keys secrets are stored as they are.
   * @default []
   */
  secretKeys?: readonly Uint8Array[]
  /**
   * OpenTelemetry: `import * as opentelemetry from '@opentelemetry/api'`. Emits and attempts then have spans; an attempt is in
   * the trace of its emit if the same process made both, and otherwise has the event's id alone. Requests set attributes on
   * the span that an instrumentation such as `@opentelemetry/instrumentation-http` makes.
   * @default no spans
   */
  opentelemetry?: OpenTelemetryApi
  /** How deliveries are made; `false` is short for `{ worker: false }`. */
  delivery?: DeliveryOptions | false
}

/**
 * A Fastify plugin of the host's own operations. Each route names `config: { scopes }`, all of which a key must have,
 * and the schemas of its answers; its handler returns what to answer with, and throws an `HttpError` to refuse.
 */
export type HostRoutes = PluginMethod['register']

/** As a method, so that a plugin may be written for another type provider than TypeBox's. */
interface PluginMethod {
  register (app: Parameters<FastifyPluginAsyncTypebox>[0], options: Record<never, never>, done: (error?: Error) => void): void | Promise<void>
}

interface ApiOptions extends EngineOptions {
  /** Where everything is kept, candidates and jobs included. */
  storage: RecruitingStorage
  /** Finds the owner of an API key. */
  keyLookup: KeyLookup
  /**
   * The path below which the tenants' APIs are mounted, each at `/:tenant_slug`.
   * @default '/api/v1/public'
   */
  prefix?: string
  /** Fields that the candidate list publishes besides those of the contract; the storage's rows must have them. */
  candidateFields?: TObject
  /** Fields that the job list publishes besides those of the contract; the storage's rows must have them. */
  jobFields?: TObject
  /**
   * Whether a 400 tells what was wrong, as `error.details`.
   * @default false
   */
  errorDetails?: boolean
  /**
   * Makes the id of a request: 1 to 200 visible ASCII characters, without spaces.
   * @default `req_` and 32 random hexadecimal digits
   */
  requestId?: (request: FastifyRequest) => string
  /**
   * Whether the OpenAPI document is served at `{prefix}/openapi.json`, to everybody, and what it says of the vendor.
   * @default true
   */
  openapi?: boolean | OpenApiOptions
  /**
   * Limits the requests of each key; needs the package `@fastify/rate-limit`. `true` is `{}`.
   * @default false
   */
  rateLimit?: boolean | RateLimitOptions
  /**
   * More operations below `{prefix}/:tenant_slug`, with the key check, errors, ids and validation of the others, and a
   * place in the document.
   * @default none
   */
  routes?: HostRoutes
  /**
   * Called with an `AuditEntry` for every request below `{prefix}/:tenant_slug`, once it is answered.
   * @default nobody is told
   */
  onAudit?: AuditListener
}

/** `RecruitingOptions` with every default in place. */
export interface EngineSettings {
  storage: EventStorage
  events: EventCatalogue
  maxWebhooksPerTenant: number
  maxEventBytes: number
  secretKeys: readonly Uint8Array[]
  opentelemetry: OpenTelemetryApi | null
  delivery: DeliverySettings
}

/** The options that only the plugin takes. */
export type HttpOptions = Omit<ApiOptions, keyof EngineOptions>

/** `HttpOptions` with every default in place. */
export interface HttpSettings {
  keyLookup: KeyLookup
  prefix: string
  candidateFields: TObject
  jobFields: TObject
  errorDetails: boolean
  requestId: ((request: FastifyRequest) => string) | null
  openapi: OpenApiSettings | null
  rateLimit: RateLimitSettings | null
  routes: HostRoutes | null
  onAudit: AuditListener | null
}
