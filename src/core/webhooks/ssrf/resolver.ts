import dns, { type LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { createShared } from '../../shared/cached.js'
import { systemClock, waitUpTo } from '../../shared/clock.js'
import { createPlaces } from '../../shared/places.js'
import type { TargetRules } from './addresses.js'
import { findLocalFault } from './network.js'

export interface Resolver {
  /**
   * Resolves to at least one address, or rejects: with a `NameServerError` if this says nothing about the name. Tenants
   * share the lookups of the system.
   */
  resolve (hostname: string, tenantId: string): Promise<LookupAddress[]>
  close (): void
}

/** The name servers of this process do not work. */
export class NameServerError extends Error {}

const maxQueryMs = 2000

// How long the addresses of one IP version wait for the other's, because that answer may be lost.
const otherFamilyMs = 250

// Lookups may use this many of libuv's four threads, which the whole process shares.
const maxSystemLookups = 2

const maxWaitingLookups = 1000

// Error codes for names unknown to the name server.
const unknownName = new Set(['ENOTFOUND', 'ENODATA'])

const cancelled = new Set(['ECANCELLED', 'EDESTRUCTION'])

// Without one of these, a name server has answered and can reach others.
const brokenServer = new Set(['ETIMEOUT', 'ECONNREFUSED', 'ESERVFAIL', 'EREFUSED'])

/**
 * Creates a resolver that queries the name servers without a thread, so that one tenant's dead name server does not
 * delay others. It uses the system, on a thread, only for private names or without a name server: a hostile name
 * server could deny a name first and then let the system's query hang. `timeoutMs` is the time limit of an attempt,
 * which includes the lookup.
 *
 * A name's own servers can be silent or broken, and so can those of this process. If a query fails other than because
 * the name is unknown, or has had no answer for a while, the resolver asks for the root, which every name server knows
 * unless it is broken or cut off.
 */
export function createResolver (
  { allowPrivateNames }: Pick<TargetRules, 'allowPrivateNames'>, timeoutMs: number
): Resolver {
  // The second try takes twice as long, and must leave time to connect.
  const queryMs = Math.min(maxQueryMs, Math.ceil(timeoutMs / 6))
  const nameServers = createNameServers(queryMs)
  const system = createSystemResolver(timeoutMs)

  async function query (hostname: string): Promise<LookupAddress[]> {
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
    throw ((await results)[0] as PromiseRejectedResult).reason
  }

  /** Rejects early if no name server answers: a query that is tried again can take longer than the attempt. */
  function queryUnlessBroken (hostname: string): Promise<LookupAddress[]> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        nameServers.areBroken().then((fault) => { if (fault !== null) reject(new NameServerError(fault)) }, reject)
      }, queryMs)
      query(hostname).finally(() => clearTimeout(timer)).then(resolve, reject)
    })
  }

  return {
    async resolve (hostname, tenantId) {
      try {
        return await queryUnlessBroken(hostname)
      } catch (error) {
        if (error instanceof NameServerError) throw error
        const code = String((error as NodeJS.ErrnoException).code)
        if (code === 'ECONNREFUSED') {
          // Also the result of a query that gets no descriptor.
          const fault = await findLocalFault()
          if (fault !== null) throw fault
          return system.resolve(hostname, tenantId).catch(({ code: reason }) => {
            throw new NameServerError(`${code}, ${reason}`)
          })
        }
        if (unknownName.has(code)) {
          if (allowPrivateNames) return system.resolve(hostname, tenantId)
        } else if (!cancelled.has(code) && await nameServers.areBroken() !== null) {
          throw new NameServerError(code)
        }
        throw error
      }
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
function createNameServers (queryMs: number) {
  const configured = dns.getServers()
  const areOfSystem = isDeepStrictEqual(configured.toSorted(), readSystem().toSorted())
  let known = configured
  let current = open()
  let previous = current
  let probe: dns.promises.Resolver | null = null

  function open (tries = 2): dns.promises.Resolver {
    const servers = new dns.promises.Resolver({ timeout: queryMs, tries })
    servers.setServers(known)
    return servers
  }

  async function askForRoot (): Promise<string | null> {
    try {
      probe = open(1)
      await probe.resolve4('.')
      return null
    } catch (error) {
      const code = String((error as NodeJS.ErrnoException).code)
      return brokenServer.has(code) ? code : null
    }
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
    /** Returns the error code if none of them answers a query for the root; `null` if one does. */
    areBroken: createShared(askForRoot),
    close (): void {
      previous.cancel()
      current.cancel()
      probe?.cancel()
    }
  }
}

/** Takes 30 µs. Only a new resolver reads the system's current servers. */
function readSystem (): string[] {
  return new dns.promises.Resolver().getServers()
}

/** Asks the system, on a thread, with search domains and the hosts file. No tenant's names use all threads. */
export function createSystemResolver (timeoutMs: number): Resolver {
  const places = createPlaces({
    count: maxSystemLookups,
    waitMs: timeoutMs,
    maxWaiting: maxWaitingLookups,
    clock: systemClock,
    full: () => new Error('no thread was free in time')
  })
  return {
    resolve: (hostname, tenantId) => places.run(tenantId, () => dns.promises.lookup(hostname, { all: true })),
    close: () => places.close(new Error('closed'))
  }
}
