import { isIP } from 'node:net'
import type { Clock, DisableRule } from '../ports/index.js'
import { readClock } from '../shared/clock.js'
import { expect } from '../shared/expect.js'
import { type Reader, type Readers, expectObject, flag, integer, readOptions } from '../shared/read-options.js'
import { parseCidr } from '../shared/addresses.js'
import { defaultRetrySchedule } from '../webhooks/queue/outcome.js'
import type { DeliverySettings } from '../webhooks/settings.js'
import { type ProxyOptions, readProxy } from './proxy.js'

/** Options of deliveries. */
export interface DeliveryOptions {
  /**
   * Whether this process delivers. Without it, events are recorded here and another process delivers them.
   * @default true
   */
  worker?: boolean
  /**
   * Maximum number of attempts in flight in this process, 1 to 10,000. Test notifications count too. In a process that
   * delivers, they use at most three quarters of these slots.
   * @default 64
   */
  concurrency?: number
  /**
   * Maximum number of attempts in flight to one webhook, 1 to 1,000: deliveries of all processes, and tests of the same
   * process.
   * @default 4
   */
  perEndpoint?: number
  /**
   * The deadline of an attempt in milliseconds, over lookup, connection, TLS and response together, 100 to 120,000.
   * @default 15000
   */
  timeoutMs?: number
  /**
   * How long a worker holds a delivery it has claimed, in milliseconds: at least `timeoutMs` plus 5,000. If a worker dies, its
   * deliveries are delayed by up to this time.
   * @default 60000, or twice `timeoutMs` if that is more
   */
  leaseMs?: number
  /**
   * Seconds before each attempt, counted from the previous one: 1 to 100 numbers of 0 or more, the first for the first attempt.
   * A delivery is given up after the last.
   * @default [0, 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400]
   */
  retrySchedule?: readonly number[]
  /**
   * How often the storage is polled for due deliveries without a hint, in milliseconds, 10 to 60,000.
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
   * Non-public networks that notifications may go to, as CIDRs: for development, and for receivers in the vendor's own network.
   * Link-local addresses and metadata services must be named exactly, as a /32 or /128.
   * @default []
   */
  allowNetworks?: readonly string[]
  /**
   * Networks that get no notifications, as CIDRs, such as the vendor's own public addresses. They take precedence over
   * `allowNetworks`.
   * @default []
   */
  denyNetworks?: readonly string[]
  /**
   * Sends through an HTTP proxy. This process still resolves and checks addresses, and asks the proxy (`CONNECT`) for the
   * checked address, even for `http:` targets.
   * @default none: proxies of the environment are ignored
   */
  proxy?: ProxyOptions
  /**
   * The local address to connect from. Receivers need an address of the same IP version.
   * @default the system chooses
   */
  localAddress?: string
  /**
   * The addresses that notifications come from, for the firewalls of receivers: 1 to 100 IP addresses or CIDRs. The portal and
   * the OpenAPI document show them to everyone. It does not change how notifications are sent. Set it in every process that
   * serves the portal or the document.
   * @default none
   */
  sourceIps?: readonly string[]
  /**
   * When a webhook that keeps failing is disabled.
   * @default { failingForSeconds: 432000, failedDeliveries: 10 }
   */
  disableAfter?: DisableRule
  /**
   * Bytes of an endpoint's textual response to keep with each attempt, for the delivery log, 0 to 4,096. Compressed
   * responses are not kept. Responses may contain personal data; `erase` removes them with the event.
   * @default 0
   */
  responseExcerptBytes?: number
  /**
   * Sends the W3C Trace Context header `traceparent`, so that receivers can continue the trace of the attempt. Needs the
   * option `opentelemetry`.
   * @default false
   */
  propagateTrace?: boolean
  /**
   * Days to keep ended deliveries and their events, 1 to 3,650.
   * @default 30
   */
  retentionDays?: number
  /**
   * The name of this installation, such as `production`, 1 to 64 characters. The database belongs to the first worker that has
   * one. Processes with a different name send nothing, so a disk copy of production in staging does not reach production's
   * receivers.
   * @default none
   */
  environment?: string
  /**
   * The clock, for tests.
   * @default the system's
   */
  clock?: Clock
}

