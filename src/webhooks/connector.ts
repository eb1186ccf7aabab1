import { lookup } from 'node:dns'
import { type LookupFunction, isIP } from 'node:net'
import { buildConnector } from 'undici'
import type { AddressRule } from './addresses.js'

/** No socket was opened, or it was closed before a byte was sent: the address is not allowed. */
export class BlockedAddressError extends Error {}

/**
 * Connects to allowed addresses alone. A literal address never reaches the lookup, and a lookup may change its mind, so
 * there are three checks: of the literal, of every answer of the lookup, and of the address the socket is connected to.
 */
export function createGuardedConnector (isAllowed: AddressRule, timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    lookup: guardLookup(isAllowed),
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
function guardLookup (isAllowed: AddressRule): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, answers) => {
      const [first] = answers ?? []
      if (error !== null || first === undefined) return callback(error ?? new Error('no address'), [])
      if (!answers.every(({ address }) => isAllowed(address))) return callback(new BlockedAddressError(), [])
      if (options.all === true) callback(null, answers)
      else callback(null, first.address, first.family)
    })
  }
}
