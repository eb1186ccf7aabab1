import dns, { type LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { createSlots, systemClock, waitUpTo } from '../../shared/clock.js'
import type { TargetRules } from './addresses.js'

/** Resolves host names. */
export interface Resolver {
  /** Resolves to at least one address, or rejects. */
  resolve (hostname: string): Promise<LookupAddress[]>
  /** Cancels running queries. */
  close (): void
}

const maxQueryMs = 2000

// How long the addresses of one IP version wait for the other's, because that answer may be lost.
const otherFamilyMs = 250

// Lookups may use this many of libuv's four threads, which the whole process shares.
const maxSystemLookups = 2

// Error codes for names unknown to the name server.
const unknownName = new Set(['ENOTFOUND', 'ENODATA'])

/**
 * Creates a resolver that queries the name servers without a thread, so that one tenant's dead name server does not
 * delay others. It uses the system, on a thread, only for private names or without a name server: a hostile name
 * server could deny a name first and then let the system's query hang. `timeoutMs` is the time limit of an attempt,
 * which includes the lookup.
 */
export function createResolver (
  { allowPrivateNames }: Pick<TargetRules, 'allowPrivateNames'>,
  timeoutMs: number
): Resolver {
  const nameServers = createNameServers(timeoutMs)
  const system = createSystemResolver(timeoutMs)

  return {
    async resolve (hostname) {
      const servers = nameServers.find()
      const answers: LookupAddress[][] = []
      const queries = [servers.resolve4(hostname), servers.resolve6(hostname)].map(async (query, index) => {
        answers[index] = (await query).map((address) => ({ address, family: isIP(address) }))
      })
      const results = Promise.allSettled(queries)
      const isAnswered = await Promise.any(queries).then(() => true, () => false)
      if (isAnswered) await waitUpTo(results, otherFamilyMs, systemClock)
      const found = answers.flat()
      if (found.length > 0) return found
      // Without addresses, both queries have failed.
      const { reason } = (await results)[0] as PromiseRejectedResult
      const code = String(reason.code)
      if (code !== 'ECONNREFUSED' && !(allowPrivateNames && unknownName.has(code))) throw reason
      return system.resolve(hostname)
    },
    close () {
      nameServers.close()
      system.close()
    }
  }
}

/**
 * Returns the name servers that the host has set in Node.js, or the system's. Follows changes of the system's, for
 * example in `/etc/resolv.conf`, which Node.js reads only once.
 */
function createNameServers (timeoutMs: number) {
  const configured = dns.getServers()
  const areOfSystem = isDeepStrictEqual(configured.toSorted(), readSystem().toSorted())
  let known = configured
  let current = open()
  let previous = current

  function open (): dns.promises.Resolver {
    // The second try takes twice as long, and must leave time to connect.
    const servers = new dns.promises.Resolver({ timeout: Math.min(maxQueryMs, Math.ceil(timeoutMs / 6)), tries: 2 })
    servers.setServers(known)
    return servers
  }

  return {
    find (): dns.promises.Resolver {
      const found = areOfSystem ? readSystem() : known
      if (!isDeepStrictEqual(found, known)) {
        known = found
        previous = current
        // Servers cannot be set while queries run.
        current = open()
      }
      return current
    },
    /** Cancels running queries. */
    close (): void {
      previous.cancel()
      current.cancel()
    }
  }
}

/** Takes 30 µs. Only a new resolver reads the system's current servers. */
function readSystem (): string[] {
  return new dns.promises.Resolver().getServers()
}

/** Creates a resolver that uses the system, on a thread, including search domains and the hosts file. */
export function createSystemResolver (timeoutMs: number): Resolver {
  const tooLate = (): Error => new Error('no slot was free in time')
  const slots = createSlots(maxSystemLookups, timeoutMs, systemClock, tooLate)
  return {
    resolve: (hostname) => slots.run(() => dns.promises.lookup(hostname, { all: true })),
    close: slots.close
  }
}
