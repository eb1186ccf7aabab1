import dns, { type LookupAddress } from 'node:dns'

/** Finds the addresses of a host name. */
export interface Resolver {
  /** At least one address, or a rejection. */
  resolve (hostname: string): Promise<LookupAddress[]>
  /** Ends the queries under way. */
  close (): void
}

/** Of libuv's four threads, which the whole process shares, those that names may occupy. */
const maxSystemLookups = 2

/** What a name server says of a name that only the system may know, such as one of its hosts file. */
const unknownName = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'])

/**
 * Asks the name servers without a thread, so that one tenant's dead name server costs nobody else anything. A name that
 * they do not know is left to the system, which answers at once, from its hosts file if at all.
 */
export function createResolver (timeoutMs: number): Resolver {
  const servers = new dns.promises.Resolver({ timeout: timeoutMs, tries: 2 })
  servers.setServers(dns.getServers())
  const waiting: Array<() => void> = []
  let lookups = 0

  async function lookupBySystem (hostname: string): Promise<LookupAddress[]> {
    if (lookups >= maxSystemLookups) await new Promise<void>((resolve) => { waiting.push(resolve) })
    lookups++
    try {
      return await dns.promises.lookup(hostname, { all: true })
    } finally {
      lookups--
      waiting.shift()?.()
    }
  }

  return {
    async resolve (hostname) {
      const [ipv4, ipv6] = await Promise.allSettled([servers.resolve4(hostname), servers.resolve6(hostname)])
      const answers = [...toAddresses(ipv4, 4), ...toAddresses(ipv6, 6)]
      if (answers.length > 0) return answers
      const fault: unknown = ipv4.status === 'rejected' ? ipv4.reason : new Error(`no address for ${hostname}`)
      if (unknownName.has(String((fault as { code?: unknown }).code))) return lookupBySystem(hostname)
      throw fault
    },
    close: () => servers.cancel()
  }
}

function toAddresses (result: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : []
}
