import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import {
  type OptionsOf, type Reader, type SettingsOf, assertObject, assertOption, callable, checked, choice, flag, integer,
  limit, list, matching, optional, orNull, properties, readOptions, readPublicUrl, switchable, text
} from '../shared/read-options.js'
import { omitUndefined } from '../shared/fields.js'
import { apiScopes, readScopes } from '../keys/api-key.js'
import { type PortalMessages, readMessages } from '../portal/messages.js'
import type {
  AnyRecruitingStorage, DisableRule, EventStorage, Id, KeyLookup, RecruitingStorage
} from '../ports/index.js'
import { readClock } from '../shared/clock.js'
import type { AuditListener } from '../observe/audit.js'
import { readIds } from '../shared/ids.js'
import type { TenantIdLookup, TenantSlugLookup } from '../shared/tenants.js'
import type { DefaultEvents, EventCatalogue, EventSchemas, RegisteredEvents } from '../webhooks/events/catalogue.js'
import type { HttpProxy } from '../webhooks/ssrf/proxy.js'
import {
  addressOrCidr, cidr, environmentName, fields, font, mcpOrigin, mcpUrl, openTelemetryApi, portalOrigin, readAccent,
  readEvents, readEventStorage, readFrameAncestor, readPortalKeys, readProxyUrl, readRadius, readRoutes,
  readSecretKeys, readStorage, readTimeWindow, redisClient, retrySeconds, storeClass
} from './readers.js'

/*
 * All options of the plugin and of `createRecruiting`: one table per options object, with the doc, type, range, default
 * and check of each option. Hosts pass `...Options`; `...Settings` are the checked values with their defaults.
 */

const defaultRetrySchedule: readonly number[] = [0, 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400]

const readDisableRule: Reader<DisableRule> = (rule = { failingForSeconds: 432_000, failedDeliveries: 10 }, path) =>
  readOptions(rule, { failingForSeconds: integer(0, 31_536_000), failedDeliveries: integer(1, 1_000_000) }, path)

