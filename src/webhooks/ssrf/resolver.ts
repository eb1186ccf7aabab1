import dns, { type LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { systemClock, waitUpTo } from '../../shared/clock.js'
import type { TargetRules } from './addresses.js'

/** Resolves host names. */
export interface Resolver {
  /** Resolves to at least one address, or rejects. */
  resolve (hostname: string): Promise<LookupAddress[]>
  /** Ends running queries. */
  close (): void
}

const maxQueryMs = 2000

// How long the addresses of one family wait for those of the other, whose answer may be lost.
const otherFamilyMs = 250

// Lookups may use this many of libuv's four threads, which the whole process shares.
const maxSystemLookups = 2

// Error codes for a name that the name server does not know.
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
        answers[index] = (await query).map(toLookupAddress)
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

/** The name servers of the host, as it has set them for Node.js, or those of the system. */
interface NameServers {
  find (): dns.promises.Resolver
  /** Ends running queries. */
  close (): void
}

/** Notices when those of the system change, as in `/etc/resolv.conf`: Node.js reads them only once. */
function createNameServers (timeoutMs: number): NameServers {
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
    find () {
      const found = areOfSystem ? readSystem() : known
      if (!isDeepStrictEqual(found, known)) {
        known = found
        previous = current
        current = open()
      }
      return current
    },
    close () {
      previous.cancel()
      current.cancel()
    }
  }
}

/** Takes 30 µs. Servers cannot be set while queries run, so the current resolver keeps its own. */
function readSystem (): string[] {
  return new dns.promises.Resolver().getServers()
}

/** Creates a resolver that asks the system, on a thread: it also knows search domains and the hosts file. */
export function createSystemResolver (timeoutMs: number): Resolver {
  const slots = createSlots(maxSystemLookups, timeoutMs)
  return {
    async resolve (hostname) {
      await slots.acquire()
      try {
        return await dns.promises.lookup(hostname, { all: true })
      } finally {
        slots.release()
      }
    },
    close: slots.close
  }
}

function toLookupAddress (address: string): LookupAddress {
  return { address, family: isIP(address) }
}

/** A counting semaphore. */
interface Slots {
  /** Takes a slot. Rejects if none becomes free in time. */
  acquire (): Promise<void>
  /** Frees the slot of an `acquire`. */
  release (): void
  /** Rejects all waiting callers. */
  close (): void
}

/** Has `capacity` slots; callers wait for one for up to `waitMs`. */
function createSlots (capacity: number, waitMs: number): Slots {
  const waiting = new Map<() => void, (error: Error) => void>()
  let free = capacity

  return {
    async acquire () {
      if (free > 0) {
        free--
        return
      }
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve, reject) => {
        waiting.set(resolve, reject)
        timer = setTimeout(() => {
          waiting.delete(resolve)
          reject(new Error('no slot was free in time'))
        }, waitMs)
      }).finally(() => clearTimeout(timer))
    },
    release () {
      const [next] = waiting.keys()
      if (next === undefined) {
        free++
        return
      }
      waiting.delete(next)
      next()
    },
    close () {
      for (const reject of waiting.values()) reject(new Error('closed'))
      waiting.clear()
    }
  }
}
