import { isIP } from 'node:net'
import { maxWebhooks } from '../api/webhooks.js'
import type { AuditListener } from '../observe/audit.js'
import type { OpenTelemetryApi } from '../observe/tracing.js'
import type { DisableRule, EventStorage } from '../ports/index.js'
import { readClock } from '../shared/clock.js'
import { readField } from '../shared/fields.js'
import { readIds } from '../shared/ids.js'
import { parseCidr } from '../shared/networks.js'
import {
  type OptionsOf, type Reader, type SettingsOf, assertKnownNames, assertObject, assertOption, callable, checked, flag,
  integer, limit, list, matching, orNull, readKeys, readOptions
} from '../shared/read-options.js'
import type { SecretFunctions, SecretKeys } from '../shared/sealing.js'
import type { TenantIdLookup, TenantSlugLookup } from '../shared/tenants.js'
import { parseUrl } from '../shared/text.js'
import type { EventSchemas } from '../api/catalogue.js'
import type { HttpProxy } from './ssrf/proxy.js'

function readProxyUrl (value: unknown, path: string): HttpProxy {
  const expected = 'a URL such as http://proxy.example:3128'
  assertOption(typeof value === 'string', path, expected, value)
  const url = parseUrl(value)
  assertOption(url !== null && !/[\p{Cc}\s]/u.test(value), path, expected, 'text that is not a URL')
  const { protocol, host, hostname, port, pathname, search, hash, username, password } = url
  assertOption(protocol === 'http:' || protocol === 'https:', path, expected, 'another protocol')
  assertOption(port !== '0', path, expected, 'port 0')
  assertOption(pathname + search + hash === '/', path, expected, 'a URL with a path')
  const credentials = decodeCredentials(username, password)
  assertOption(
    credentials !== null,
    path,
    'percent-encoded credentials without control characters, the user name without a colon',
    'others'
  )
  const authorization = username + password === '' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`
  return { protocol, host, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port, authorization }
}

/** Returns the credentials for `Basic` (RFC 7617, section 2); `null` if it cannot express them. */
function decodeCredentials (username: string, password: string): string | null {
  try {
    const user = decodeURIComponent(username)
    const credentials = `${user}:${decodeURIComponent(password)}`
    return user.includes(':') || /\p{Cc}/u.test(credentials) ? null : credentials
  } catch {
    return null
  }
}

const cidr = matching((text) => parseCidr(text) !== null, 'a CIDR such as 10.0.0.0/8')

/** Rejects addresses with a zone, such as `fe80::1%eth0`, which are only valid on one machine. */
const addressOrCidr = matching(
  (text) => parseCidr(text) !== null || (isIP(text) !== 0 && !text.includes('%')),
  'an IP address or a CIDR, such as 203.0.113.7 or 203.0.113.0/24'
)

const environmentName = matching(
  (text) => text !== '' && text.length <= 64 && !/\p{Cc}/u.test(text),
  '1 to 64 characters without control characters'
)

const retrySeconds = checked<number>(
  (seconds) => typeof seconds === 'number' && seconds >= 0 && seconds <= 31_536_000,
  'seconds from 0 to 31536000'
)

function readSecretKeys (value: SecretKeys = [], path: string): SecretKeys {
  if (!hasFunctions(value)) return readKeys(value, path)
  const { seal, open, keys = [] } = value
  assertKnownNames(value, { seal, open, keys }, `${path}.`)
  for (const [name, given] of Object.entries({ seal, open })) {
    assertOption(typeof given === 'function', `${path}.${name}`, 'a function', typeof given)
  }
  readKeys(keys, `${path}.keys`)
  return value
}

function hasFunctions (value: SecretKeys): value is SecretFunctions {
  return typeof value === 'object' && value !== null && ('seal' in value || 'open' in value)
}

const openTelemetryApi = checked<OpenTelemetryApi>(
  (api) => typeof readField(readField(api, 'trace'), 'getTracer') === 'function',
  'the module @opentelemetry/api'
)

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

export const engineOptions = {
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
   * for each request and each call with a `tenantSlug`, unless `tenantCacheSeconds` is set. It must return within 5
   * seconds.
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
   * How long requests and `emit` cache the results of `tenantId` and `tenantSlug`, in seconds from the start of the
   * lookup, 0 to 3,600. `null` is not cached. `renameTenant`, `removeTenant` and their commands clear the caches of all
   * processes within 5 seconds; without them, a change takes effect after this time. 0 disables the cache.
   * @default 0
   */
  tenantCacheSeconds: integer(0, 3600, 0),
  /**
   * Maximum number of webhooks per tenant, 1 to 10,000, or a function that returns it for `{ tenantSlug, tenantId }`,
   * such as the limit of the tenant's plan. The result is cached for a minute. If it throws, returns anything else or
   * takes longer than 5 seconds, no webhook is created and the request gets 500. A lower limit deletes no webhooks.
   * @default 50
   */
  maxWebhooksPerTenant: limit<LimitedTenant>(1, maxWebhooks, 50),
  /**
   * Maximum number of a tenant's webhooks that one API key or portal user can create, 1 to 10,000, so that a connector
   * leaves room for others. Your code has no such limit. A rotated key starts again, because it has a new id.
   * @default none
   */
  maxWebhooksPerCreator: orNull(integer(1, maxWebhooks)),
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
   * Days to keep changes of candidates, jobs and own lists for `sync`, 1 to 3,650. Clients that sync less often get 410
   * and start again.
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
export interface EngineOptions extends OptionsOf<typeof engineOptions> {
  /** The storage of webhooks and deliveries. */
  storage: EventStorage
}

/** The settings of the engine. */
export interface EngineSettings extends SettingsOf<typeof engineOptions> {
  storage: EventStorage
  events: EventSchemas
}
