import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { createCachedLimit } from '../../shared/cached.js'
import type { Limit } from '../../shared/read-options.js'
import { systemClock } from '../../shared/clock.js'
import { assertOption, rejectOption } from '../../shared/read-options.js'
import type { AccessLookup, RequestAccessLookup } from '../auth.js'
import { operationIdOf } from '../document/operation.js'
import { readCaller } from '../request.js'
import { assignId, type RequestIdSource } from '../log.js'
import { sendError } from '../responses/failure.js'
import { type RateLimitCaller, type RateLimitSettings, defaultRequests, maxRequests } from '../../options/options.js'
import { toInternalError } from '../wire-errors.js'
import { boundFailedKeys, nameAddress } from './failed-keys.js'
import { refuseRequest, setUsage, type Usage } from './usage.js'

/** Limits requests per key and actor, and per address without a valid key. All methods throw only `HttpError`. */
export interface Limits {
  /** Returns a lookup that rejects unknown keys from an address that has sent too many invalid ones. */
  guard (lookUp: AccessLookup): RequestAccessLookup
  /** Returns whether an operation has a budget of its own. */
  hasBudget (operationId: string | null): boolean
  /** Counts a request with a valid key. */
  count (request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** Counts a request that needs no key, by its address. */
  countAddress (request: FastifyRequest, reply: FastifyReply): Promise<void>
}

/** Counts a request and returns the usage of its budget. */
type Limiter = (request: FastifyRequest) => Promise<Usage>

/** `max` as `@fastify/rate-limit` takes it. */
interface CounterSettings {
  max: number | ((request: FastifyRequest) => Promise<number>)
  timeWindow: number
}

type LoadPackage = () => Promise<{ default: unknown }>

/** Loads `@fastify/rate-limit`; throws `invalid_option` if it is not installed. */
export async function createLimits (
  { failedKeys, operations, perTenant, max, ...settings }: RateLimitSettings,
  load: LoadPackage = () => import('@fastify/rate-limit')
): Promise<Limits> {
  const rateLimit = await loadPackage(load)
  const { default: Fastify } = await import('fastify')

  /** Creates a counter per name. All names share one store, so each name begins with the kind of its budget. */
  async function createLimiter (
    budget: CounterSettings,
    keyGenerator: (request: FastifyRequest) => string
  ): Promise<Limiter> {
    // A separate instance, because the scope would inherit the limiter of a host that uses the package too.
    const owner = Fastify()
    await owner.register(rateLimit, { ...settings, ...budget, global: false, keyGenerator })
    assertOption(
      owner.hasDecorator('createRateLimit'),
      'rateLimit',
      '@fastify/rate-limit of version 10.3 or later',
      'an older one'
    )
    return isolateStore(owner.getDecorator<() => Limiter>('createRateLimit')())
  }

  const nameCount = perTenant ? nameTenant : nameCaller
  const general = await createLimiter({ ...settings, max: createMax(max, 'rateLimit.max') }, nameCount)
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
    guard: (lookUp) => ofAddress === null ? lookUp : boundFailedKeys(lookUp, ofAddress),
    hasBudget: (operationId) => special.has(String(operationId)),
    async count (request, reply) {
      const limiter = special.get(operationIdOf(request.routeOptions.schema) ?? '') ?? general
      report(await limiter(request), reply)
    },
    async countAddress (request, reply) {
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

/** Turns an error from the store or from the host's function into a 500. */
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
    rejectOption(
      'rateLimit',
      'the package @fastify/rate-limit to be installed',
      error instanceof Error ? error.message : String(error)
    )
  }
}

/** Returns a name for the caller of a request, unique across tenants. An actor never has the name of a key. */
function nameCaller (request: FastifyRequest): string {
  const { tenantId, keyId, actor } = readCaller(request)
  // An id may contain a slash.
  const tenant = encodeURIComponent(tenantId)
  return actor === null ? `key:${tenant}/${keyId}` : `actor:${tenant}/${actor}`
}

/** The same for all keys of a tenant together. */
function nameTenant (request: FastifyRequest): string {
  const { tenantId, actor } = readCaller(request)
  return actor === null ? `tenant:${encodeURIComponent(tenantId)}` : nameCaller(request)
}

/** Limits requests that need no key by their address. Only these refusals use the API's error format. */
export function limitOpenRequests (scope: FastifyInstance, limits: Limits, requestId: RequestIdSource | null): void {
  scope.addHook('onRequest', async (request, reply) => {
    try {
      await limits.countAddress(request, reply)
    } catch (thrown) {
      return sendError(thrown, request, reply, { id: assignId(request, reply, requestId), errorDetails: false })
    }
  })
}
