import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { expect, refuse } from '../../shared/expect.js'
import type { RateLimitBudgetSettings, RateLimitSettings } from '../settings.js'
import { toInternalError } from '../wire-errors.js'
import { readCaller, readTenantSlug } from '../auth.js'
import type { CallerLookup } from '../callers.js'
import { type RequestCallerLookup, boundFailedKeys, nameAddress } from './failed-keys.js'
import { readOperationId } from '../operation-id.js'
import { type Usage, refuseRequest, setUsage } from './usage.js'

/** Limits requests per key and actor, and per address without a valid key. All methods throw only `HttpError`. */
export interface Limits {
  /** Returns a lookup that refuses unknown keys of an address that sent too many invalid ones. */
  guard (lookUp: CallerLookup): RequestCallerLookup
  /** Counts a request with a valid key. */
  count (request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Counts a request that needs no key, by its address. */
  countAddress (request: FastifyRequest, reply: FastifyReply): Promise<void>
}

/** Counts a request and returns the usage of its budget. */
type Limiter = (request: FastifyRequest) => Promise<Usage>

type LoadPackage = () => Promise<{ default: unknown }>

/** Loads `@fastify/rate-limit`; throws `invalid_option` if it is not installed. */
export async function createLimits (
  { failedKeys, operations, ...settings }: RateLimitSettings,
  load: LoadPackage = () => import('@fastify/rate-limit')
): Promise<Limits> {
  const rateLimit = await loadPackage(load)
  const { default: Fastify } = await import('fastify')

  /** Creates a counter per name. All names share one store, so each name begins with the kind of its budget. */
  async function createLimiter (budget: RateLimitBudgetSettings, keyGenerator: (request: FastifyRequest) => string): Promise<Limiter> {
    // A separate instance, because the scope would inherit the limiter of a host that uses the package too.
    const owner = Fastify()
    await owner.register(rateLimit, { ...settings, ...budget, global: false, keyGenerator })
    expect(owner.hasDecorator('createRateLimit'), 'rateLimit', '@fastify/rate-limit of version 10.3 or later', 'an older one')
    return isolateStore(owner.getDecorator<() => Limiter>('createRateLimit')())
  }

  const general = await createLimiter(settings, nameCaller)
  const special = new Map<string, Limiter>()
  for (const [operationId, budget] of Object.entries(operations)) {
    special.set(operationId, await createLimiter(budget, (request) => `${operationId}:${nameCaller(request)}`))
  }
  const open = await createLimiter(settings, ({ ip }) => `open:${nameAddress(ip)}`)
  const ofAddress = failedKeys === false
    ? null
    : { ...failedKeys, cache: settings.cache, countFailure: await createLimiter(failedKeys, ({ ip }) => `address:${nameAddress(ip)}`) }

  return {
    guard: (lookUp) => ofAddress === null ? lookUp : boundFailedKeys(lookUp, ofAddress),
    async count (request, reply) {
      const limiter = special.get(readOperationId(request) ?? '') ?? general
      report(await limiter(request), reply)
    },
    async countAddress (request, reply) {
      report(await open(request), reply)
    }
  }
}

/** Turns an error of the store into a 500. */
function isolateStore (limiter: Limiter): Limiter {
  return async (request) => {
    try {
      return await limiter(request)
    } catch (thrown) {
      throw toInternalError(thrown)
    }
  }
}

function report (usage: Usage, reply: FastifyReply): void {
  if (usage.isExceeded) refuseRequest(reply, usage)
  setUsage(reply, usage)
}

async function loadPackage (load: LoadPackage): Promise<FastifyPluginAsync<Record<string, unknown>>> {
  try {
    const { default: rateLimit } = await load()
    return rateLimit as FastifyPluginAsync<Record<string, unknown>>
  } catch (error) {
    refuse('rateLimit', 'the package @fastify/rate-limit to be installed', error instanceof Error ? error.message : String(error))
  }
}

/** Returns a name for the caller of a request, unique across tenants, and another for an actor than for any key. */
function nameCaller (request: FastifyRequest): string {
  const { keyId, actor } = readCaller(request)
  const tenantSlug = readTenantSlug(request)
  return actor === null ? `key:${tenantSlug}/${keyId}` : `actor:${tenantSlug}/${actor}`
}
