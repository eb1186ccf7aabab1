import { isIP } from 'node:net'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { createCachedLimit, LruMap } from '../shared/cached.js'
import { assertOption, type Limit, rejectOption } from '../shared/read-options.js'
import { systemClock } from '../shared/clock.js'
import type { AccessLookup, RequestAccessLookup } from './auth.js'
import { operationIdOf } from './document/operation.js'
import { type Access, readCaller } from './request.js'
import { assignId, type RequestIdSource } from './log.js'
import { sendError } from './responses/failure.js'
import { defaultRequests, maxRequests, type RateLimitCaller, type RateLimitSettings } from './options.js'
import { HttpError, toInternalError } from './wire-errors.js'
import { hashApiKey } from '../keys/api-key.js'
import { readText } from '../observe/logger.js'
import { parseClientAddress } from './client-address.js'

export type Limits = Awaited<ReturnType<typeof createLimits>>

/** Counts a request and returns its budget's usage. */
type Limiter = (request: FastifyRequest) => Promise<Usage>

interface CounterSettings {
  max: number | ((request: FastifyRequest) => Promise<number>)
  timeWindow: number
}

/**
 * Limits requests per key and actor, and per address without a valid key. All methods throw only `HttpError`. Loads
 * `@fastify/rate-limit`; throws `invalid_option` if it is not installed.
 */
export async function createLimits (
  { failedKeys, operations, perTenant, max, ...settings }: RateLimitSettings,
  load: () => Promise<{ default: unknown }> = () => import('@fastify/rate-limit')
) {
  const { default: rateLimit } = await load().catch((error: unknown) => rejectOption(
    'rateLimit', 'the package @fastify/rate-limit to be installed', readText(error, 'message') ?? error
  ))
  const { default: Fastify } = await import('fastify')

  /** Creates a counter per name. All names share one store, so each begins with the kind of its budget. */
  async function createLimiter (
    budget: CounterSettings,
    keyGenerator: (request: FastifyRequest) => string
  ): Promise<Limiter> {
    // A separate instance, because the scope would inherit the limiter of a host that also uses the package.
    const owner = Fastify()
    const plugin = rateLimit as FastifyPluginAsync<Record<string, unknown>>
    await owner.register(plugin, { ...settings, ...budget, global: false, keyGenerator })
    const isRecent = owner.hasDecorator('createRateLimit')
    assertOption(isRecent, 'rateLimit', '@fastify/rate-limit of version 10.3 or later', 'an older one')
    const limiter = owner.getDecorator<() => Limiter>('createRateLimit')()
    // Errors of the store or the host's function.
    return (request) => limiter(request).catch((thrown: unknown) => { throw toInternalError(thrown) })
  }

  const nameCount = perTenant ? nameTenant : nameCaller
  const generalMax = createMax(max, 'rateLimit.max')
  const general = await createLimiter({ ...settings, max: generalMax }, nameCount)
  const special = new Map<string, Limiter>()
  for (const [operationId, budget] of Object.entries(operations)) {
    const counted = { ...budget, max: createMax(budget.max, `rateLimit.operations.${operationId}.max`) }
    special.set(operationId, await createLimiter(counted, (request) => `${operationId}:${nameCount(request)}`))
  }
  // A function needs a caller, and requests for the document have none.
  const open = await createLimiter(
    { ...settings, max: typeof max === 'number' ? max : defaultRequests },
    ({ ip }) => `open:${nameAddress(ip)}`
  )
  const ofAddress =
    failedKeys === false
      ? null
      : {
          ...failedKeys,
          cache: settings.cache,
          countFailure: await createLimiter(failedKeys, ({ ip }) => `address:${nameAddress(ip)}`)
        }

  return {
    /** Returns a lookup that rejects unknown keys from addresses that have sent too many invalid ones. */
    guard: (lookUp: AccessLookup): RequestAccessLookup =>
      ofAddress === null ? lookUp : boundFailedKeys(lookUp, ofAddress),
    /** Returns the budget of a caller's requests, without counting. */
    async describe (request: FastifyRequest) {
      const max = typeof generalMax === 'number' ? generalMax : await generalMax(request)
      return { max, windowMs: settings.timeWindow }
    },
    hasBudget: (operationId: string | null): boolean => special.has(String(operationId)),
    /** Counts a request with a valid key. */
    async count (request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const limiter = special.get(operationIdOf(request.routeOptions.schema) ?? '') ?? general
      report(await limiter(request), reply)
    },
    /** Counts a request that needs no key, by its address. */
    async countAddress (request: FastifyRequest, reply: FastifyReply): Promise<void> {
      report(await open(request), reply)
    }
  }
}

function createMax (max: Limit<RateLimitCaller>, path: string): CounterSettings['max'] {
  if (typeof max === 'number') return max
  const find = createCachedLimit(max, { path, minimum: 1, maximum: maxRequests, clock: systemClock })
  return (request) => {
    const { tenantSlug, tenantId, keyId, scopes } = readCaller(request)
    return find(nameCaller(request), { tenantSlug, tenantId, keyId, scopes: [...scopes] })
  }
}

