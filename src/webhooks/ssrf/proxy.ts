import type { LookupAddress } from 'node:dns'
import type { Socket } from 'node:net'
import { buildConnector } from 'undici'
import { startDeadline } from '../../shared/clock.js'
import { informationalHead } from '../sending/informational.js'
import {
  type Connect, type ConnectorOptions, type PendingConnection, addressTimeoutMs, createLookup, resolveAllowed, tlsRules,
  withServerName
} from './connector.js'
import { createSystemResolver } from './resolver.js'

// A name with many addresses must not cost as many connections to the proxy.
const maxAddresses = 8

/**
 * Creates a connector that goes through the proxy. It resolves and checks a receiver's addresses itself and asks the
 * proxy for an address, because the proxy could resolve a name differently. Errors before the tunnel is open are
 * `ProxyError`s.
 */
export function createProxiedConnector (
  options: ConnectorOptions, proxy: HttpProxy
): { connect: Connect, close: () => void } {
  const { timeoutMs, localAddress = null } = options
  const system = createSystemResolver(timeoutMs)
  const connectToProxy = buildConnector({
    timeout: timeoutMs,
    lookup: createLookup(system.resolve, localAddress),
    autoSelectFamilyAttemptTimeout: addressTimeoutMs(timeoutMs),
    ...tlsRules
  })
  const secure = buildConnector({ timeout: timeoutMs, ...tlsRules })

  async function open (target: buildConnector.Options, pending: PendingConnection): Promise<Socket> {
    const addresses = await resolveAllowed(target.hostname, options)
    const port = target.port || (target.protocol === 'https:' ? '443' : '80')
    pending.isAtProxy = true
    const tunnel = await openFirst(
      addresses.slice(0, maxAddresses).map((address) => `${formatHost(address)}:${port}`),
      pending
    )
    pending.isAtProxy = false
    if (target.protocol !== 'https:') return tunnel
    return start(secure, { ...withServerName(target), httpSocket: tunnel }, pending)
  }

  /** Opens a tunnel to the first target that the proxy can connect to. */
  async function openFirst ([target = '', ...others]: readonly string[], pending: PendingConnection): Promise<Socket> {
    const { authorization, ...address } = proxy
    const waitMs = others.length > 0 ? addressTimeoutMs(timeoutMs) : timeoutMs
    const connecting = start(connectToProxy, { ...withServerName(address), localAddress }, pending)
    const socket = await connecting.catch(({ code, message }: NodeJS.ErrnoException) => {
      throw new ProxyError(`cannot connect to the proxy: ${code ?? message}`)
    })
    try {
      await requestTunnel(socket, { target, authorization, waitMs })
      return socket
    } catch (error) {
      if (others.length === 0) throw error
      return openFirst(others, pending)
    }
  }

  return {
    connect (target, callback, pending) {
      open(target, pending)
        .finally(() => pending.finish())
        .then(
          (socket) => callback(null, socket),
          (error) => callback(error, null)
        )
    },
    /** Cancels lookups of the proxy's name. */
    close: system.close
  }
}

/** Starts a connection through `pending`. */
function start (
  connect: buildConnector.connector,
  options: buildConnector.Options,
  pending: PendingConnection
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    pending.start(connect, options, (...[error, socket]) => {
      if (error === null) resolve(socket)
      else reject(error)
    })
  })
}

function formatHost ({ address, family }: LookupAddress): string {
  return family === 6 ? `[${address}]` : address
}

/** The proxy opened no tunnel. The message is logged, so it contains no part of the proxy's URL. */
export class ProxyError extends Error {}

const maxAnswerLength = 16_384

const headEnd = '\r\n\r\n'

/**
 * Asks the proxy at the other end of the socket for a tunnel to an address and port (RFC 9110, section 9.3.6). Resolves
 * when the tunnel is open. Otherwise destroys the socket and rejects with a `ProxyError`.
 */
function requestTunnel (
  socket: Socket,
  { target, authorization, waitMs }: { target: string, authorization: string | null, waitMs: number }
): Promise<void> {
  const headers = [`Host: ${target}`, ...(authorization === null ? [] : [`Proxy-Authorization: ${authorization}`])]
  return new Promise((resolve, reject) => {
    const cancelDeadline = startDeadline(() => fail('the proxy did not respond in time'), waitMs)
    let answer = ''

    function read (): void {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) answer += chunk.toString('latin1')
      if (answer.length > maxAnswerLength) return fail("the proxy's response is too long")
      const final = skipInformational(answer)
      if (!final.includes(headEnd)) return
      const fault = faultOf(final)
      if (fault !== null) return fail(fault)
      stop()
      resolve()
    }

    function fail (fault: string): void {
      stop()
      socket.destroy()
      reject(new ProxyError(fault))
    }

    function onClose (): void {
      fail('the proxy closed the connection')
    }

    function stop (): void {
      cancelDeadline()
      socket.off('readable', read).off('close', onClose)
    }

    socket.on('readable', read).on('close', onClose)
    socket.write(`CONNECT ${target} HTTP/1.1\r\n${headers.join('\r\n')}${headEnd}`)
  })
}

function skipInformational (answer: string): string {
  const end = informationalHead.test(answer) ? answer.indexOf(headEnd) : -1
  return end === -1 ? answer : skipInformational(answer.slice(end + headEnd.length))
}

function faultOf (answer: string): string | null {
  const [, status] = /^HTTP\/1\.[01] (\d{3})[ \r]/.exec(answer) ?? []
  if (status === undefined) return 'the proxy did not answer in HTTP'
  if (!status.startsWith('2')) return `the proxy answered ${status}`
  // Receivers wait for the first message, in HTTP and in TLS.
  return answer.indexOf(headEnd) === answer.length - headEnd.length ? null : 'the proxy sent more than its answer'
}

/** An HTTP proxy that connections to receivers go through. */
export interface HttpProxy {
  protocol: 'http:' | 'https:'
  /** Name or address, and the port unless it is the protocol's default. */
  host: string
  /** Name or address, without brackets. */
  hostname: string
  /** '' for the protocol's default. */
  port: string
  /** The value of `Proxy-Authorization`. */
  authorization: string | null
}
