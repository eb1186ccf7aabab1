import { expect, expectInteger, expectNames } from './expect.js'
import type { RateLimitBudget, RateLimitOptions, RateLimitSettings } from './rate-limit-options.js'

const storeNames = { redis: true, nameSpace: true, store: true, cache: true, skipOnError: true }
const budgetNames = { max: true, timeWindow: true }
const names = { ...budgetNames, operations: true, failedKeys: true, ...storeNames }

/** Checks how requests are limited, and fills in the defaults. */
export function resolveRateLimit (options: RateLimitOptions): RateLimitSettings {
  expect(typeof options === 'object' && options !== null, 'rateLimit', 'an object', options)
  expectNames(options, names, 'rateLimit.')
  const { max, timeWindow, operations = {}, failedKeys = {}, ...store } = options
  const { redis, nameSpace = 'recruiting-rate-limit-', store: Store, cache = 5000, skipOnError = false } = store
  expect(redis === undefined || typeof redis?.defineCommand === 'function', 'rateLimit.redis', 'a client such as that of ioredis', redis)
  expect(typeof nameSpace === 'string', 'rateLimit.nameSpace', 'a string', nameSpace)
  const methods = ['incr', 'read', 'child'] as const
  const isStore = Store === undefined || methods.every((method) => typeof Store?.prototype?.[method] === 'function')
  expect(isStore, 'rateLimit.store', 'a class with the methods incr, read and child', Store)
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

function resolveBudget (budget: object, path: string, usual: number): Required<RateLimitBudget> {
  expect(typeof budget === 'object' && budget !== null, path, 'an object', budget)
  expectNames(budget, budgetNames, `${path}.`)
  const { max = usual, timeWindow = 60_000 } = budget as RateLimitBudget
  expectInteger(max, `${path}.max`, 1, 1_000_000_000)
  expectInteger(timeWindow, `${path}.timeWindow`, 1000, 86_400_000)
  return { max, timeWindow }
}
