import { limit } from '../../shared/cached.js'
import {
  assertOption,
  type OptionsOf,
  type Reader,
  type SettingsOf,
  assertObject,
  flag,
  integer,
  optional,
  readOptions,
  switchable
} from '../../shared/read-options.js'

/** The most requests that a limit may allow in a window. */
export const maxRequests = 1_000_000_000

/** Requests of a key in a window by default. */
export const defaultRequests = 1000

/** Who sends a request that counts against a limit. */
export interface RateLimitCaller {
  /** The slug in the path. */
  tenantSlug: string
  /** The id of the tenant; without the option `tenantId` it is the slug. */
  tenantId: string
  /** The id that the key lookup returned; `null` for a session of the portal. */
  keyId: string | null
  /** The scopes of the key or the session. */
  scopes: readonly string[]
}

/** The doc, type, default and check of each option of a budget. */
const budgetOptions = {
  /**
   * Maximum number of requests, 1 to 1,000,000,000, or a function that returns this number for a `RateLimitCaller`,
   * such as the limit of the tenant's plan. Its result counts for a minute. If it throws, returns anything else or
   * takes longer than 5 seconds, the request gets 500. The `max` of `failedKeys` is a number.
   * @default 1000 for a key, 10 for an operation, 20 for failed keys
   */
  max: limit<RateLimitCaller>(1, maxRequests, defaultRequests),
  /**
   * The window, after which the count starts again: milliseconds, 1,000 to 86,400,000, or text such as `1 minute`.
   * @default 60000
   */
  timeWindow: readTimeWindow
}

/** A number of requests in a window of time. */
export interface RateLimitBudget extends OptionsOf<typeof budgetOptions> {}

const operationOptions = { ...budgetOptions, max: limit<RateLimitCaller>(1, maxRequests, 10) }
const failedKeysOptions = { ...budgetOptions, max: integer(1, maxRequests, 20) }

/** The budget of invalid keys. */
export interface FailedKeysBudget extends OptionsOf<typeof failedKeysOptions> {}

/** The doc, type, default and check of each option. */
const limitOptions = {
  /**
   * Counts all keys of a tenant together, in each budget. Sessions of the portal still count by actor.
   * @default false
   */
  perTenant: flag(false),
  /**
   * Operations with a separate budget for each key, by `operationId`.
   * @default { dispatchWebhookTest: { max: 10 }, replayWebhook: { max: 10 } }
   */
  operations: readOperations,
  /**
   * Invalid keys allowed per address and window. After that, requests with a key that was not recently valid get 429.
   * An IPv6 address counts as its /64; requests without an address count together. Behind a proxy, name the proxy in
   * `trustProxy`: otherwise all callers share the proxy's address. With `trustProxy: true` callers choose their
   * address.
   * @default { max: 20 }
   */
  failedKeys: readFailedKeys,
  /** An ioredis client, so that several machines count together. The host closes it. */
  redis: optional(readRedis),
  /**
   * The prefix of keys in Redis.
   * @default 'recruiting-rate-limit-'
   */
  nameSpace: readNameSpace,
  /** A store class for `@fastify/rate-limit`, instead of memory and Redis. */
  store: optional(readStore),
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
 * Limits for requests, through `@fastify/rate-limit`: a budget for each key, and the store of the counts. Requests
 * for the document, which need no key, have the same budget for each address, or the default if `max` is a function.
 */
export interface RateLimitOptions extends RateLimitBudget, OptionsOf<typeof limitOptions> {}

/** The settings of the limits: checked options with their defaults. */
export interface RateLimitSettings extends SettingsOf<typeof budgetOptions>, SettingsOf<typeof limitOptions> {}

/** Returns the settings of the limits, `null` if there are none. Throws `invalid_option`. */
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

function readRedis (redis: { defineCommand: unknown } | undefined, path: string): { defineCommand: unknown } {
  assertOption(typeof redis?.defineCommand === 'function', path, 'a client such as that of ioredis', redis)
  return redis
}

function readStore (
  store: { prototype: { incr: unknown } } | undefined,
  path: string
): { prototype: { incr: unknown } } {
  assertOption(typeof store?.prototype?.incr === 'function', path, 'a class with the method incr', store)
  return store
}

function readNameSpace (value = 'recruiting-rate-limit-', path: string): string {
  assertOption(typeof value === 'string', path, 'a string', value)
  return value
}

function readTimeWindow (value: number | string = 60_000, path: string): number {
  const timeWindowMs = typeof value === 'string' ? parseTime(value) : value
  const isTime =
    typeof timeWindowMs === 'number' &&
    Number.isInteger(timeWindowMs) &&
    timeWindowMs >= 1000 &&
    timeWindowMs <= 86_400_000
  assertOption(isTime, path, 'milliseconds from 1000 to 86400000, or text such as 1 minute', value)
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

/**
 * Parses text as `@fastify/rate-limit` does, into milliseconds. `NaN` for malformed text, which would mean no limit
 * there.
 */
function parseTime (text: string): number {
  const [, amount, unit = ''] = /^(\d*\.?\d+) *([a-z]*)$/.exec(text.toLowerCase()) ?? []
  const unitMs = unitsMs.get(unit) ?? unitsMs.get(unit.replace(/s$/, '')) ?? Number.NaN
  return Number(amount) * unitMs
}