const deliveryOptions = {
  /**
   * Whether this process delivers. If not, it records events and another process delivers them.
   * @default true
   */
  worker: flag(true),
  /**
   * Maximum number of attempts in flight in this process, 1 to 10,000. A tenant takes one of these places only while
   * more are free than it has: a single tenant uses half of them. Test notifications count too, and use at most three
   * quarters of the places in a process that delivers.
   * @default 128
   */
  concurrency: integer(1, 10_000, 128),
  /**
   * Maximum number of attempts in flight to one webhook, 1 to 1,000: deliveries of all processes, and test
   * notifications of the same process.
   * @default 4
   */
  perEndpoint: integer(1, 1000, 4),
  /**
   * The timeout of an attempt in milliseconds, including lookup, connection, TLS and response, 100 to 120,000.
   * @default 15000
   */
  timeoutMs: integer(100, 120_000, 15_000),
  /**
   * How long a worker leases a claimed delivery, in milliseconds: at least `timeoutMs` plus 5,000. If a worker dies,
   * its deliveries are delayed by up to this time.
   * @default 60000, or twice `timeoutMs` if that is more
   */
  leaseMs: (value?: number) => value,
  /**
   * Seconds before each attempt, counted from the previous attempt: 1 to 100 numbers of 0 or more, the first for the
   * first attempt. After the last one, the delivery fails.
   * @default [0, 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400]
   */
  retrySchedule: list(retrySeconds, '1 to 100 numbers', { minimum: 1, maximum: 100, usual: defaultRetrySchedule }),
  /**
   * How often to poll the storage for due deliveries, in milliseconds, 10 to 60,000. A hint from the storage triggers
   * an earlier poll.
   * @default 1000
   */
  pollMs: integer(10, 60_000, 1000),
  /**
   * How long `close` waits for attempts in flight, in milliseconds, 0 to 120,000.
   * @default 10000
   */
  closeGraceMs: integer(0, 120_000, 10_000),
  /**
   * Allows webhooks with `http:` addresses. For development.
   * @default false
   */
  allowHttp: flag(false),
  /**
   * Non-public networks that notifications can be sent to, as CIDRs: for development, and for receivers in the vendor's
   * own network. Link-local addresses and metadata services must be named exactly, as a /32 or /128.
   * @default []
   */
  allowNetworks: list(cidr, 'an array of CIDRs'),
  /**
   * Networks that notifications must not be sent to, as CIDRs, such as the vendor's own public addresses. They take
   * precedence over `allowNetworks`.
   * @default []
   */
  denyNetworks: list(cidr, 'an array of CIDRs'),
  /**
   * Sends through an HTTP proxy. This process still resolves and checks addresses, and connects through the proxy
   * (`CONNECT`) to the checked address, even for `http:` targets.
   * @default none: proxy environment variables are ignored
   */
  proxy: readProxy,
  /**
   * The local address to connect from. Receivers need an address of the same IP version.
   * @default chosen by the system
   */
  localAddress: orNull(matching((text) => isIP(text) !== 0, 'an IP address')),
  /**
   * The addresses that notifications come from, for receivers' firewalls: 1 to 100 IP addresses or CIDRs. The portal
   * and the OpenAPI document show them to everyone. This does not change how notifications are sent. Set it in every
   * process that serves the portal or the document.
   * @default none
   */
  sourceIps: list(addressOrCidr, 'an array of 1 to 100 IP addresses or CIDRs', { minimum: 1, maximum: 100 }),
  /**
   * When a webhook that keeps failing is disabled.
   * @default { failingForSeconds: 432000, failedDeliveries: 10 }
   */
  disableAfter: readDisableRule,
  /**
   * Bytes of an endpoint's text response to store with each attempt, for the delivery log, 0 to 4,096. Compressed
   * responses are not stored. Responses can contain personal data; `erase` removes them with the event.
   * @default 0
   */
  responseExcerptBytes: integer(0, 4096, 0),
  /**
   * Sends the W3C Trace Context header `traceparent`, so that receivers can continue the trace of the attempt. Needs
   * the option `opentelemetry`.
   * @default false
   */
  propagateTrace: flag(false),
  /**
   * Days to keep finished deliveries and their events, 1 to 3,650.
   * @default 30
   */
  retentionDays: integer(1, 3650, 30),
  /**
   * The name of this environment, such as `production`, 1 to 64 characters. The first worker with a name claims the
   * database for its environment. Processes with a different name send nothing, so a copy of production's disk in
   * staging does not reach production's receivers.
   * @default none
   */
  environment: orNull(environmentName),
  /**
   * The clock, for tests.
   * @default the system's
   */
  clock: readClock
}

/** Options of deliveries. */
export interface DeliveryOptions extends OptionsOf<typeof deliveryOptions> {}

/** The settings of deliveries. */
export interface DeliverySettings extends SettingsOf<typeof deliveryOptions> {
  leaseMs: number
}

/** Returns the settings of deliveries. Throws `invalid_option`. */
export function readDelivery (value: DeliveryOptions | false = {}, path: string): DeliverySettings {
  const options = value === false ? { worker: false } : value
  assertObject(options, path, 'an object or false')
  const settings = readOptions(options, deliveryOptions, path)
  // Its range and default depend on `timeoutMs`: a lease is longer than an attempt.
  const { timeoutMs, leaseMs = Math.max(60_000, timeoutMs * 2) } = settings
  return { ...settings, leaseMs: integer(timeoutMs + 5000, 3_600_000)(leaseMs, `${path}.leaseMs`) }
}

/** The proxy that deliveries go through. */
export interface ProxyOptions {
  /**
   * An `http:` or `https:` URL without a path, such as `http://user:password@proxy.example:3128`. The user name and
   * password are sent as `Proxy-Authorization: Basic`, and never appear in errors or logs.
   */
  url: string
}

/** Returns the proxy; `null` without one. Throws `invalid_option`. */
export function readProxy (value: ProxyOptions | undefined, path: string): HttpProxy | null {
  if (value === undefined) return null
  // Messages never contain the value: it may contain a password.
  assertOption(typeof value !== 'string', path, 'an object such as { url }', 'text')
  assertObject(value, path, 'an object such as { url }')
  return readOptions(value, { url: readProxyUrl }, path).url
}

