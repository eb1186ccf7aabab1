import type { FastifyServerOptions } from 'fastify'
import { callHost } from '../../observe/call-host.js'

/** An address reserved for documentation (RFC 5737), which no proxy has, and more hops than any request passes. */
const nobody = '192.0.2.1'
const manyHops = 1000

/**
 * Returns whether the host's `trustProxy` trusts every address: it is `true`, or a function that trusts the reserved one.
 * Fastify has no public access to the option, so this reads its internal record; without one it returns `false`.
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