/** Returns the settings of deliveries. Throws `invalid_option`. */
export function readDelivery (value: unknown = {}, path: string): DeliverySettings {
  const options = value === false ? { worker: false } : value
  expectObject(options, path, 'an object or false')
  const { timeoutMs = defaultTimeoutMs } = options as DeliveryOptions
  return readOptions(options, deliveryReaders(timeoutMs), path)
}

const defaultTimeoutMs = 15_000

/** The default and the check of each option. A lease is longer than an attempt. */
const deliveryReaders = (timeoutMs: number): Readers<DeliverySettings> => ({
  worker: flag(true),
  concurrency: integer(1, 10_000, 64),
  perEndpoint: integer(1, 1000, 4),
  timeoutMs: integer(100, 120_000, defaultTimeoutMs),
  leaseMs: integer(timeoutMs + 5000, 3_600_000, Math.max(60_000, timeoutMs * 2)),
  retrySchedule: readSchedule,
  pollMs: integer(10, 60_000, 1000),
  closeGraceMs: integer(0, 120_000, 10_000),
  allowHttp: flag(false),
  allowNetworks: readNetworks,
  denyNetworks: readNetworks,
  proxy: readProxy,
  localAddress: readLocalAddress,
  sourceIps: readSourceIps,
  disableAfter: readDisableRule,
  responseExcerptBytes: integer(0, 4096, 0),
  retentionDays: integer(1, 3650, 30),
  propagateTrace: flag(false),
  environment: readEnvironment,
  clock: readClock
} satisfies Readers<Pick<DeliverySettings, keyof DeliveryOptions>>)

function readSchedule (schedule: unknown = defaultRetrySchedule, path: string): readonly number[] {
  expect(Array.isArray(schedule) && schedule.length >= 1 && schedule.length <= 100, path, '1 to 100 numbers', schedule)
  for (const [index, seconds] of schedule.entries()) {
    const isValid = typeof seconds === 'number' && seconds >= 0 && seconds <= 31_536_000
    expect(isValid, `${path}[${index}]`, 'seconds from 0 to 31536000', seconds)
  }
  return schedule
}

function readNetworks (networks: unknown = [], path: string): readonly string[] {
  expect(Array.isArray(networks), path, 'an array of CIDRs', networks)
  for (const [index, cidr] of networks.entries()) {
    const isValid = typeof cidr === 'string' && parseCidr(cidr) !== null
    expect(isValid, `${path}[${index}]`, 'a CIDR such as 10.0.0.0/8', cidr)
  }
  return networks
}

function readLocalAddress (address: unknown = null, path: string): string | null {
  const isValid = address === null || (typeof address === 'string' && isIP(address) !== 0)
  expect(isValid, path, 'an IP address', address)
  return address
}

function readSourceIps (addresses: unknown, path: string): readonly string[] {
  if (addresses === undefined) return []
  const expected = 'an array of 1 to 100 IP addresses or CIDRs'
  expect(Array.isArray(addresses), path, expected, addresses)
  expect(addresses.length >= 1 && addresses.length <= 100, path, expected, `${addresses.length} entries`)
  for (const [index, address] of addresses.entries()) {
    const isValid = typeof address === 'string' && isAddressOrCidr(address)
    expect(isValid, `${path}[${index}]`, 'an IP address or a CIDR, such as 203.0.113.7 or 203.0.113.0/24', address)
  }
  return addresses
}

/** An address with a zone, such as `fe80::1%eth0`, means something on one machine only. */
function isAddressOrCidr (text: string): boolean {
  return parseCidr(text) !== null || (isIP(text) !== 0 && !text.includes('%'))
}

function readEnvironment (name: unknown = null, path: string): string | null {
  const isValid = name === null || (typeof name === 'string' && name.length >= 1 && name.length <= 64 && !/\p{Cc}/u.test(name))
  expect(isValid, path, '1 to 64 characters without control characters', name)
  return name
}

const readDisableRule: Reader<DisableRule> = (rule = { failingForSeconds: 432_000, failedDeliveries: 10 }, path) =>
  readOptions(rule, { failingForSeconds: integer(0, 31_536_000), failedDeliveries: integer(1, 1_000_000) }, path)