/** The tenant that a limit applies to. */
export interface LimitedTenant {
  tenantSlug: string
  /** Without the option `tenantId`, the slug. */
  tenantId: string
}

/** The range of `maxWebhooksPerTenant`. */
export const maxWebhooks = 10_000

const engineOptions = {
  /**
   * Which ids are text, such as uuids: `candidate`, `job`, `source` (`source_id` of a candidate) and `recruiter`
   * (`filter[recruiter_id]`), each `'integer'` or `'string'`. Text ids have 1 to 64 visible ASCII characters without
   * `/`.
   * @default all are 'integer'
   */
  ids: readIds,
  /**
   * Returns your own id of a tenant, which never changes: text of 1 to 200 characters, or an integer; `null` for an
   * unknown tenant. All stored data then belongs to the id, so tenants can be renamed, and a slug can be reused. Called
   * for each request and each call with a `tenantSlug`. It must return within 5 seconds: cache slow lookups.
   * @default the slug is the id
   */
  tenantId: orNull(callable<TenantIdLookup>()),
  /**
   * Returns the slug of a tenant by its id, the reverse of `tenantId`; `null` if it is unknown. Called for calls with a
   * `tenantId` that show the tenant's name: `emit` (`tenant_slug` in the body), new webhooks, tests and portal
   * sessions. The second argument is the call's `transaction`, so that you can read a tenant that it creates. It must
   * return within 5 seconds.
   * @default the id as text
   */
  tenantSlug: orNull(callable<TenantSlugLookup>()),
  /**
   * Maximum number of webhooks per tenant, 1 to 10,000, or a function that returns it for `{ tenantSlug, tenantId }`,
   * such as the limit of the tenant's plan. The result is cached for a minute. If it throws, returns anything else or
   * takes longer than 5 seconds, no webhook is created and the request gets 500. A lower limit deletes no webhooks.
   * @default 50
   */
  maxWebhooksPerTenant: limit<LimitedTenant>(1, maxWebhooks, 50),
  /**
   * Maximum size of an event's body, the JSON that is sent, in bytes of UTF-8: 1,024 to 16,777,216. `emit` rejects
   * larger ones.
   * @default 262144
   */
  maxEventBytes: integer(1024, 16_777_216, 262_144),
  /**
   * Whether `emit` rejects events without a subject, so that data about people can always be found and erased.
   * @default false
   */
  requireSubject: flag(false),
  /**
   * Days to keep changes of candidates and jobs for `sync`, 1 to 3,650. Clients that sync less often get 410 and start
   * again.
   * @default 90
   */
  changesRetentionDays: integer(1, 3650, 90),
  /**
   * Keys of 32 bytes that seal webhook secrets and headers, and the answers to requests with `Idempotency-Key`
   * (AES-256-GCM), before they reach the storage: the first key seals, all of them open. Without keys, secrets are
   * stored in plain text. To change the key, begin with `[oldKey, newKey]` in every process. Or functions
   * `{ seal, open, keys }`, such as those of a KMS, which are called for every delivery; `keys` are earlier keys that
   * only open.
   * @default []
   */
  secretKeys: readSecretKeys,
  /**
   * OpenTelemetry: `import * as opentelemetry from '@opentelemetry/api'`. Creates spans for emits and attempts. An
   * attempt belongs to its emit's trace, even in another process. Requests set attributes on the active span, which an
   * instrumentation such as `@opentelemetry/instrumentation-http` creates.
   * @default no spans
   */
  opentelemetry: orNull(openTelemetryApi),
  /**
   * Called with an `AuditEntry` after each response below `{prefix}/:tenant_slug`, and after each call from code that
   * reads or changes webhooks, creates a portal session, erases or finds a subject, renames or removes a tenant, adopts
   * a copy, prunes or reseals secrets. `close` waits for the promises that it returns.
   * @default none
   */
  onAudit: orNull(callable<AuditListener>()),
  /**
   * Settings of deliveries; `false` is short for `{ worker: false }`.
   * @default {}
   */
  delivery: readDelivery
}

