import type { FastifyReply, FastifyRequest } from 'fastify'
import { expect, refuse } from '../expect.js'
import type { ApiKey, KeyLookup } from '../ports/index.js'
import type { RateLimitBudget, RateLimitSettings } from '../rate-limit-options.js'
import { type Credentials, readTenantSlug } from './auth.js'
import { HttpError } from './errors.js'
import { readOperationId } from './operation-id.js'

/** Looks a key up on behalf of a request. */
type GuardedLookup = (credentials: Credentials, request: FastifyRequest, reply: FastifyReply) => ReturnType<KeyLookup>

/** What bounds the requests of a key, and the failed keys of an address. Both throw `rate_limited`. */
export interface Limits {
  /** A lookup that an address can no longer use once it has failed too often. */
  guard (keyLookup: KeyLookup): GuardedLookup
  /** Counts a request of a valid key. */
  count (key: ApiKey, request: FastifyRequest, reply: FastifyReply): Promise<void>
}

/** What `@fastify/rate-limit` says of a budget. */
interface Usage {
  max: number
  remaining: number
  ttlInSeconds: number
  isExceeded: boolean
}

type Limiter = (request: FastifyRequest, options?: { increment: boolean }) => Promise<Usage>

/** The part of the package that is used. Its types must not be needed where it is not installed. */
interface RateLimitPackage {
  (instance: object, settings: object): Promise<void>
  normalizeIP (address: string): string
}

type LoadPackage = () => Promise<{ default: unknown }>

/** Loads `@fastify/rate-limit`; throws `invalid_option` if it is not installed. */
export async function createLimits (
  { failedKeys, operations, ...settings }: RateLimitSettings,
  load: LoadPackage = () => import('@fastify/rate-limit')
): Promise<Limits> {
  const { default: rateLimit } = await load().catch((error: unknown): never => {
    const message = error instanceof Error ? error.message : String(error)
    refuse('rateLimit', 'the package @fastify/rate-limit to be installed', message)
  }) as { default: RateLimitPackage }

  /** One budget for each name; the names share a store, so they begin with what they are names of. */
  async function createLimiter (of: RateLimitBudget, nameOf: (request: FastifyRequest) => string | undefined): Promise<Limiter> {
    const decorators: { createRateLimit?: () => Limiter } = {}
    // The scope must not inherit the limiters of a host that uses the package as well, so it is not registered there.
    await rateLimit({
      hasDecorator: () => false,
      decorateRequest () {},
      addHook () {},
      decorate (name: string, value: unknown) { Object.assign(decorators, { [name]: value }) }
    }, { ...settings, ...of, keyGenerator: nameOf })
    const { createRateLimit } = decorators
    expect(createRateLimit !== undefined, 'rateLimit', '@fastify/rate-limit of version 11.2 or later', 'an older one')
    return createRateLimit()
  }

  const names = new WeakMap<FastifyRequest, string>()
  const nameOf = (request: FastifyRequest): string | undefined => names.get(request)
  const general = await createLimiter(settings, nameOf)
  const special = new Map<string, Limiter>()
  for (const [operationId, of] of Object.entries(operations)) special.set(operationId, await createLimiter(of, nameOf))
  const failures = failedKeys === false ? null : await createLimiter(failedKeys, ({ ip }) => `address:${rateLimit.normalizeIP(ip)}`)

  return {
    guard (keyLookup) {
      if (failures === null) return (credentials) => keyLookup(credentials)
      return async (credentials, request, reply) => {
        const used = await failures(request, { increment: false })
        if (used.remaining === 0) refuseRequest(reply, used)
        const key = await keyLookup(credentials)
        if (key === null || key === undefined) await failures(request)
        return key
      }
    },
    async count (key, request, reply) {
      const operationId = readOperationId(request) ?? ''
      const limiter = special.get(operationId)
      names.set(request, `${limiter === undefined ? 'key' : operationId}:${readTenantSlug(request)}/${key.id}`)
      const usage = await (limiter ?? general)(request)
      if (usage.isExceeded) refuseRequest(reply, usage)
      setUsage(reply, usage)
    }
  }
}

function refuseRequest (reply: FastifyReply, usage: Usage): never {
  setUsage(reply, usage).header('retry-after', usage.ttlInSeconds)
  throw new HttpError('rate_limited')
}

/** The headers of the draft, under the names that the package gives them. */
function setUsage (reply: FastifyReply, { max, remaining, ttlInSeconds }: Usage): FastifyReply {
  return reply
    .header('ratelimit-limit', max)
    .header('ratelimit-remaining', remaining)
    .header('ratelimit-reset', ttlInSeconds)
}
