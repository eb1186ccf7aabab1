import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { hashApiKey } from '../../keys/api-key.js'
import { LruMap } from '../../shared/lru-map.js'
import type { AccessLookup, RequestAccessLookup } from '../auth.js'
import { parseClientAddress } from '../client-address.js'
import type { Access } from '../request.js'
import { refuseRequest, type Usage } from './usage.js'

export interface FailedKeyOptions {
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
 * Returns a lookup that allows `max` invalid keys per address and window. A recently valid key always passes. An
 * address never has more lookups in progress than invalid keys left; further requests wait.
 */
export function boundFailedKeys (
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
    if (usage.isExceeded) refuseRequest(reply, usage)
    return null
  }

  return async (credentials, request, reply) => {
    const name = `${hashApiKey(credentials.key)}/${credentials.tenantSlug}`
    for (;;) {
      if (validKeys.get(name) === true) return lookUp(name, credentials, request, reply)
      const address = findAddress(request)
      const { remaining, lookups, waiting } = address
      if (remaining === 0) {
        refuseRequest(reply, { max, remaining, ttl: address.resetAtMs - performance.now(), isExceeded: true })
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

/**
 * Returns the name that an address is counted under. An IPv6 address counts as its /64. Requests without a valid
 * address share one name.
 */
export function nameAddress (ip?: string): string {
  const address = parseClientAddress(ip)
  if (address === null) return 'unknown'
  if (isIP(address) === 4) return address
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const zeros = 8 - text.split(':').filter(Boolean).length
  const groups = text.replace('::', `:${'0:'.repeat(zeros)}`).split(':').filter(Boolean)
  return `${groups.slice(0, 4).join(':')}::/64`
}
