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

/** `RateLimitOptions` with every default in place. */
export interface RateLimitSettings extends Required<RateLimitBudget>, Pick<RateLimitOptions, 'redis' | 'store'> {
  operations: Record<string, Required<RateLimitBudget>>
  failedKeys: Required<RateLimitBudget> | false
  nameSpace: string
  cache: number
  skipOnError: boolean
}
