// Metrics for Prometheus from one call. The server reads them only when Prometheus scrapes.
//
// curl http://127.0.0.1:3000/metrics

import Fastify from 'fastify'
import recruitingApi from 'fastify-recruiting-api'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'
import { Counter, Gauge, Registry } from 'prom-client'

const app = Fastify({ logger: true })

await app.register(recruitingApi, { storage: memoryStorage(), keyLookup: memoryKeyLookup([]) })

const registers = [new Registry()]
const pending = new Gauge({ name: 'webhook_deliveries_pending', help: 'Deliveries waiting for an attempt, now or later', registers })
const due = new Gauge({ name: 'webhook_deliveries_due', help: 'Deliveries that could be attempted now', registers })
const oldest = new Gauge({ name: 'webhook_oldest_due_seconds', help: 'Seconds since the oldest due delivery became due', registers })
const inFlight = new Gauge({ name: 'webhook_attempts_in_flight', help: 'Attempts of this process in flight', registers })
const attempts = new Counter({ name: 'webhook_attempts_total', help: 'Attempts of this process', labelNames: ['outcome'], registers })
const seconds = new Counter({ name: 'webhook_attempt_seconds_total', help: 'Total duration of the attempts of this process', registers })

app.get('/metrics', async (_request, reply) => {
  const stats = await app.recruiting.stats()
  pending.set(stats.pending)
  due.set(stats.due)
  oldest.set(stats.oldestDueMs / 1000)
  inFlight.set(stats.inFlight)
  attempts.reset()
  for (const [outcome, count] of Object.entries(stats.attempts)) attempts.inc({ outcome }, count)
  seconds.reset()
  seconds.inc(stats.durationMs.sum / 1000)
  const [registry] = registers
  return reply.type('text/plain; version=0.0.4').send(await registry?.metrics())
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())

await app.listen({ port: Number(process.env.PORT ?? 3000) })
