// A process that only delivers, for servers with `delivery: false`. Any number of such processes share the work. Your
// orchestrator checks /healthz, Prometheus scrapes /metrics (collectMetrics exports all metrics), and your
// support team reads /tenants/:slug.
//
// npm install pg
// DATABASE_URL=postgres://localhost/ats tsx examples/14-worker.ts
// curl http://127.0.0.1:3000/healthz
// curl http://127.0.0.1:3000/tenants/acme

import Fastify from 'fastify'
import pg from 'pg'
import { createRecruiting } from 'fastify-recruiting-api'
import { migrate, postgresStorage } from 'fastify-recruiting-api/postgres'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, connectionTimeoutMillis: 5000 })
await migrate(pool)

const app = Fastify({ logger: true })
const logger = app.log
const recruiting = createRecruiting({ storage: postgresStorage(pool), logger })
logger.info('delivering')

app.get('/healthz', async (_request, reply) => {
  const health = await recruiting.health()
  return reply.code(health.alive ? 200 : 503).send(health)
})

app.get('/metrics', async (_request, reply) => {
  const { pending, due, oldestDueMs, inFlight, attempts } = await recruiting.stats()
  const lines = [
    `webhook_deliveries_pending ${pending}`,
    `webhook_deliveries_due ${due}`,
    `webhook_oldest_due_seconds ${oldestDueMs / 1000}`,
    `webhook_attempts_in_flight ${inFlight}`,
    ...Object.entries(attempts).map(([outcome, count]) => `webhook_attempts_total{outcome="${outcome}"} ${count}`)
  ]
  return reply.type('text/plain; version=0.0.4').send(`${lines.join('\n')}\n`)
})

app.get<{ Params: { slug: string } }>('/tenants/:slug', ({ params }) => recruiting.stats({ tenantSlug: params.slug }))

// Deliveries in flight get time to finish. Until then /healthz returns 503.
async function stop (): Promise<void> {
  await recruiting.close()
  await app.close()
  await pool.end()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)

await app.listen({ port: Number(process.env.PORT ?? 3000) })