/** The options of the engine. */
interface EngineOptions extends OptionsOf<typeof engineOptions> {
  /** The storage of webhooks and deliveries. */
  storage: EventStorage
}

/** The settings of the engine. */
export interface EngineSettings extends SettingsOf<typeof engineOptions> {
  storage: EventStorage
  events: EventSchemas
}

/** Maximum number of requests in a window. */
export const maxRequests = 1_000_000_000

const mcpOptions = {
  /**
   * Also offers the tools that return a secret: `create_webhook` and `rotate_webhook_secret`.
   * @default false
   */
  secrets: flag(false),
  /**
   * Issuers of access tokens, as URLs, for clients that use OAuth. `keyLookup` receives their tokens as keys of up to
   * 8,192 characters. Needs `publicUrl` or `resource`.
   * @default []
   */
  authorizationServers: list(mcpUrl, 'an array of URLs'),
  /**
   * The identifier of a tenant's server, which access tokens are issued for (RFC 8707): a URL in which
   * `{tenant_slug}` stands for the tenant.
   * @default the address of the server, with `publicUrl`
   */
  resource: orNull(mcpUrl),
  /**
   * Origins of web pages that can call the server, such as `https://chat.example`. Requests without an origin, which do
   * not come from a page, are allowed.
   * @default []
   */
  origins: list(mcpOrigin, 'an array of origins')
}

/** The option `mcp`: an MCP server for the agents of each tenant, at `{prefix}/:tenant_slug/mcp`. Experimental. */
export interface McpOptions extends OptionsOf<typeof mcpOptions> {}

/** The settings of the MCP server. */
export interface McpSettings extends SettingsOf<typeof mcpOptions> {}

/** Returns the settings of the MCP server; `null` without one. Throws `invalid_option`. */
export const readMcp: Reader<McpSettings | null, boolean | McpOptions> = switchable(mcpOptions, false)

/** OpenAPI's Contact Object. */
const contact: Reader<object, { name?: string, url?: string, email?: string }> =
  properties({ name: optional(text), url: optional(text), email: optional(text) })

/** OpenAPI's License Object. */
const license: Reader<object, { name: string, identifier?: string, url?: string }> =
  properties({ name: text, identifier: optional(text), url: optional(text) })

const infoOptions = {
  /** The name of the API. @default `Recruiting API` */
  title: optional(text),
  /** The version of the document. @default `v1` */
  version: optional(text),
  /** A description of the API, in Markdown. @default a text about the API */
  description: optional(text),
  /** The URL of the terms of service. */
  termsOfService: optional(text),
  /**
   * The contact: `name`, `url` and `email`, each optional. @default { name: 'The vendor of your applicant tracking
   * system' }
   */
  contact: optional(contact),
  /** The license of the API, not of this package: a `name`, with an SPDX `identifier` or a `url`. */
  license: optional(license)
}

/** Information about the API, its vendor and its terms. */
export interface OpenApiInfo extends OptionsOf<typeof infoOptions> {}

const info: Reader<object, OpenApiInfo> = properties(infoOptions)

/** An address of the API. */
export interface OpenApiServer {
  /** The server's URL, with the prefixes of the host: the document's paths are relative to it. */
  url: string
  /** A name for the server, such as `Production`. */
  description?: string
}

const server: Reader<object, OpenApiServer> = properties({ url: text, description: optional(text) })

const openApiOptions = {
  /** OpenAPI's Info Object. Absent fields keep their default. */
  info: (value: OpenApiInfo = {}, path: string) => info(value, path),
  /**
   * The addresses of the API, such as `{ url: 'https://api.example.com' }`; at least one.
   * @default `publicUrl`, otherwise the server that serves the document
   */
  servers: list(server, 'an array of at least one server', { minimum: 1 }),
  /**
   * Whether the API's paths are also in the document that `@fastify/swagger` creates for the host.
   * @default false
   */
  inHostDocument: flag(false)
}

