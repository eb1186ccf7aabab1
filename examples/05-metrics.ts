// Prometheus metrics from one call, read only when Prometheus scrapes. examples/grafana has a dashboard and alerts.
//
// npm install prom-client
// curl http://127.0.0.1:3000/metrics

import Fastify from 'fastify'
import recruitingApi, { collectMetrics } from 'fastify-recruiting-api'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'
import { Registry } from 'prom-client'

const app = Fastify({ logger: true })
await app.register(recruitingApi, {
  storage: memoryStorage(),
  keyLookup: memoryKeyLookup([])
})

const registry = new Registry()
collectMetrics(app.recruiting, registry)
app.get('/metrics', async (_request, reply) => reply.type(registry.contentType).send(await registry.metrics()))

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())

await app.listen({ port: Number(process.env.PORT ?? 3000) })
