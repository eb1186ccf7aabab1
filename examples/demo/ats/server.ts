import Fastify, { type FastifyInstance } from 'fastify'
import { recruitingApi } from 'fastify-recruiting-api'
import { memoryKeyLookup } from 'fastify-recruiting-api/memory'
import { type Print, createLoggerOptions } from '../console.js'
import type { Database } from './database.js'
import { demoKeys } from './keys.js'

/** The vendor's server: what it takes to give every tenant a public API. */
export async function createAts (database: Database, print: Print): Promise<FastifyInstance> {
  const app = Fastify({ logger: createLoggerOptions(print) })

  // Before the API: a hook reaches only the routes that come after it.
  app.addHook('onResponse', async (request, reply) => {
    if (!request.url.startsWith('/api/')) return
    print('api', '', `${reply.statusCode} ${request.method} ${request.url} in ${reply.elapsedTime.toFixed(1)} ms`)
  })

  await app.register(recruitingApi, {
    storage: database.storage,
    keyLookup: memoryKeyLookup(Object.values(demoKeys).map(({ key, tenantSlug, scopes }) => ({ key, tenantSlug, scopes }))),
    // Tells why a request is refused. Handy while one gets to know the API.
    errorDetails: true,
    // For this machine alone: webhooks point to public https addresses otherwise.
    // For a demo: retries after seconds, where they would be minutes and hours.
    delivery: { allowHttp: true, allowNetworks: ['127.0.0.0/8'], retrySchedule: [0, 2, 3, 6] }
  })
  return app
}