/** The option `openapi`: texts about the vendor that replace the document's defaults. */
export interface OpenApiOptions extends OptionsOf<typeof openApiOptions> {}

/** The settings of the document. */
export interface OpenApiSettings extends SettingsOf<typeof openApiOptions> {}

/** Returns the settings of the document, `null` if it is not served. Throws `invalid_option`. */
export const readOpenApi: Reader<OpenApiSettings | null, boolean | OpenApiOptions> = switchable(openApiOptions, true)

/** Default number of requests per key and window. */
export const defaultRequests = 1000

/** Who sends a request that counts against a limit. */
export interface RateLimitCaller {
  /** The slug in the path. */
  tenantSlug: string
  /** The tenant's id; without the option `tenantId`, its slug. */
  tenantId: string
  /** The id that the key lookup returned; `null` for a portal session. */
  keyId: string | null
  /** The scopes of the key or the session. */
  scopes: readonly string[]
}

const budgetOptions = {
  /**
   * Maximum number of requests, 1 to 1,000,000,000, or a function that returns it for a `RateLimitCaller`, such as the
   * limit of the tenant's plan. The result is cached for a minute. If it throws, returns anything else or takes longer
   * than 5 seconds, the request gets 500. The `max` of `failedKeys` is a number.
   * @default 1000 for a key, 10 for an operation, 20 for failed keys
   */
  max: limit<RateLimitCaller>(1, maxRequests, defaultRequests),
  /**
   * The window, after which the count restarts: milliseconds, 1,000 to 86,400,000, or text such as `1 minute`.
   * @default 60000
   */
  timeWindow: readTimeWindow
}

/** Maximum number of requests in a time window. */
export interface RateLimitBudget extends OptionsOf<typeof budgetOptions> {}

const operationOptions = { ...budgetOptions, max: limit<RateLimitCaller>(1, maxRequests, 10) }

const failedKeysOptions = { ...budgetOptions, max: integer(1, maxRequests, 20) }

/** The budget of invalid keys. */
interface FailedKeysBudget extends OptionsOf<typeof failedKeysOptions> {}

const limitOptions = {
  /**
   * Counts all keys of a tenant together, in each budget. Portal sessions still count by actor. If customers can create
   * keys, each key would otherwise add a budget.
   * @default true if customers can manage keys, otherwise false
   */
  perTenant: optional(flag(false)),
  /**
   * Operations with a separate budget for each key, by `operationId`.
   * @default { dispatchWebhookTest: { max: 10 }, replayWebhook: { max: 10 } }
   */
  operations: readOperations,
  /**
   * Invalid keys allowed per address and window. After that, requests with a key that was not recently valid get 429.
   * An IPv6 address counts as its /64; requests without an address count together. Behind a proxy, name the proxy in
   * `trustProxy`: otherwise all callers share the proxy's address. With `trustProxy: true`, callers choose their
   * address.
   * @default { max: 20 }
   */
  failedKeys: readFailedKeys,
  /** An ioredis client, so that several machines share their counts. The host closes it. */
  redis: optional(redisClient),
  /**
   * The prefix of keys in Redis.
   * @default 'recruiting-rate-limit-'
   */
  nameSpace: checked<string>((value) => typeof value === 'string', 'a string', 'recruiting-rate-limit-'),
  /** A store class for `@fastify/rate-limit`, instead of memory and Redis. */
  store: optional(storeClass),
  /**
   * Keys and addresses remembered in memory per budget, 1 to 10,000,000.
   * @default 5000
   */
  cache: integer(1, 10_000_000, 5000),
  /**
   * Lets requests pass uncounted while the store fails. Otherwise they get 500.
   * @default false
   */
  skipOnError: flag(false)
}

/**
 * Request limits, through `@fastify/rate-limit`: a budget per key, and the store of the counts. Requests for the
 * document, which need no key, have the same budget per address, or the default if `max` is a function.
 */
export interface RateLimitOptions extends RateLimitBudget, OptionsOf<typeof limitOptions> {}

