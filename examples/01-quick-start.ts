// A complete server: candidates, jobs and webhooks for one tenant.
//
// curl -g 'http://127.0.0.1:3000/api/v1/public/acme/candidates?filter[q]=ada' -H 'Authorization: Bearer acme-secret-key'

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
        jobs: [
          { id: 1, name: 'Backend Engineer', status: 'published' },
          { id: 2, name: 'Data Analyst', status: 'draft' }
        ]
      }
    }
  }),
  keyLookup: memoryKeyLookup([
    {
      key: 'acme-secret-key',
      tenantSlug: 'acme',
      scopes: ['candidates:read', 'jobs:read', 'webhooks:read', 'webhooks:write']
    }
  ]),
  // Says in a 400 what is wrong with the request.
  errorDetails: true,
  // For development only: webhooks may have addresses on this machine. Otherwise they must be public and https.
  delivery: { allowHttp: true, allowNetworks: ['127.0.0.0/8'] }
})

// A route of your own. Whatever happens in the ATS is one call; it goes to every webhook that subscribes to it.
app.post('/apply', async () => app.recruiting.emit({
  tenantSlug: 'acme',
  type: 'application.created',
  data: { id: 1, candidate_id: 1, job_id: 1 }
}))

// Gives deliveries under way the time to end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())

await app.listen({ port: Number(process.env.PORT ?? 3000) })
