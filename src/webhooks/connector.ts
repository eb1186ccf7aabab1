import { type LookupFunction, isIP } from 'node:net'
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

/**
 * Connects to allowed addresses alone. A literal address never reaches the lookup, and what a lookup says is not yet
 * what a socket does, so there are three checks: of the literal, of every answer, and of the address connected to.
 */
export function createGuardedConnector ({ isAllowed, resolver, timeoutMs }: ConnectorOptions): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    lookup: guardLookup(isAllowed, resolver),
    // Said outright, or NODE_TLS_REJECT_UNAUTHORIZED could turn it off.
    rejectUnauthorized: true,
    allowH2: false
  })
  return (options, callback) => {
    const host = options.hostname.replace(/^\[(.*)\]$/, '$1')
    if (isIP(host) !== 0 && !isAllowed(host)) return callback(new BlockedAddressError(), null)
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null)
      if (isAllowed(socket.remoteAddress ?? '')) return callback(null, socket)
      socket.destroy()
      callback(new BlockedAddressError(), null)
    })
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
