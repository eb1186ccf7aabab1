/** How many requests within which time. */
export interface RateLimitBudget {
  /**
   * Requests at most, 1 to 1,000,000,000.
   * @default 1000 for a key, 10 for an operation, 20 for failed keys
   */
  max?: number
  /**
   * The time after which the count begins anew: milliseconds, 1,000 to 86,400,000, or text such as `1 minute`.
   * @default 60000
   */
  timeWindow?: number | string
}

/**
 * How requests are limited, through `@fastify/rate-limit`: a budget for each key, and where the counts are kept. Requests
 * for the document, which need no key, have the same budget for each address.
 */
export interface RateLimitOptions extends RateLimitBudget {
  /**
   * Operations that are counted apart, by their `operationId`, each with a budget for each key.
   * @default { dispatchWebhookTest: { max: 10 }, replayWebhook: { max: 10 } }
   */
  operations?: Record<string, RateLimitBudget>
  /**
   * Invalid keys allowed per address and window. After that, requests with a key that was not valid lately get 429. An
   * IPv6 address counts as its /64; requests without an address count together. Behind a proxy the host must name it in
   * `trustProxy`: otherwise all callers have the address of the proxy. With `trustProxy: true` callers choose theirs.
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
  /** A store class for `@fastify/rate-limit` in the place of memory and Redis. */
  store?: { prototype: { incr: unknown } }
  /**
   * Keys and addresses to remember in memory, each for each budget, 1 to 10,000,000.
   * @default 5000
   */
  cache?: number
  /**
   * Whether requests pass uncounted while the store fails. Otherwise they get 500.
   * @default false
   */
  skipOnError?: boolean
}

/** `RateLimitBudget` with every default in place. */
export interface RateLimitBudgetSettings {
  max: number
  timeWindow: number
}

/** `RateLimitOptions` with every default in place. */
export interface RateLimitSettings extends RateLimitBudgetSettings, Pick<RateLimitOptions, 'redis' | 'store'> {
  operations: Record<string, RateLimitBudgetSettings>
  failedKeys: RateLimitBudgetSettings | false
  nameSpace: string
  cache: number
  skipOnError: boolean
}