function report (usage: Usage, reply: FastifyReply): void {
  if (usage.isExceeded) rejectRequest(reply, usage)
  setUsage(reply, usage)
}

/** Returns a name for a request's caller, unique across tenants, keys and actors. */
function nameCaller (request: FastifyRequest): string {
  const { tenantId, keyId, actor } = readCaller(request)
  // An id may contain a slash.
  const tenant = encodeURIComponent(tenantId)
  return actor === null ? `key:${tenant}/${keyId}` : `actor:${tenant}/${actor}`
}

/** Returns one name for all keys of a tenant. */
function nameTenant (request: FastifyRequest): string {
  const { tenantId, actor } = readCaller(request)
  return actor === null ? `tenant:${encodeURIComponent(tenantId)}` : nameCaller(request)
}

/** Limits requests that need no key by their address. Only these 429s use the API's error format. */
export function limitOpenRequests (scope: FastifyInstance, limits: Limits, requestId: RequestIdSource | null): void {
  scope.addHook('onRequest', async (request, reply) => {
    try {
      await limits.countAddress(request, reply)
    } catch (thrown) {
      return sendError(thrown, request, reply, { id: assignId(request, reply, requestId), errorDetails: false })
    }
  })
}

interface FailedKeyOptions {
  /** Invalid keys allowed per address and window. */
  max: number
  /** Maximum number of remembered addresses, and of remembered valid keys. */
  cache: number
  /** Counts an invalid key for the address of the request. */
  countFailure (request: FastifyRequest): Promise<Usage>
}

interface Address {
  remaining: number
  resetAtMs: number
  lookups: number
  waiting: Array<() => void>
}

/**
 * Returns a lookup that allows `max` invalid keys per address and window. Recently valid keys always pass. An address
 * never has more lookups in progress than invalid keys left; further requests wait.
 */
function boundFailedKeys (
  findAccess: AccessLookup, { max, cache, countFailure }: FailedKeyOptions
): RequestAccessLookup {
  const addresses = new LruMap<Address>(cache)
  const validKeys = new LruMap<true>(cache)

  function findAddress (request: FastifyRequest): Address {
    const name = nameAddress(request.ip)
    const address = addresses.getOrCreate(name, () => ({
      remaining: max,
      resetAtMs: Number.NEGATIVE_INFINITY,
      lookups: 0,
      waiting: []
    }))
    if (performance.now() >= address.resetAtMs) address.remaining = max
    return address
  }

  async function lookUp (name: string, ...args: Parameters<RequestAccessLookup>): Promise<Access | null> {
    const [credentials, request, reply] = args
    const access = await findAccess(credentials, request)
    if (access !== null) {
      validKeys.set(name, true)
      return access
    }
    validKeys.delete(name)
    const usage = await countFailure(request)
    Object.assign(findAddress(request), { remaining: usage.remaining, resetAtMs: performance.now() + usage.ttl })
    // Other processes may have used up a shared count.
    if (usage.isExceeded) rejectRequest(reply, usage)
    return null
  }

  return async (credentials, request, reply) => {
    const name = `${hashApiKey(credentials.key)}/${credentials.tenantSlug}`
    for (;;) {
      if (validKeys.get(name) === true) return lookUp(name, credentials, request, reply)
      const address = findAddress(request)
      const { remaining, lookups, waiting } = address
      if (remaining === 0) {
        rejectRequest(reply, { max, remaining, ttl: address.resetAtMs - performance.now(), isExceeded: true })
      }
      if (lookups >= remaining) {
        await new Promise<void>((resolve) => { waiting.push(resolve) })
        continue
      }
      address.lookups++
      try {
        return await lookUp(name, credentials, request, reply)
      } finally {
        address.lookups--
        for (const wake of waiting.splice(0)) wake()
      }
    }
  }
}

/** Returns an address's name: IPv6 counts as its /64, and requests without an address share one. */
function nameAddress (ip?: string): string {
  const address = parseClientAddress(ip)
  if (address === null) return 'unknown'
  if (isIP(address) === 4) return address
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const zeros = 8 - text.split(':').filter(Boolean).length
  const groups = text.replace('::', `:${'0:'.repeat(zeros)}`).split(':').filter(Boolean)
  return `${groups.slice(0, 4).join(':')}::/64`
}

interface Usage {
  max: number
  remaining: number
  /** Milliseconds until the count restarts. */
  ttl: number
  isExceeded: boolean
}

/** Throws `rate_limited` and sets `Retry-After`. */
function rejectRequest (reply: FastifyReply, usage: Usage): never {
  setUsage(reply, usage).header('retry-after', toSeconds(usage))
  throw new HttpError('rate_limited')
}

/** Sets the RateLimit headers, with the names that `@fastify/rate-limit` uses. */
function setUsage (reply: FastifyReply, usage: Usage): FastifyReply {
  return reply
    .header('ratelimit-limit', usage.max)
    .header('ratelimit-remaining', usage.remaining)
    .header('ratelimit-reset', toSeconds(usage))
}

function toSeconds ({ ttl }: Usage): number {
  return Math.ceil(ttl / 1000)
}
