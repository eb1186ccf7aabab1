import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import recruitingApi, { type KeyLookup, type RecruitingStorage } from 'fastify-recruiting-api'
import { memoryStorage } from 'fastify-recruiting-api/memory'
import { type CandidateData, tenantSlug } from './candidates.js'

/** A host of the plugin, without a delivery worker: the benchmark measures the route. */
export function createOwnApp (
  keyLookup: KeyLookup,
  candidates: ReadonlyArray<CandidateData<number>>,
  options: FastifyServerOptions
): FastifyInstance {
  const app = Fastify(options)
  app.register(recruitingApi, {
    storage: memoryStorage({ tenants: { [tenantSlug]: { candidates: candidates.map((row) => ({ ...row })) } } }),
    keyLookup,
    delivery: false
  })
  return app
}

/** The same over a database. */
export function createDatabaseApp (
  keyLookup: KeyLookup, storage: RecruitingStorage, options: FastifyServerOptions
): FastifyInstance {
  const app = Fastify(options)
  app.register(recruitingApi, { storage, keyLookup, delivery: false })
  return app
}

/** The same with uuids. */
export function createUuidApp (
  keyLookup: KeyLookup,
  candidates: ReadonlyArray<CandidateData<string>>,
  options: FastifyServerOptions
): FastifyInstance {
  const ids = { candidate: 'string', job: 'string', source: 'string', recruiter: 'string' } as const
  const app = Fastify(options)
  app.register(recruitingApi, {
    storage: memoryStorage({ ids, tenants: { [tenantSlug]: { candidates: candidates.map((row) => ({ ...row })) } } }),
    keyLookup,
    delivery: false,
    ids
  })
  return app
}
