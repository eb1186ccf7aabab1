import { defaultRequests, maxRequests } from '../http/limits/limits.js'
import type { RateLimitBudgetSettings, RateLimitCaller, RateLimitSettings } from '../http/settings.js'
import { limit } from '../shared/cached.js'
import { expect } from '../shared/expect.js'
import { omitUndefined } from '../shared/fields.js'
import { type Readers, expectObject, flag, integer, readOptions } from '../shared/read-options.js'

/** A number of requests in a window of time. */
export interface RateLimitBudget {
  /**
   * Maximum number of requests, 1 to 1,000,000,000, or a function that returns this number for a `RateLimitCaller`, such as the limit of
   * the tenant's plan. Its result counts for a minute. If it throws, returns anything else or takes longer than 5 seconds, the
   * request gets 500. The `max` of `failedKeys` is a number.
   * @default 1000 for a key, 10 for an operation, 20 for failed keys
   */
  max?: number | ((caller: RateLimitCaller) => number | Promise<number>)
  /**
   * The window, after which the count starts again: milliseconds, 1,000 to 86,400,000, or text such as `1 minute`.
   * @default 60000
   */
  timeWindow?: number | string
}

/**
 * Limits for requests, through `@fastify/rate-limit`: a budget for each key, and the store of the counts. Requests for the
 * document, which need no key, have the same budget for each address, or the default if `max` is a function.
 */
export interface RateLimitOptions extends RateLimitBudget {
  /**
   * Counts all keys of a tenant together, in each budget. Sessions of the portal still count by actor.
   * @default false
   */
  perTenant?: boolean
  /**
   * Operations with a separate budget for each key, by `operationId`.
   * @default { dispatchWebhookTest: { max: 10 }, replayWebhook: { max: 10 } }
   */
  operations?: Record<string, RateLimitBudget>
  /**
   * Invalid keys allowed per address and window. After that, requests with a key that was not recently valid get 429. An
   * IPv6 address counts as its /64; requests without an address count together. Behind a proxy, name the proxy in
   * `trustProxy`: otherwise all callers share the proxy's address. With `trustProxy: true` callers choose their address.
   * @default { max: 20 }
   */
  failedKeys?: Omit<RateLimitBudget, 'max'> & { max?: number } | false
  /** An ioredis client, so that several machines count together. The host closes it. */
  redis?: { defineCommand: unknown }
  /**
   * The prefix of keys in Redis.
   * @default 'recruiting-rate-limit-'
   */
  nameSpace?: string
  /** A store class for `@fastify/rate-limit`, instead of memory and Redis. */
  store?: { prototype: { incr: unknown } }
  /**
   * Keys and addresses remembered in memory per budget, 1 to 10,000,000.
   * @default 5000
   */
  cache?: number
  /**
   * Lets requests pass uncounted while the store fails. Otherwise they get 500.
   * @default false
   */
  skipOnError?: boolean
}

/** Returns the settings of the limits, `null` if there are none. Throws `invalid_option`. */
export function readRateLimit (value: unknown = false, path: string): RateLimitSettings | null {
  if (value === false) return null
  const options = value === true ? {} : value
  expectObject(options, path, 'a boolean or an object')
  const { redis, store, ...settings } = readOptions(options, rateLimitReaders, path)
  return { ...settings, ...omitUndefined({ redis, store }) }
}

/** The default and the check of each option of a budget. */
const budgetReaders = (max: number): Readers<RateLimitBudgetSettings> => ({ max: limit(1, maxRequests, max), timeWindow: readTimeWindow })

const failedKeysReaders: Readers<RateLimitBudgetSettings<number>> = { max: integer(1, maxRequests, 20), timeWindow: readTimeWindow }

/** The default and the check of each option. */
const rateLimitReaders: Readers<StoredLimits> = {
  ...budgetReaders(defaultRequests),
  perTenant: flag(false),
  operations: readOperations,
  failedKeys: (value = {}, path) => value === false ? false : readOptions(value, failedKeysReaders, path),
  redis: readRedis,
  nameSpace: readNameSpace,
  store: readStore,
  cache: integer(1, 10_000_000, 5000),
  skipOnError: flag(false)
} satisfies Readers<Pick<StoredLimits, keyof RateLimitOptions>>

type StoredLimits = Omit<RateLimitSettings, keyof Stores> & Stores

/** Where counts are kept, if not in memory. */
interface Stores {
  redis: RateLimitOptions['redis'] | undefined
  store: RateLimitOptions['store'] | undefined
}

function readOperations (value: unknown = {}, path: string): Record<string, RateLimitBudgetSettings> {
  expectObject(value, path)
  const budgets = Object.entries({ dispatchWebhookTest: {}, replayWebhook: {}, ...value })
  return Object.fromEntries(budgets.map(([id, budget]) => [id, readOptions(budget, budgetReaders(10), `${path}.${id}`)]))
}

function readRedis (value: unknown, path: string): Stores['redis'] {
  const redis = value as Stores['redis']
  expect(redis === undefined || typeof redis?.defineCommand === 'function', path, 'a client such as that of ioredis', value)
  return redis
}

function readStore (value: unknown, path: string): Stores['store'] {
  const store = value as Stores['store']
  expect(store === undefined || typeof store?.prototype?.incr === 'function', path, 'a class with the method incr', value)
  return store
}

function readNameSpace (value: unknown = 'recruiting-rate-limit-', path: string): string {
  expect(typeof value === 'string', path, 'a string', value)
  return value
}

function readTimeWindow (value: unknown = 60_000, path: string): number {
  const timeWindowMs = typeof value === 'string' ? parseTime(value) : value
  const isTime = typeof timeWindowMs === 'number' && Number.isInteger(timeWindowMs) && timeWindowMs >= 1000 && timeWindowMs <= 86_400_000
  expect(isTime, path, 'milliseconds from 1000 to 86400000, or text such as 1 minute', value)
  return timeWindowMs
}

const unitsMs = new Map(Object.entries({
  '': 1,
  ms: 1,
  msec: 1,
  millisecond: 1,
  s: 1000,
  sec: 1000,
  second: 1000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hr: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000
}))

/** Parses text as `@fastify/rate-limit` does, into milliseconds. `NaN` for malformed text, which would mean no limit there. */
function parseTime (text: string): number {
  const [, amount, unit = ''] = /^(\d*\.?\d+) *([a-z]*)$/.exec(text.toLowerCase()) ?? []
  const unitMs = unitsMs.get(unit) ?? unitsMs.get(unit.replace(/s$/, '')) ?? Number.NaN
  return Number(amount) * unitMs
}
