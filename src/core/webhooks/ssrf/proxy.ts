import type { LookupAddress } from 'node:dns'
import type { Socket } from 'node:net'
import { buildConnector } from 'undici'
import { createShared } from '../../shared/cached.js'
import { startDeadline } from '../../shared/clock.js'
import { informationalHead } from '../sending/informational.js'
import {
  type Connect, type ConnectorOptions, PendingConnection, addressTimeoutMs, createLookup, resolveAllowed, tlsRules,
  withServerName
} from './connector.js'
import { noDescriptor } from './network.js'
import { createSystemResolver } from './resolver.js'

// A name with many addresses must not cost as many connections to the proxy.
const maxAddresses = 8

// After this much silence, the proxy is asked whether it answers at all.
const maxSilentMs = 2000

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
  const connect = buildConnector({
    timeout: timeoutMs,
    lookup: createLookup((hostname) => system.resolve(hostname, ''), localAddress),
    autoSelectFamilyAttemptTimeout: addressTimeoutMs(timeoutMs),
    ...tlsRules
  })
  const secure = buildConnector({ timeout: timeoutMs, ...tlsRules })
  const knocks = new PendingConnection()
  let heardAt = Number.NEGATIVE_INFINITY

  async function open (target: buildConnector.Options, pending: PendingConnection): Promise<Socket> {
    const addresses = await resolveAllowed(target.hostname, pending.tenantId, options)
    const port = target.port || (target.protocol === 'https:' ? '443' : '80')
    const tunnel = await openFirst(
      addresses.slice(0, maxAddresses).map((address) => `${formatHost(address)}:${port}`),
      pending
    )
    pending.faultIfLate = () => null
    if (target.protocol !== 'https:') return tunnel
    return start(secure, { ...withServerName(target), httpSocket: tunnel }, pending)
  }

  /** Opens a tunnel to the first target that the proxy can connect to. */
  async function openFirst ([target = '', ...others]: readonly string[], pending: PendingConnection): Promise<Socket> {
    const waitMs = others.length > 0 ? addressTimeoutMs(timeoutMs) : timeoutMs
    pending.faultIfLate = () => new ProxyError(noResponse, 'proxy')
    const socket = await connectToProxy(pending)
    const askedAt = performance.now()
    pending.faultIfLate = () => new ProxyError(noResponse, judgeSilence(askedAt))
    const timer = setTimeout(() => { knock().catch(() => {}) }, Math.min(maxSilentMs, timeoutMs / 4))
    try {
      await requestTunnel(socket, { target, authorization: proxy.authorization, waitMs, onData: hear })
      return socket
    } catch (error) {
      if (pending.isClosed) throw error
      const fault = error instanceof ProxyError && error.blames === 'unknown' ? await judge(error, askedAt) : error
      if (others.length === 0 || !(fault instanceof ProxyError) || fault.blames === 'proxy') throw fault
      return openFirst(others, pending)
    } finally {
      clearTimeout(timer)
    }
  }

  async function connectToProxy (pending: PendingConnection): Promise<Socket> {
    const { authorization, ...address } = proxy
    try {
      return await start(connect, { ...withServerName(address), localAddress }, pending)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (noDescriptor.has(String(code))) throw error
      throw new ProxyError(`cannot connect to the proxy: ${code ?? message}`, 'proxy')
    }
  }

  function hear (): void {
    heardAt = performance.now()
  }

  /** A proxy that answers others waits for the receiver. */
  function judgeSilence (askedAt: number): 'proxy' | 'receiver' {
    return heardAt > askedAt ? 'receiver' : 'proxy'
  }

  async function judge (error: ProxyError, askedAt: number): Promise<ProxyError> {
    await knock()
    return new ProxyError(error.message, judgeSilence(askedAt))
  }

  /** Sends a request that every proxy answers without a receiver. Never rejects. */
  const knock = createShared(() => knockOnce().catch(() => {}))

  async function knockOnce (): Promise<void> {
    const socket = await start(connect, { ...withServerName(proxy), localAddress }, knocks)
    await new Promise<void>((resolve) => {
      const cancelDeadline = startDeadline(() => socket.destroy(), maxSilentMs)
      socket.on('data', () => { hear(); socket.destroy() }).on('error', () => {}).on('close', () => {
        cancelDeadline()
        resolve()
      })
      socket.write(`GET / HTTP/1.1\r\nHost: ${proxy.host}\r\nConnection: close${headEnd}`)
    })
  }

  return {
    connect (target, callback, pending) {
      open(target, pending)
        .finally(() => pending.finish())
        .then(
          (socket) => callback(null, socket),
          (error) => callback(error, null)
        )
        .catch((error) => callback(error, null))
    },
    /** Cancels lookups of the proxy's name, and the question whether it answers. */
    close () {
      system.close()
      knocks.close()
    }
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

/**
 * The proxy opened no tunnel. The message is logged, so it contains no part of the proxy's URL. It `blames` the proxy
 * itself, or the receiver that the proxy could not reach; `policy` if the proxy does not allow the target.
 */
export class ProxyError extends Error {
  readonly blames: 'proxy' | 'receiver' | 'policy' | 'unknown'

  constructor (message: string, blames: ProxyError['blames']) {
    super(message)
    this.blames = blames
  }
}

const noResponse = 'the proxy did not respond in time'

const maxAnswerLength = 16_384

const headEnd = '\r\n\r\n'

/**
 * Asks the proxy at the other end of the socket for a tunnel to an address and port (RFC 9110, section 9.3.6). Resolves
 * when the tunnel is open. Otherwise destroys the socket and rejects with a `ProxyError`.
 */
function requestTunnel (
  socket: Socket,
  { target, authorization, waitMs, onData }: {
    target: string, authorization: string | null, waitMs: number, onData: () => void
  }
): Promise<void> {
  const headers = [`Host: ${target}`, ...(authorization === null ? [] : [`Proxy-Authorization: ${authorization}`])]
  return new Promise((resolve, reject) => {
    const cancelDeadline = startDeadline(() => fail(noResponse, 'unknown'), waitMs)
    let answer = ''

    function read (): void {
      for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) answer += chunk.toString('latin1')
      if (answer.length > maxAnswerLength) return fail("the proxy's response is too long", 'proxy')
      const final = skipInformational(answer)
      if (!final.includes(headEnd)) return
      onData()
      const fault = faultOf(final)
      if (fault !== null) return fail(...fault)
      stop()
      resolve()
    }

    function fail (...fault: ConstructorParameters<typeof ProxyError>): void {
      stop()
      socket.destroy()
      reject(new ProxyError(...fault))
    }

    function onClose (): void {
      fail('the proxy closed the connection', 'unknown')
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

/** Errors of Squid and Smokescreen, such as `X-Squid-Error: ERR_CONNECT_FAIL 111`. */
const errorHeader = /^(x-[a-z-]*error): *(.*?) *$/im
const maxReasonLength = 200

function faultOf (answer: string): ConstructorParameters<typeof ProxyError> | null {
  const [, status, text = ''] = /^HTTP\/1\.[01] (\d{3})(?: ([^\r]*))?\r/.exec(answer) ?? []
  if (status === undefined) return ['the proxy did not answer in HTTP', 'proxy']
  if (status.startsWith('2')) {
    // Receivers wait for the first message, in HTTP and in TLS.
    const isOnlyHead = answer.indexOf(headEnd) === answer.length - headEnd.length
    return isOnlyHead ? null : ['the proxy sent more than its answer', 'receiver']
  }
  const [, name = '', detail = ''] = errorHeader.exec(answer.slice(0, answer.indexOf(headEnd))) ?? []
  const reason = [status, text.trim(), name === '' ? '' : `(${name}: ${detail})`].filter((part) => part !== '').join(' ')
  const message = `the proxy answered ${reason.replace(/[^ -~]/g, '?').slice(0, maxReasonLength)}`
  return [message, findBlame(status, name.toLowerCase(), detail)]
}

function findBlame (status: string, name: string, detail: string): ProxyError['blames'] {
  // Smokescreen rejects targets with the status that asks for credentials.
  if (status === '403' || (status === '407' && name === 'x-smokescreen-error')) return 'policy'
  if (name === 'x-squid-error' && /^ERR_(SOCKET_FAILURE|SHUTTING_DOWN)/.test(detail)) return 'proxy'
  return status.startsWith('5') ? 'receiver' : 'proxy'
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
