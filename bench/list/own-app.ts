import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import recruitingApi from 'fastify-recruiting-api'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'
import { type CandidateData, apiKey, scopes, tenantSlug } from './candidates.js'

/** A host of the plugin, without a delivery worker: the route is what is measured. */
export function createOwnApp (candidates: readonly CandidateData[], options: FastifyServerOptions): FastifyInstance {
  const app = Fastify(options)
  app.register(recruitingApi, {
    storage: memoryStorage({ tenants: { [tenantSlug]: { candidates: candidates.map((row) => ({ ...row })) } } }),
    keyLookup: memoryKeyLookup([{ key: apiKey, tenantSlug, scopes }]),
    delivery: false
  })
  return app
}
