import { isIP } from 'node:net'
import type { Clock, DisableRule } from '../ports/index.js'
import { readClock } from '../shared/clock.js'
import { expect } from '../shared/expect.js'
import { type Reader, type Readers, expectObject, flag, integer, readOptions } from '../shared/read-options.js'
import { parseCidr } from '../webhooks/guard/addresses.js'
import { defaultRetrySchedule } from '../webhooks/queue/retry.js'
import type { DeliverySettings } from '../webhooks/settings.js'
import { type ProxyOptions, readProxy } from './proxy.js'

/** How deliveries are made. */
export interface DeliveryOptions {
  /**
   * Whether this process delivers. Without it events are recorded here and delivered by another process.
   * @default true
   */
  worker?: boolean
  /**
   * Attempts in flight at most in this process, 1 to 10,000. Tests count; where this process delivers they take three
   * quarters at most.
   * @default 64
   */
  concurrency?: number
  /**
   * Attempts in flight at most to one webhook, 1 to 1,000: deliveries of all processes, and tests of the same process.
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
   * Networks that are never sent to, as CIDRs, such as the vendor's own public addresses. They win over `allowNetworks`.
   * @default []
   */
  denyNetworks?: readonly string[]
  /**
   * Sends through an HTTP proxy. Addresses are still resolved and checked here, and the proxy is asked (`CONNECT`) for the
   * checked address, also for `http:` targets.
   * @default none: proxies of the environment are ignored
   */
  proxy?: ProxyOptions
  /**
   * The address of this machine that connections come from. Receivers need an address of the same family.
   * @default the system chooses
   */
  localAddress?: string
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
  disableAfter: readDisableRule,
  responseExcerptBytes: integer(0, 4096, 0),
  retentionDays: integer(1, 3650, 30),
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

const readDisableRule: Reader<DisableRule> = (rule = { failingForSeconds: 432_000, failedDeliveries: 10 }, path) =>
  readOptions(rule, { failingForSeconds: integer(0, 31_536_000), failedDeliveries: integer(1, 1_000_000) }, path)
