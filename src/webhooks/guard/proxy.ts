import type { LookupAddress } from 'node:dns'
import type { Socket } from 'node:net'
import { buildConnector } from 'undici'
import { type ConnectorOptions, addressTimeoutMs, createLookup, resolveAllowed, tlsRules } from './connector.js'
import type { Connect, Opening } from './opening.js'
import { createSystemResolver } from './resolver.js'
import { ProxyError, requestTunnel } from './tunnel.js'

/** An HTTP proxy that connections to receivers go through. */
export interface HttpProxy {
  protocol: 'http:' | 'https:'
  /** Name or address, and the port unless it is the protocol's. */
  host: string
  /** Name or address, without brackets. */
  hostname: string
  /** '' for the protocol's. */
  port: string
  /** The value of `Proxy-Authorization`. */
  authorization: string | null
}

/** Connects through a proxy. */
export interface ProxiedConnector {
  connect: Connect
  /** Ends lookups of the proxy's name. */
  close (): void
}

// A name with many addresses must not cost as many connections to the proxy.
const maxAddresses = 8

/**
 * Creates a connector that goes through the proxy. The addresses of a receiver are resolved and checked here, and the proxy
 * is asked for an address: it never gets a name that it could resolve anew. Errors before the tunnel stands are
 * `ProxyError`s.
 */
export function createProxiedConnector (options: ConnectorOptions, proxy: HttpProxy): ProxiedConnector {
  const { timeoutMs, localAddress = null } = options
  const system = createSystemResolver(timeoutMs)
  const connectToProxy = buildConnector({
    timeout: timeoutMs,
    lookup: createLookup(system.resolve, localAddress),
    autoSelectFamilyAttemptTimeout: addressTimeoutMs(timeoutMs),
    ...tlsRules
  })
  const secure = buildConnector({ timeout: timeoutMs, ...tlsRules })

  async function open (target: buildConnector.Options, opening: Opening): Promise<Socket> {
    const addresses = await resolveAllowed(target.hostname, options)
    const port = target.port || (target.protocol === 'https:' ? '443' : '80')
    opening.isAtProxy = true
    const tunnel = await openFirst(addresses.slice(0, maxAddresses).map((address) => `${formatHost(address)}:${port}`), opening)
    opening.isAtProxy = false
    return target.protocol === 'https:' ? start(secure, { ...target, httpSocket: tunnel }, opening) : tunnel
  }

  /** Opens a tunnel to the first target that the proxy can connect to. */
  async function openFirst ([target = '', ...others]: readonly string[], opening: Opening): Promise<Socket> {
    const { protocol, host, hostname, port, authorization } = proxy
    const waitMs = others.length > 0 ? addressTimeoutMs(timeoutMs) : timeoutMs
    const socket = await start(connectToProxy, { protocol, host, hostname, port, localAddress }, opening).catch(toProxyError)
    try {
      await requestTunnel(socket, { target, authorization, waitMs })
      return socket
    } catch (error) {
      if (others.length === 0) throw error
      return openFirst(others, opening)
    }
  }

  return {
    connect (target, callback, opening) {
      open(target, opening).finally(() => opening.finish()).then((socket) => callback(null, socket), (error) => callback(error, null))
    },
    close: system.close
  }
}

/** Starts a connection that the opening holds. */
function start (connect: buildConnector.connector, options: buildConnector.Options, opening: Opening): Promise<Socket> {
  return new Promise((resolve, reject) => {
    opening.start(connect, options, (...[error, socket]) => {
      if (error === null) resolve(socket)
      else reject(error)
    })
  })
}

function toProxyError ({ code, message }: NodeJS.ErrnoException): never {
  throw new ProxyError(`no connection to the proxy: ${code ?? message}`)
}

function formatHost ({ address, family }: LookupAddress): string {
  return family === 6 ? `[${address}]` : address
}
