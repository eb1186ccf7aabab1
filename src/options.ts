import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { TObject } from '@sinclair/typebox'
import type { AuditListener } from './http/audit.js'
import type { Clock, DisableRule, KeyLookup, RecruitingStorage } from './ports/index.js'
import type { OpenTelemetryApi } from './tracing.js'
import type { EventCatalogue } from './webhooks/events.js'

/** How deliveries are made. */
export interface DeliveryOptions {
  /**
   * Whether this process delivers. Without it events are recorded here and delivered by another process.
   * @default true
   */
  worker?: boolean
  /**
   * Attempts in flight at most, 1 to 10,000.
   * @default 64
   */
  concurrency?: number
  /**
   * Attempts in flight at most to one webhook, 1 to 1,000.
   * @default 4
   */
  perEndpoint?: number
  /**
   * The deadline of an attempt in milliseconds, over lookup, connection, TLS and answer together, 100 to 120,000.
   * @default 15000
   */
  timeoutMs?: number
  /**
   * How long a worker holds a delivery it has claimed, in milliseconds: at least `timeoutMs` and 5,000 more. A worker
   * that dies delays its deliveries by so much.
   * @default 60000, or twice `timeoutMs` if that is more
   */
  leaseMs?: number
  /**
   * Seconds before each attempt, counted from the one before: 1 to 100 numbers of 0 or more, the first for the first
   * attempt. A delivery is given up after the last.
   * @default [0, 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400]
   */
  retrySchedule?: readonly number[]
  /**
   * How often the storage is asked for due deliveries when nothing tells of them, in milliseconds, 10 to 60,000.
   * @default 1000
   */
  pollMs?: number
  /**
   * How long closing waits for attempts in flight, in milliseconds, 0 to 120,000.
   * @default 10000
   */
  closeGraceMs?: number
  /**
   * Lets webhooks have `http:` addresses. For development.
   * @default false
   */
  allowHttp?: boolean
  /**
   * Networks that are not public and may be sent to nevertheless, as CIDRs: for development, and for receivers in the
   * vendor's own network. Link-local addresses and metadata services must be named exactly, as a /32 or /128.
   * @default []
   */
  allowNetworks?: readonly string[]
  /**
   * When a webhook that keeps failing is disabled.
   * @default { failingForSeconds: 432000, failedDeliveries: 10 }
   */
  disableAfter?: DisableRule
  /**
   * Days for which deliveries that ended and their events are kept, 1 to 3,650.
   * @default 30
   */
  retentionDays?: number
  /**
   * Time, for tests.
   * @default the system's
   */
  clock?: Clock
}

/** The options of `createRecruiting`, which the plugin takes as well. */
export interface RecruitingOptions<Events extends EventCatalogue = EventCatalogue> {
  /** Where everything is kept. */
  storage: RecruitingStorage
  /**
   * The events this host emits: from names such as `application.created` (`[a-z0-9_]+(\.[a-z0-9_]+)+`) to the TypeBox
   * schemas of their `data`.
   * @default defaultEvents
   */
  events?: Events
  /**
   * How many webhooks a tenant may have, 1 to 10,000.
   * @default 50
   */
  maxWebhooksPerTenant?: number
  /**
   * Keys of 32 bytes under which webhook secrets are sealed (AES-256-GCM) before the storage sees them: the first
   * seals, all of them open. Without keys secrets are stored as they are.
   * @default []
   */
  secretKeys?: readonly Uint8Array[]
  /**
   * OpenTelemetry: `import * as opentelemetry from '@opentelemetry/api'`. Requests, emits and attempts then have spans; an
   * attempt is in the trace of its emit if the same process made both, and otherwise has the event's id alone.
   * @default no spans
   */
  opentelemetry?: OpenTelemetryApi
  /** How deliveries are made; `false` is short for `{ worker: false }`. */
  delivery?: DeliveryOptions | false
}

/** How many requests within which time. */
export interface RateLimitBudget {
  /**
   * Requests at most, 1 to 1,000,000,000.
   * @default 1000 for a key, 10 for an operation, 20 for failed keys
   */
  max?: number
  /**
   * Milliseconds after which the count begins anew, 1,000 to 86,400,000.
   * @default 60000
   */
  timeWindow?: number
}

/** How requests are limited, through `@fastify/rate-limit`: a budget for each key, and where the counts are kept. */
export interface RateLimitOptions extends RateLimitBudget {
  /**
   * Operations that are counted apart, by their `operationId`, each with a budget for each key.
   * @default { dispatchWebhookTest: { max: 10 }, replayWebhook: { max: 10 } }
   */
  operations?: Record<string, RateLimitBudget>
  /**
   * How many keys that are not valid an address may try. Once they are spent no key of that address is looked up,
   * valid or not, until the time is over. An IPv6 address counts as its /64. Behind a proxy the host must have
   * `trustProxy`: otherwise all callers have the address of the proxy.
   * @default { max: 20 }
   */
  failedKeys?: RateLimitBudget | false
  /** An ioredis client, so that many machines count together. Closing it is up to the host. */
  redis?: { defineCommand: unknown }
  /**
   * What the keys in Redis begin with.
   * @default 'recruiting-rate-limit-'
   */
  nameSpace?: string
  /** A store class for `@fastify/rate-limit` in the place of memory and Redis, with the method `read` as well. */
  store?: { prototype: { incr: unknown, read: unknown, child: unknown } }
  /**
   * How many keys and addresses are kept in memory, each for each budget, 1 to 10,000,000.
   * @default 5000
   */
  cache?: number
  /**
   * Whether requests pass uncounted while the store fails. Otherwise they get 500.
   * @default false
   */
  skipOnError?: boolean
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

/** The options of the plugin. */
export interface RecruitingApiOptions<Events extends EventCatalogue = EventCatalogue> extends RecruitingOptions<Events> {
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
   * Whether the OpenAPI document is served at `{prefix}/openapi.json`, to everybody.
   * @default true
   */
  openapi?: boolean
  /**
   * Limits the requests of each key; needs the package `@fastify/rate-limit`.
   * @default no limits
   */
  rateLimit?: RateLimitOptions
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

/** `DeliveryOptions` with every default in place. */
export type DeliverySettings = Required<DeliveryOptions>

/** `RecruitingOptions` with every default in place. */
export interface EngineSettings {
  storage: RecruitingStorage
  events: EventCatalogue
  maxWebhooksPerTenant: number
  secretKeys: readonly Uint8Array[]
  opentelemetry: OpenTelemetryApi | null
  delivery: DeliverySettings
}

/** `RateLimitOptions` with every default in place. */
export interface RateLimitSettings extends Required<RateLimitBudget>, Pick<RateLimitOptions, 'redis' | 'store'> {
  operations: Record<string, Required<RateLimitBudget>>
  failedKeys: Required<RateLimitBudget> | false
  nameSpace: string
  cache: number
  skipOnError: boolean
}

/** The plugin's own options with every default in place. */
export interface HttpSettings {
  keyLookup: KeyLookup
  prefix: string
  candidateFields: TObject
  jobFields: TObject
  errorDetails: boolean
  requestId: ((request: FastifyRequest) => string) | null
  openapi: boolean
  rateLimit: RateLimitSettings | null
  routes: HostRoutes | null
  onAudit: AuditListener | null
}