/** The settings of the limits. */
export interface RateLimitSettings extends SettingsOf<typeof budgetOptions>, SettingsOf<typeof limitOptions> {}

/** Returns the settings of the limits; `null` without limits. Throws `invalid_option`. */
export const readRateLimit: Reader<RateLimitSettings | null, boolean | RateLimitOptions> = switchable(
  { ...budgetOptions, ...limitOptions },
  false
)

function readOperations (
  value: Record<string, RateLimitBudget> = {},
  path: string
): Record<string, SettingsOf<typeof operationOptions>> {
  assertObject(value, path)
  const budgets = Object.entries({ dispatchWebhookTest: {}, replayWebhook: {}, ...value })
  return Object.fromEntries(budgets.map(([id, budget]) => [id, readOptions(budget, operationOptions, `${path}.${id}`)]))
}

function readFailedKeys (
  value: FailedKeysBudget | false = {},
  path: string
): SettingsOf<typeof failedKeysOptions> | false {
  return value === false ? false : readOptions(value, failedKeysOptions, path)
}

const themeOptions = {
  /**
   * The colour of links and buttons, `#rrggbb`, or one for each mode: `{ light: '#rrggbb', dark: '#rrggbb' }`. Its
   * contrast must be at least 4.5:1 on the light surface, `#ffffff`, or on the dark one, `#16181d`. A single colour is
   * for the light mode; the dark mode uses a tint of it.
   * @default blue
   */
  accent: optional(readAccent),
  /**
   * The radius of corners in CSS pixels, 0 to 24.
   * @default 8
   */
  radius: optional(readRadius),
  /**
   * The typeface: a CSS `font-family`, such as `Inter, "Segoe UI", sans-serif`, of at most 200 characters.
   * @default the system's
   */
  font: optional(font),
  /**
   * `light`, `dark`, or `system` to follow the user's system.
   * @default 'system'
   */
  mode: optional(choice(['light', 'dark', 'system']))
}

/** The look of the portal. */
export interface PortalTheme extends OptionsOf<typeof themeOptions> {}

/** A checked look; absent parts keep the page's default. */
interface ThemeSettings extends Partial<SettingsOf<typeof themeOptions>> {}

/** Returns the look for the page. Throws `invalid_option`. */
export function readTheme (value: PortalTheme = {}, path: string): ThemeSettings {
  return omitUndefined(readOptions(value, themeOptions, path))
}

const portalKeysOptions = {
  /**
   * The scopes that customers can grant to keys: those of the API and of your own routes. A key that creates keys can
   * only grant its own scopes. List `api_keys:manage` to let customers create such keys.
   * @default those of the API, without `api_keys:manage`
   */
  scopes: (value: readonly string[] = apiScopes, path: string): readonly string[] => {
    assertOption(readScopes(value, path).length > 0, path, 'at least one scope', value)
    return [...new Set(value)]
  },
  /**
   * Maximum number of valid keys per tenant when a customer creates or rotates one, 1 to 1,000. Keys that you issued
   * count too, and replaced keys until their grace period ends. A rotation without a grace period is always possible.
   * @default 50
   */
  maxKeys: integer(1, 1000, 50),
  /**
   * Days for which a new key is valid, unless its creator chooses fewer, 1 to 3,650.
   * @default 365
   */
  maxDays: integer(1, 3650, 365)
}

/** The option `portal.keys`: how customers manage their API keys. */
export interface PortalKeysOptions extends OptionsOf<typeof portalKeysOptions> {}

/** The settings of the keys that customers manage. */
export interface PortalKeysSettings extends SettingsOf<typeof portalKeysOptions> {}

/** Returns the settings of the keys that customers manage; `null` without them. Throws `invalid_option`. */
export const readPortalKeysOption: Reader<PortalKeysSettings | null, boolean | PortalKeysOptions> = switchable(
  portalKeysOptions,
  true
)

