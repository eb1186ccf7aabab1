// Prometheus metrics from one call, read only when Prometheus scrapes. examples/grafana has a dashboard and alerts.
//
// curl http://127.0.0.1:3000/metrics

import Fastify from 'fastify'
import recruitingApi, { type RecruitingStats } from 'fastify-recruiting-api'
import { memoryKeyLookup, memoryStorage } from 'fastify-recruiting-api/memory'
import { Counter, Gauge, Registry } from 'prom-client'

const app = Fastify({ logger: true })

const concurrency = 128
await app.register(recruitingApi, {
  storage: memoryStorage(),
  keyLookup: memoryKeyLookup([]),
  delivery: { concurrency }
})

const registry = new Registry()
const registers = [registry]
const pending = new Gauge({
  name: 'webhook_deliveries_pending',
  help: 'Deliveries waiting for an attempt, now or later',
  registers
})
const due = new Gauge({ name: 'webhook_deliveries_due', help: 'Deliveries that could be attempted now', registers })
const oldest = new Gauge({
  name: 'webhook_oldest_due_seconds',
  help: 'Seconds since the oldest due delivery became due',
  registers
})
const inFlight = new Gauge({
  name: 'webhook_attempts_in_flight',
  help: 'Attempts of this process in flight',
  registers
})
const limit = new Gauge({
  name: 'webhook_attempts_limit',
  help: 'Attempts of this process that may be in flight',
  registers
})
const attempts = new Counter({
  name: 'webhook_attempts_total',
  help: 'Attempts of this process',
  labelNames: ['outcome'],
  registers
})

app.get('/metrics', async (_request, reply) => {
  const stats = await app.recruiting.stats()
  pending.set(stats.pending)
  due.set(stats.due)
  oldest.set(stats.oldestDueMs / 1000)
  inFlight.set(stats.inFlight)
  limit.set(concurrency)
  attempts.reset()
  for (const [outcome, count] of Object.entries(stats.attempts)) attempts.inc({ outcome }, count)
  return reply.type('text/plain; version=0.0.4').send(await registry.metrics() + formatDurations(stats.durationMs))
})

// prom-client counts single observations; these are already counted.
function formatDurations ({ buckets, sum, count }: RecruitingStats['durationMs']): string {
  const name = 'webhook_attempt_duration_seconds'
  const lines = [`# HELP ${name} Durations of the attempts of this process`, `# TYPE ${name} histogram`]
  for (const bucket of buckets) lines.push(`${name}_bucket{le="${bucket.upTo / 1000}"} ${bucket.count}`)
  lines.push(`${name}_bucket{le="+Inf"} ${count}`, `${name}_sum ${sum / 1000}`, `${name}_count ${count}`)
  return `\n${lines.join('\n')}\n`
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => app.close())

await app.listen({ port: Number(process.env.PORT ?? 3000) })
