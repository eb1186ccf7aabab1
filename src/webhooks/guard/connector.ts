import { type LookupFunction, Socket, isIP } from 'node:net'
import { buildConnector } from 'undici'
import type { AddressRule } from './addresses.js'
import type { Resolver } from './resolver.js'

/** No socket was opened, or it was closed before a byte was sent: the address is not allowed. */
export class BlockedAddressError extends Error {}

interface ConnectorOptions {
  isAllowed: AddressRule
  resolver: Resolver
  timeoutMs: number
}

/** Makes connections to allowed addresses, for undici. */
export interface GuardedConnector {
  connect: buildConnector.connector
  /** Ends the connections that are still being made; undici itself leaves them to their timeout. */
  close (): void
}

/**
 * Connects to allowed addresses alone. A literal address never reaches the lookup, and what a lookup says is not yet
 * what a socket does, so there are three checks: of the literal, of every answer, and of the address connected to.
 */
export function createGuardedConnector ({ isAllowed, resolver, timeoutMs }: ConnectorOptions): GuardedConnector {
  const connecting = new Set<Socket>()
  const connect = buildConnector({
    timeout: timeoutMs,
    lookup: guardLookup(isAllowed, resolver),
    // Node's 250 ms would give up receivers on the other side of the world for an address that may not even be reachable.
    autoSelectFamilyAttemptTimeout: Math.max(10, Math.ceil(timeoutMs / 8)),
    // Said outright, or the environment could weaken them.
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
      // undici returns it, though its types do not say so.
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

/** One bad answer refuses all: which one a socket would use is not ours to say. */
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