const portalOptions = {
  /**
   * The exact origins that can embed the portal in a frame: `https://ats.example`, for development
   * `http://localhost:3000` or `http://127.0.0.1:3000`, or `'self'` for the portal's own.
   * @default []
   */
  frameAncestors: list(readFrameAncestor, 'an array of origins'),
  /**
   * The exact origins, besides the portal's own, that the `returnUrl` of a session can lead to: `https://ats.example`,
   * for development `http://localhost:3000` or `http://127.0.0.1:3000`.
   * @default []
   */
  returnOrigins: list(portalOrigin, 'an array of origins'),
  /**
   * The base of session URLs, if browsers use an address other than `publicUrl`.
   * @default `publicUrl`
   */
  baseUrl: readPublicUrl,
  /**
   * The look of the portal.
   * @default {}
   */
  theme: readTheme,
  /**
   * How customers manage their API keys: in the portal with the capability `keys`, and in the API with a key that has
   * the scope `api_keys:manage`, even without a portal. Needs a key lookup with a `store`, such as `postgresKeyLookup`;
   * without one, or with `false`, these operations do not exist.
   * @default {}
   */
  keys: readPortalKeysOption,
  /**
   * Texts for more languages, or replacements for built-in ones, by locale, such as `{ it: {…} }`. The type
   * `PortalMessages` shows missing texts.
   * @default {}
   */
  messages: (value: Record<string, PortalMessages> = {}, path: string) => readMessages(value, path)
}

/** The option `portal`: a page where a tenant's team manages its webhooks. */
export interface PortalOptions extends OptionsOf<typeof portalOptions> {
  /**
   * Keys of 32 bytes that seal sessions (AES-256-GCM): the first seals, all of them open. Every process of the API
   * needs the same keys. Removing a key ends the sessions it sealed.
   */
  secretKeys: readonly Uint8Array[]
}

/** The settings of the portal. */
export interface PortalSettings extends SettingsOf<typeof portalOptions> {
  secretKeys: readonly Uint8Array[]
}

/** Returns the settings of the portal; `null` without one. Throws `invalid_option`. */
export function readPortal (value: PortalOptions | undefined, path: string): PortalSettings | null {
  if (value === undefined) return null
  const expected = 'an object such as { secretKeys }'
  // Messages never contain the value: it may be a key.
  assertOption(typeof value !== 'string', path, expected, 'text')
  assertObject(value, path, expected)
  return readOptions(value, { secretKeys: readPortalKeys, ...portalOptions }, path)
}

const httpOptions = {
  /**
   * The path of the public API; each tenant's API is at `{prefix}/:tenant_slug`.
   * @default '/api/v1/public'
   */
  prefix: matching((text) => /^(\/[A-Za-z0-9\-._~]+)+$/.test(text), 'a path such as /api/v1/public', '/api/v1/public'),
  /**
   * More fields of a candidate to publish, as a TypeBox object (0.34 or 1.x). The storage's rows must have them.
   * A request whose rows do not fit the schema gets 500, and the log names the field.
   * @default none
   */
  candidateFields: fields('id', 'full_name', 'headline', 'source_id'),
  /**
   * More fields of a job to publish, as a TypeBox object (0.34 or 1.x). The storage's rows must have them.
   * A request whose rows do not fit the schema gets 500, and the log names the field.
   * @default none
   */
  jobFields: fields('id', 'name', 'status'),
  /**
   * Adds `error.details` to a 400: the invalid fields, and why.
   * @default false
   */
  errorDetails: flag(false),
  /**
   * Returns the id of a request: 1 to 200 visible ASCII characters, without spaces.
   * @default `req_` and 32 random hexadecimal digits
   */
  requestId: orNull(callable<(request: FastifyRequest) => string>()),
  /**
   * Serves the OpenAPI document at `{prefix}/openapi.json`, without a key. An object sets its texts.
   * @default true
   */
  openapi: readOpenApi,
  /**
   * Limits the requests per key. Needs the package `@fastify/rate-limit`. `true` is short for `{}`.
   * @default false
   */
  rateLimit: readRateLimit,
  /**
   * Your own operations below `{prefix}/:tenant_slug`, with the same key check, errors, request ids and validation. The
   * document lists them too.
   * @default none
   */
  routes: readRoutes,
  /**
   * Serves an MCP server for the agents of each tenant at `{prefix}/:tenant_slug/mcp`. Needs the package
   * `@modelcontextprotocol/server`. `true` is short for `{}`. Experimental: it follows the specification, and may
   * change in minor versions.
   * @default false
   */
  mcp: readMcp
}

