import { isIP } from 'node:net'
import type { DisableRule } from '../../ports/index.js'
import { parseCidr } from '../../shared/addresses.js'
import { readClock } from '../../shared/clock.js'
import {
  assertOption,
  type OptionsOf,
  type Reader,
  type SettingsOf,
  assertObject,
  flag,
  integer,
  list,
  matching,
  orNull,
  readOptions
} from '../../shared/read-options.js'
import { defaultRetrySchedule } from '../queue/outcome.js'
import { readProxy } from './proxy.js'

const cidr = matching((text) => parseCidr(text) !== null, 'a CIDR such as 10.0.0.0/8')

/** An address with a zone, such as `fe80::1%eth0`, means something on one machine only. */
const addressOrCidr = matching(
  (text) => parseCidr(text) !== null || (isIP(text) !== 0 && !text.includes('%')),
  'an IP address or a CIDR, such as 203.0.113.7 or 203.0.113.0/24'
)

const environmentName = matching(
  (text) => text !== '' && text.length <= 64 && !/\p{Cc}/u.test(text),
  '1 to 64 characters without control characters'
)

const retrySeconds: Reader<number> = (seconds, path) => {
  assertOption(
    typeof seconds === 'number' && seconds >= 0 && seconds <= 31_536_000,
    path,
    'seconds from 0 to 31536000',
    seconds
  )
  return seconds
}

const readDisableRule: Reader<DisableRule> = (rule = { failingForSeconds: 432_000, failedDeliveries: 10 }, path) =>
  readOptions(rule, { failingForSeconds: integer(0, 31_536_000), failedDeliveries: integer(1, 1_000_000) }, path)

/** The doc, type, default and check of each option. */
export const deliveryOptions = {
  /**
   * Whether this process delivers. Without it, events are recorded here and another process delivers them.
   * @default true
   */
  worker: flag(true),
  /**
   * Maximum number of attempts in flight in this process, 1 to 10,000. Test notifications count too. In a process that
   * delivers, they use at most three quarters of these slots.
   * @default 64
   */
  concurrency: integer(1, 10_000, 64),
  /**
   * Maximum number of attempts in flight to one webhook, 1 to 1,000: deliveries of all processes, and tests of the same
   * process.
   * @default 4
   */
  perEndpoint: integer(1, 1000, 4),
  /**
   * The deadline of an attempt in milliseconds, over lookup, connection, TLS and response together, 100 to 120,000.
   * @default 15000
   */
  timeoutMs: integer(100, 120_000, 15_000),
  /**
   * How long a worker holds a delivery it has claimed, in milliseconds: at least `timeoutMs` plus 5,000. If a worker
   * dies, its deliveries are delayed by up to this time.
   * @default 60000, or twice `timeoutMs` if that is more
   */
  leaseMs: (value?: number) => value,
  /**
   * Seconds before each attempt, counted from the previous one: 1 to 100 numbers of 0 or more, the first for the
   * first attempt. A delivery is given up after the last.
   * @default [0, 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400]
   */
  retrySchedule: list(retrySeconds, '1 to 100 numbers', { minimum: 1, maximum: 100, usual: defaultRetrySchedule }),
  /**
   * How often the storage is polled for due deliveries without a hint, in milliseconds, 10 to 60,000.
   * @default 1000
   */
  pollMs: integer(10, 60_000, 1000),
  /**
   * How long closing waits for attempts in flight, in milliseconds, 0 to 120,000.
   * @default 10000
   */
  closeGraceMs: integer(0, 120_000, 10_000),
  /**
   * Lets webhooks have `http:` addresses. For development.
   * @default false
   */
  allowHttp: flag(false),
  /**
   * Non-public networks that notifications may go to, as CIDRs: for development, and for receivers in the vendor's
   * own network. Link-local addresses and metadata services must be named exactly, as a /32 or /128.
   * @default []
   */
  allowNetworks: list(cidr, 'an array of CIDRs'),
  /**
   * Networks that get no notifications, as CIDRs, such as the vendor's own public addresses. They take precedence over
   * `allowNetworks`.
   * @default []
   */
  denyNetworks: list(cidr, 'an array of CIDRs'),
  /**
   * Sends through an HTTP proxy. This process still resolves and checks addresses, and asks the proxy (`CONNECT`) for
   * the checked address, even for `http:` targets.
   * @default none: proxies of the environment are ignored
   */
  proxy: readProxy,
  /**
   * The local address to connect from. Receivers need an address of the same IP version.
   * @default the system chooses
   */
  localAddress: orNull(matching((text) => isIP(text) !== 0, 'an IP address')),
  /**
   * The addresses that notifications come from, for the firewalls of receivers: 1 to 100 IP addresses or CIDRs. The
   * portal and the OpenAPI document show them to everyone. It does not change how notifications are sent. Set it in
   * every process that serves the portal or the document.
   * @default none
   */
  sourceIps: list(addressOrCidr, 'an array of 1 to 100 IP addresses or CIDRs', { minimum: 1, maximum: 100 }),
  /**
   * When a webhook that keeps failing is disabled.
   * @default { failingForSeconds: 432000, failedDeliveries: 10 }
   */
  disableAfter: readDisableRule,
  /**
   * Bytes of an endpoint's textual response to keep with each attempt, for the delivery log, 0 to 4,096. Compressed
   * responses are not kept. Responses may contain personal data; `erase` removes them with the event.
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
   * Days to keep ended deliveries and their events, 1 to 3,650.
   * @default 30
   */
  retentionDays: integer(1, 3650, 30),
  /**
   * The name of this installation, such as `production`, 1 to 64 characters. The database belongs to the first worker
   * that has one. Processes with a different name send nothing, so a disk copy of production in staging does not
   * reach production's receivers.
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

/** The settings of deliveries: checked options with their defaults. */
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
