import Fastify from 'fastify'
import { hashApiKey, recruitingApi } from 'fastify-recruiting-api'
import { memoryStorage } from 'fastify-recruiting-api/memory'
import { createCandidates } from './candidates.js'
import { openDatabase } from './database.js'
import { createJobs } from './jobs.js'
import { createKeyLookup } from './keys.js'

const database = openDatabase()
const now = Date.now()
database.run('insert into people values (?, ?, ?, ?, ?, ?, ?, ?, ?)', [
  'acme',
  1,
  'Ana Costa',
  'ana costa',
  'Nurse',
  null,
  null,
  now,
  now
])

const { webhooks, deliveries } = memoryStorage()
const app = Fastify({ logger: true })
await app.register(recruitingApi, {
  storage: { candidates: createCandidates(database), jobs: createJobs(database), webhooks, deliveries },
  keyLookup: createKeyLookup([
    {
      id: 'key_1',
      tenantSlug: 'acme',
      digest: hashApiKey('acme-secret-key'),
      scopes: ['candidates:read', 'jobs:read'],
      state: 'valid'
    }
  ])
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())
await app.listen({ port: Number(process.env.PORT ?? 3000) })
