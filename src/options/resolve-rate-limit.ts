import { expect, expectInteger, expectNames } from '../shared/expect.js'
import type { RateLimitBudget, RateLimitBudgetSettings, RateLimitOptions, RateLimitSettings } from './rate-limit.js'

const storeNames = { redis: true, nameSpace: true, store: true, cache: true, skipOnError: true }
const budgetNames = { max: true, timeWindow: true }
const names = { ...budgetNames, operations: true, failedKeys: true, ...storeNames }

/** Checks how requests are limited, and fills in the defaults. */
export function resolveRateLimit (options: RateLimitOptions): RateLimitSettings {
  expect(typeof options === 'object' && options !== null, 'rateLimit', 'a boolean or an object', options)
  expectNames(options, names, 'rateLimit.')
  const { max, timeWindow, operations = {}, failedKeys = {}, ...store } = options
  const { redis, nameSpace = 'recruiting-rate-limit-', store: Store, cache = 5000, skipOnError = false } = store
  expect(redis === undefined || typeof redis?.defineCommand === 'function', 'rateLimit.redis', 'a client such as that of ioredis', redis)
  expect(typeof nameSpace === 'string', 'rateLimit.nameSpace', 'a string', nameSpace)
  const isStore = Store === undefined || typeof Store?.prototype?.incr === 'function'
  expect(isStore, 'rateLimit.store', 'a class with the method incr', Store)
  expectInteger(cache, 'rateLimit.cache', 1, 10_000_000)
  expect(typeof skipOnError === 'boolean', 'rateLimit.skipOnError', 'a boolean', skipOnError)
  expect(typeof operations === 'object' && operations !== null, 'rateLimit.operations', 'an object', operations)
  const all = Object.entries({ dispatchWebhookTest: {}, replayWebhook: {}, ...operations })
  return {
    ...resolveBudget({ max, timeWindow }, 'rateLimit', 1000),
    operations: Object.fromEntries(all.map(([id, budget]) => [id, resolveBudget(budget, `rateLimit.operations.${id}`, 10)])),
    failedKeys: failedKeys === false ? false : resolveBudget(failedKeys, 'rateLimit.failedKeys', 20),
    nameSpace,
    cache,
    skipOnError,
    ...(redis === undefined ? {} : { redis }),
    ...(Store === undefined ? {} : { store: Store })
  }
}

function resolveBudget (budget: object, path: string, usual: number): RateLimitBudgetSettings {
  expect(typeof budget === 'object' && budget !== null, path, 'an object', budget)
  expectNames(budget, budgetNames, `${path}.`)
  const { max = usual, timeWindow = 60_000 } = budget as RateLimitBudget
  expectInteger(max, `${path}.max`, 1, 1_000_000_000)
  const timeWindowMs = typeof timeWindow === 'string' ? parseTime(timeWindow) : timeWindow
  const isTime = Number.isInteger(timeWindowMs) && timeWindowMs >= 1000 && timeWindowMs <= 86_400_000
  expect(isTime, `${path}.timeWindow`, 'milliseconds from 1000 to 86400000, or text such as 1 minute', timeWindow)
  return { max, timeWindow: timeWindowMs }
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

/** Returns the milliseconds of a text as `@fastify/rate-limit` reads it, which would take malformed text for no limit. */
function parseTime (text: string): number {
  const [, amount, unit = ''] = /^(\d*\.?\d+) *([a-z]*)$/.exec(text.toLowerCase()) ?? []
  const unitMs = unitsMs.get(unit) ?? unitsMs.get(unit.replace(/s$/, '')) ?? Number.NaN
  return Number(amount) * unitMs
}
