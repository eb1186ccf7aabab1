import { type BlockList, isIP } from 'node:net'
import type { FastifyServerOptions } from 'fastify'
import { readNetworks } from '../keys/api-key.js'
import { callHost } from '../observe/logger.js'
import { createNetworkList, familyOf } from '../shared/networks.js'
import { LruMap } from '../shared/cached.js'

/** Some proxies append the port, and dual-stack sockets show IPv4 addresses as IPv6. */
const ipv4 = /^(?:::ffff:)?((?:\d+\.){3}\d+)(?::\d+)?$/i
const ipv6 = /^\[?([\da-f:.]+)(?:%[^\]]*)?(?:\](?::\d+)?)?$/i

/**
 * Returns a client's IP address without port and zone; `null` if there is none: a Unix socket has no address, and a
 * forwarding header can contain any text.
 */
export function parseClientAddress (ip = ''): string | null {
  const address = (ipv4.exec(ip) ?? ipv6.exec(ip))?.[1] ?? ''
  return isIP(address) === 0 ? null : address
}

const maxLists = 1000

/** Returns a check of a client's address. It throws if the host's key lookup returned invalid `allowedIps`. */
export function createAddressCheck (): (allowedIps: readonly string[], ip: string) => boolean {
  const lists = new LruMap<BlockList>(maxLists)

  function findList (allowedIps: readonly string[]): BlockList {
    const name = JSON.stringify(allowedIps)
    return lists.getOrCreate(name, () => createNetworkList(readNetworks(allowedIps, 'keyLookup: allowedIps')))
  }

  return (allowedIps, ip) => {
    const list = findList(allowedIps)
    const address = parseClientAddress(ip)
    return address !== null && list.check(address, familyOf(address))
  }
}

/** An address reserved for documentation (RFC 5737), which no proxy has, and more hops than any request takes. */
const nobody = '192.0.2.1'
const manyHops = 1000

/**
 * Returns whether the host's `trustProxy` trusts every address: `true`, or a function that trusts the reserved address.
 * Fastify does not expose the option, so this reads its internal options; without them, it returns `false`.
 */
export function trustsEveryProxy (app: object): boolean {
  const trustProxy = readTrustProxy(app)
  if (typeof trustProxy !== 'function') return trustProxy === true
  return callHost(() => trustProxy(nobody, manyHops), () => {}) === true
}

function readTrustProxy (app: object): FastifyServerOptions['trustProxy'] {
  for (let owner: object | null = app; owner !== null; owner = Object.getPrototypeOf(owner)) {
    const kOptions = Object.getOwnPropertySymbols(owner).find(({ description }) => description === 'fastify.options')
    if (kOptions !== undefined) return Reflect.get(owner, kOptions).trustProxy
  }
  return undefined
}