/** The options of the public API. */
interface HttpOptions extends OptionsOf<typeof httpOptions> {
  /** Finds the owner of an API key. */
  keyLookup: KeyLookup
}

/** The settings of the public API. */
export interface HttpSettings extends SettingsOf<typeof httpOptions> {
  keyLookup: KeyLookup
  /** Precedes every path in responses; can be empty. */
  publicUrl: string
}

/** The options of `createRecruiting`, which the plugin also accepts. */
export type RecruitingOptions<Events extends EventCatalogue = EventCatalogue> = SharedOptions & OptionalDefault<Events>

interface EventsOption<Events extends EventCatalogue> {
  /**
   * The events this host emits: a map from names such as `application.created` (`[a-z0-9_]+(\.[a-z0-9_]+)+`) to TypeBox
   * objects (0.34 or 1.x) for their `data`. In TypeScript, the plugin expects the catalogue that `Register` names.
   * @default defaultEvents
   */
  events: Events
}

/** Required if `Register` names a catalogue: otherwise `emit` would reject events that compile. */
type OptionalDefault<Events extends EventCatalogue> = DefaultEvents extends Events
  ? Partial<EventsOption<Events>>
  : EventsOption<Events>

const sharedOptions = {
  /**
   * A page at `{prefix}/portal/` where a tenant's team manages its webhooks, and `portal.createSession`, which creates
   * sessions for the team. `createRecruiting` only provides the latter.
   * @default none
   */
  portal: readPortal,
  /**
   * The server's address for clients, such as `https://api.example.com`, without query and fragment. If a proxy removes
   * a path prefix, include it: `https://example.com/ats`. `Link`, `Location`, the URLs of portal sessions and the
   * `servers` of the document begin with it.
   * @default none: these are paths on this server
   */
  publicUrl: readPublicUrl
}

/** The options of the engine and the portal. */
interface SharedOptions extends EngineOptions, OptionsOf<typeof sharedOptions> {}

/** The settings of the engine and the portal. */
interface RecruitingSettings extends EngineSettings, SettingsOf<typeof sharedOptions> {}

const recruitingReaders = { storage: readEventStorage, events: readEvents, ...engineOptions, ...sharedOptions }

/** The options of the plugin. */
export type RecruitingApiOptions<Events extends EventCatalogue = RegisteredEvents> = ApiOptions &
  OptionalDefault<Events>

interface ApiOptions extends SharedOptions, HttpOptions {
  /** The storage of everything, including candidates and jobs. */
  storage: AnyRecruitingStorage
}

/** The settings of the plugin. */
interface ApiSettings extends RecruitingSettings, HttpSettings {
  storage: RecruitingStorage<Id, Id, Id, Id>
}

/** The settings of `createRecruiting`, including the prefix of the API. */
interface StandaloneSettings extends RecruitingSettings, Pick<HttpSettings, 'prefix'> {}

const keyLookup = callable<KeyLookup>()

const readers = { ...recruitingReaders, ...httpOptions }

/** Checks the options of the plugin. Throws `invalid_option`. */
export function readApiOptions (options: RecruitingApiOptions): ApiSettings {
  const { logger } = options as { logger?: unknown }
  assertOption(logger === undefined, 'logger', 'none, because the plugin logs with app.log', logger)
  // Two options belong to Fastify's `register`.
  return readOptions(options, { ...readers, storage: readStorage, keyLookup, logLevel: ignore, logSerializers: ignore })
}

/** Checks the options of `createRecruiting`, which also accepts those of the plugin. Throws `invalid_option`. */
export function readRecruitingOptions (options: RecruitingOptions): StandaloneSettings {
  return readOptions(options, { ...readers, keyLookup: optional(keyLookup), logger: ignore })
}

function ignore (): void {}
