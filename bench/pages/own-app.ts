import Fastify, { type FastifyInstance } from 'fastify'
import recruitingApi, { type KeyLookup } from 'fastify-recruiting-api'
import { postgresStorage } from 'fastify-recruiting-api/postgres'
import type pg from 'pg'

/** A host of the plugin over PostgreSQL, without a delivery worker. */
export async function createOwnApp (keyLookup: KeyLookup, pool: pg.Pool, totalsTtlMs: number): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(recruitingApi, {
    storage: postgresStorage(pool, { candidates: 'public.candidates', jobs: 'public.jobs', totalsTtlMs, changes: 'manual' }),
    keyLookup,
    delivery: false
  })
  return app
}
