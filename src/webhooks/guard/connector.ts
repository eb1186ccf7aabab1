import { type LookupFunction, Socket, isIP } from 'node:net'
import { buildConnector } from 'undici'
import type { AddressRule } from './addresses.js'
import type { Resolver } from './resolver.js'

/** The address is not allowed. No connection was opened, or it was closed before any byte was sent. */
export class BlockedAddressError extends Error {}

interface ConnectorOptions {
  isAllowed: AddressRule
  resolver: Resolver
  timeoutMs: number
}

/** A connector for undici that connects only to allowed addresses. */
export interface GuardedConnector {
  connect: buildConnector.connector
  /** Ends connections that are still being opened; undici would leave them to their timeout. */
  close (): void
}

/**
 * Creates a connector that connects only to allowed addresses. It checks a literal address, which skips the lookup,
 * every address that the lookup returns, and the address that the socket is connected to.
 */
export function createGuardedConnector ({ isAllowed, resolver, timeoutMs }: ConnectorOptions): GuardedConnector {
  const connecting = new Set<Socket>()
  const connect = buildConnector({
    timeout: timeoutMs,
    lookup: guardLookup(isAllowed, resolver),
    // Node's default of 250 ms is too short for distant receivers: it would move on to an address that may be
    // unreachable.
    autoSelectFamilyAttemptTimeout: Math.max(10, Math.ceil(timeoutMs / 8)),
    // Set explicitly, so that environment variables cannot weaken them.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    allowH2: false
  })

  return {
    connect (options, callback) {
      const host = options.hostname.replace(/^\[(.*)\]$/, '$1')
      if (isIP(host) !== 0 && !isAllowed(host)) return callback(new BlockedAddressError(), null)
      const started: unknown = connect(options, (...[error, socket]) => {
        if (socket !== null) connecting.delete(socket)
        if (error !== null) return callback(error, null)
        if (isAllowed(String(socket.remoteAddress))) return callback(null, socket)
        socket.destroy()
        callback(new BlockedAddressError(), null)
      })
      // undici returns the socket, but its types do not say so.
      if (started instanceof Socket) {
        connecting.add(started)
        started.once('close', () => connecting.delete(started))
      }
    },

    close () {
      for (const socket of connecting) socket.destroy(new Error('closed'))
    }
  }
}

// One blocked address blocks all, because the socket may choose any of them.
function guardLookup (isAllowed: AddressRule, resolver: Resolver): LookupFunction {
  return (hostname, { all }, callback) => {
    resolver.resolve(hostname).then((answers) => {
      const [first] = answers
      if (first === undefined || !answers.every(({ address }) => isAllowed(address))) {
        callback(new BlockedAddressError(), [])
      } else if (all === true) {
        callback(null, answers)
      } else {
        callback(null, first.address, first.family)
      }
    }, (error: Error) => callback(error, []))
  }
}
