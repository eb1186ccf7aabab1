import type { FastifyServerOptions } from 'fastify'
import { callHost } from '../../observe/call-host.js'

/** Reserved for documentation (RFC 5737), so no proxy has it, and more proxies than any request passes. */
const nobody = '192.0.2.1'
const manyHops = 1000

/**
 * Returns whether the host's `trustProxy` trusts every address: it is `true`, or a function that trusts an address nobody
 * has. Fastify has no public way to ask, so its own record of its options is read; without one the answer is false.
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
