import dns, { type LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { createSlots } from './slots.js'

/** Finds the addresses of a host name. */
export interface Resolver {
  /** At least one address, or a rejection. */
  resolve (hostname: string): Promise<LookupAddress[]>
  /** Ends the queries under way. */
  close (): void
}

interface ResolverOptions {
  /** The longest that anybody waits, for the name and all that follows. */
  timeoutMs: number
  /** Whether there are names that only the system may know, such as those of its hosts file. */
  hasPrivateNames: boolean
}

const maxQueryMs = 2000

/** Of libuv's four threads, which the whole process shares, those that names may occupy. */
const maxSystemLookups = 2

/** What a name server says of a name that it does not know. */
const unknownName = new Set(['ENOTFOUND', 'ENODATA'])

/**
 * Asks the name servers without a thread, so that one tenant's dead name server costs nobody else anything. The system
 * is asked, on a thread, for names that the host may have made up, or when there is no name server: a stranger's name
 * server could say that it does not know a name, and then be silent when the system asks.
 */
export function createResolver ({ timeoutMs, hasPrivateNames }: ResolverOptions): Resolver {
  // The second try takes twice as long, and then there must be time left to connect.
  const servers = new dns.promises.Resolver({ timeout: Math.min(maxQueryMs, Math.ceil(timeoutMs / 6)), tries: 2 })
  servers.setServers(dns.getServers())
  const slots = createSlots(maxSystemLookups, timeoutMs)

  async function lookupBySystem (hostname: string): Promise<LookupAddress[]> {
    await slots.acquire()
    try {
      return await dns.promises.lookup(hostname, { all: true })
    } finally {
      slots.release()
    }
  }

  return {
    async resolve (hostname) {
      const results = await Promise.allSettled([servers.resolve4(hostname), servers.resolve6(hostname)])
      const answers = results.flatMap((result) => result.status === 'fulfilled' ? result.value.map(toLookupAddress) : [])
      if (answers.length > 0) return answers
      // A question is answered by an address at least, or fails.
      const { reason } = results[0] as PromiseRejectedResult
      const code = String(reason.code)
      if (code !== 'ECONNREFUSED' && !(hasPrivateNames && unknownName.has(code))) throw reason
      return lookupBySystem(hostname)
    },
    close () {
      servers.cancel()
      slots.close()
    }
  }
}

function toLookupAddress (address: string): LookupAddress {
  return { address, family: isIP(address) }
}
