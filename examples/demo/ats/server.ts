import { randomBytes } from 'node:crypto'
import Fastify, { type FastifyInstance } from 'fastify'
import { recruitingApi } from 'fastify-recruiting-api'
import { memoryKeyLookup } from 'fastify-recruiting-api/memory'
import { type Print, createLoggerOptions } from '../console.js'
import type { Database } from './database.js'
import { demoKeys } from './keys.js'
import { retrySchedule } from './retries.js'

/** Creates the vendor's server. Every tenant's public API needs only this code. */
export async function createAts (database: Database, print: Print): Promise<FastifyInstance> {
  const app = Fastify({ logger: createLoggerOptions(print) })

  // Anyone who reaches the page can use its keys. A site can point its own name to this machine (DNS rebinding).
  app.addHook('onRequest', async ({ headers: { host = '' } }, reply) => {
    if (!/^(?:localhost|127\.0\.0\.1)(?::\d+)?$/i.test(host)) return reply.code(421).send({ error: 'Use 127.0.0.1' })
  })

  // Registered before the API: a hook applies only to routes added after it.
  app.addHook('onResponse', async (request, reply) => {
    if (!request.url.startsWith('/api/')) return
    print('api', '', `${reply.statusCode} ${request.method} ${request.url} in ${reply.elapsedTime.toFixed(1)} ms`)
  })

  await app.register(recruitingApi, {
    storage: database.storage,
    keyLookup: memoryKeyLookup(
      Object.values(demoKeys).map(({ key, tenantSlug, scopes }) => ({ key, tenantSlug, scopes }))
    ),
    // Each 400 response includes the invalid field.
    errorDetails: true,
    // The demo's page embeds the portal in its own colours.
    portal: {
      // New at each start. In production, 32 bytes from a secret store, the same in every process.
      secretKeys: [randomBytes(32)],
      frameAncestors: ['self'],
      theme: { accent: { light: '#3457d5', dark: '#8ea6ff' } }
    },
    mcp: await hasMcp() && { events: true },
    // For this demo only. By default, webhooks must point to public https addresses, and retries take up to three days.
    delivery: { allowHttp: true, allowNetworks: ['127.0.0.0/8'], retrySchedule, responseExcerptBytes: 512 }
  })
  return app
}

/** Returns whether the package for the option `mcp` is installed. The command `demo` also runs without it. */
export async function hasMcp (): Promise<boolean> {
  return import('@modelcontextprotocol/server').then(() => true, () => false)
}
