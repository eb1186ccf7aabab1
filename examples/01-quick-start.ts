// A complete server: candidates, jobs and webhooks of one tenant.

import Fastify from 'fastify'
import recruitingApi from 'fastify-recruiting-api'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'

const app = Fastify({ logger: true })

await app.register(recruitingApi, {
  storage: memoryStorage({
    tenants: {
      acme: {
        candidates: [
          { id: 1, full_name: 'Ada Lovelace', headline: 'Analyst', source_id: 3, recruiter_id: 7 },
          { id: 2, full_name: 'Émilie du Châtelet' }
        ],
        jobs: [{ id: 1, name: 'Backend Engineer', status: 'published' }]
      }
    }
  }),
  keyLookup: memoryKeyLookup([{
    key: 'acme-secret-key',
    tenantSlug: 'acme',
    scopes: ['candidates:read', 'jobs:read', 'webhooks:read', 'webhooks:write']
  }]),
  // A 400 response includes the reason.
  errorDetails: true,
  // For development only: webhooks may point to this machine. Without this they must be public and https.
  delivery: { allowHttp: true, allowNetworks: ['127.0.0.0/8'] }
})

// Your own route. Each event goes to all webhooks that subscribe to it.
app.post('/apply', async () => app.recruiting.emit({
  tenantSlug: 'acme',
  type: 'application.created',
  data: { id: 1, candidate_id: 1, job_id: 1 }
}))

// On close, deliveries in flight get time to finish.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())

await app.listen({ port: Number(process.env.PORT ?? 3000) }).catch(({ message }: Error) => {
  console.error(`${message}. Set PORT to choose another one.`)
  process.exit(1)
})
