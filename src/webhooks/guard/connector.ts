import type { LookupAddress } from 'node:dns'
import { type LookupFunction, isIP } from 'node:net'
import { buildConnector } from 'undici'
import type { AddressRule } from './addresses.js'
import type { Connect } from './opening.js'
import type { Resolver } from './resolver.js'

/** The address is not allowed. No connection was opened, or it was closed before any byte was sent. */
export class BlockedAddressError extends Error {}

export interface ConnectorOptions {
  isAllowed: AddressRule
  resolver: Resolver
  timeoutMs: number
  /** The address of this machine that connections come from; `null` if the system chooses it. */
  localAddress?: string | null
}

/** The rules for TLS. Set explicitly, so that environment variables cannot weaken them. */
export const tlsRules = { rejectUnauthorized: true, minVersion: 'TLSv1.2', allowH2: false } as const

/**
 * Creates a connector that connects only to allowed addresses. It checks a literal address, which skips the lookup,
 * every address that the lookup returns, and the address that the socket is connected to.
 */
export function createGuardedConnector (options: ConnectorOptions): Connect {
  const { isAllowed, timeoutMs, localAddress = null } = options
  const connect = buildConnector({
    timeout: timeoutMs,
    lookup: createLookup((hostname) => resolveAllowed(hostname, options), localAddress),
    autoSelectFamilyAttemptTimeout: addressTimeoutMs(timeoutMs),
    ...tlsRules
  })

  return (target, callback, opening) => {
    const host = target.hostname.replace(/^\[(.*)\]$/, '$1')
    if (isIP(host) !== 0 && !isAllowed(host)) return callback(new BlockedAddressError(), null)
    opening.start(connect, { ...target, localAddress }, (...[error, socket]) => {
      opening.finish()
      if (error !== null) return callback(error, null)
      if (isAllowed(String(socket.remoteAddress))) return callback(null, socket)
      socket.destroy()
      callback(new BlockedAddressError(), null)
    })
  }
}

/**
 * How long one address of several may take to connect. Node's default of 250 ms is too short for distant receivers: it
 * would move on to an address that may be unreachable.
 */
export function addressTimeoutMs (timeoutMs: number): number {
  return Math.max(10, Math.ceil(timeoutMs / 8))
}

/** Resolves a name or a literal address. One blocked address blocks all, because a connection may use any of them. */
export async function resolveAllowed (hostname: string, { isAllowed, resolver }: Pick<ConnectorOptions, 'isAllowed' | 'resolver'>): Promise<LookupAddress[]> {
  const family = isIP(hostname)
  const answers = family === 0 ? await resolver.resolve(hostname) : [{ address: hostname, family }]
  if (answers.length === 0 || !answers.every(({ address }) => isAllowed(address))) throw new BlockedAddressError()
  return answers
}

/** Returns a lookup for sockets. A socket that is bound to a local address can only use addresses of its family. */
export function createLookup (resolve: Resolver['resolve'], localAddress: string | null): LookupFunction {
  const family = isIP(localAddress ?? '')
  return (hostname, { all }, callback) => {
    resolve(hostname).then((answers) => {
      const usable = answers.filter((answer) => family === 0 || answer.family === family)
      const [first] = usable
      if (first === undefined) callback(new Error('no address of the family of localAddress'), [])
      else if (all === true) callback(null, usable)
      else callback(null, first.address, first.family)
    }, (error: Error) => callback(error, []))
  }
}
