import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { buildConnector } from 'undici'
import type { AddressRule } from './addresses.js'
import { judgeConnectError } from './network.js'
import type { Resolver } from './resolver.js'

/** Opens a socket to a receiver through `pending`, which closes it once it is no longer needed. */
export type Connect = (
  target: buildConnector.Options, callback: buildConnector.Callback, pending: PendingConnection
) => void

/** A connection while it is being opened. undici would keep an unneeded socket until its timeout. */
export class PendingConnection {
  /** The tenant that names are looked up for. */
  readonly tenantId: string
  /** Returns the error of an attempt whose deadline passes now; `null` for a timeout. */
  faultIfLate: () => Error | null = () => null
  /** Whether the other end asked for a client certificate in its TLS handshake. */
  isCertificateWanted = false
  #isClosed = false
  #socket: Socket | null = null

  constructor (tenantId = '') {
    this.tenantId = tenantId
  }

  /** Starts a connection that `close` destroys. */
  start (connect: buildConnector.connector, target: buildConnector.Options, callback: buildConnector.Callback): void {
    const started: unknown = connect(target, callback)
    // undici returns the socket, but its types omit it.
    if (started instanceof Socket) this.#socket = started
    this.isCertificateWanted = false
    if (started instanceof TLSSocket) {
      // This event comes last before the server judges the client. A client only has shared signature algorithms if the
      // server's request for a certificate names some.
      started.on('keylog', () => { this.isCertificateWanted ||= started.getSharedSigalgs().length > 0 })
    }
    if (this.#isClosed) this.close()
  }

  get isClosed (): boolean { return this.#isClosed }

  /** Hands over the socket: `close` no longer destroys it. */
  finish (): void {
    this.#socket = null
  }

  close (): void {
    this.#isClosed = true
    this.#socket?.destroy(new Error('closed'))
  }
}

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
 * Creates a connector that connects only to allowed addresses. It checks a literal address (which skips the lookup),
 * every address that the lookup returns, and the address of the connected socket.
 */
export function createGuardedConnector (options: ConnectorOptions): Connect {
  const { isAllowed, timeoutMs, localAddress = null } = options
  // Set for each connection: a new socket looks up its name immediately.
  let tenantId = ''
  const connect = buildConnector({
    timeout: timeoutMs,
    lookup: createLookup((hostname) => resolveAllowed(hostname, tenantId, options), localAddress),
    autoSelectFamilyAttemptTimeout: addressTimeoutMs(timeoutMs),
    ...tlsRules
  })

  return (target, callback, pending) => {
    const host = target.hostname.replace(/^\[(.*)\]$/, '$1')
    if (isIP(host) !== 0 && !isAllowed(host)) return callback(new BlockedAddressError(), null)
    tenantId = pending.tenantId
    pending.start(connect, { ...withServerName(target), localAddress }, (...[error, socket]) => {
      pending.finish()
      if (error !== null) {
        judgeConnectError(error).then((fault) => callback(fault, null)).catch(() => callback(error, null))
        return
      }
      if (isAllowed(String(socket.remoteAddress))) return callback(null, socket)
      socket.destroy()
      callback(new BlockedAddressError(), null)
    })
  }
}

/** Adds the name for TLS (SNI), which has no trailing dot (RFC 6066, section 3). */
export function withServerName (target: buildConnector.Options): buildConnector.Options {
  return target.hostname.endsWith('.') ? { ...target, servername: target.hostname.slice(0, -1) } : target
}

/**
 * How long one address of several may take to connect. Node's default of 250 ms is too short for distant receivers: it
 * would move on to an address that may be unreachable.
 */
export function addressTimeoutMs (timeoutMs: number): number {
  return Math.max(10, Math.ceil(timeoutMs / 8))
}

/** Resolves a name or a literal address. One blocked address blocks all, because a connection may use any of them. */
export async function resolveAllowed (
  hostname: string, tenantId: string,
  { isAllowed, resolver }: Pick<ConnectorOptions, 'isAllowed' | 'resolver'>
): Promise<LookupAddress[]> {
  const family = isIP(hostname)
  const answers = family === 0 ? await resolver.resolve(hostname, tenantId) : [{ address: hostname, family }]
  if (answers.length === 0 || !answers.every(({ address }) => isAllowed(address))) throw new BlockedAddressError()
  return answers
}

/** Returns a lookup for sockets. A socket that is bound to a local address can only use addresses of its family. */
export function createLookup (
  resolve: (hostname: string) => Promise<LookupAddress[]>, localAddress: string | null
): LookupFunction {
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
