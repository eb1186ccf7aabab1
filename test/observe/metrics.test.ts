import { AggregatorRegistry, Gauge, Registry } from 'prom-client'
import t from 'tap'
import { collectMetrics } from '../../src/index.js'
import { startDelivering } from '../fixtures/delivery/delivering.js'

t.test('a registry of prom-client has the metrics of this process, read once for each scrape', async (t) => {
  const { app: { recruiting }, emit, drain } = await startDelivering(t, { delivery: { concurrency: 7 } })
  const registry = new Registry()
  let reads = 0
  collectMetrics({ stats: () => { reads++; return recruiting.stats() } }, registry)
  await emit()
  await drain()
  const text = await registry.metrics()
  t.equal(reads, 1)
  for (const line of [
    '# TYPE webhook_deliveries_pending gauge\nwebhook_deliveries_pending 0',
    '# TYPE webhook_deliveries_due gauge\nwebhook_deliveries_due 0',
    'webhook_oldest_due_seconds 0', 'webhook_attempts_in_flight 0', 'webhook_attempts_limit 7',
    '# TYPE webhook_attempts_total counter', 'webhook_attempts_total{outcome="delivered"} 1', 'webhook_attempts_total{outcome="timeout"} 0',
    '# TYPE webhook_attempt_duration_seconds histogram', 'webhook_attempt_duration_seconds_bucket{le="+Inf"} 1', 'webhook_attempt_duration_seconds_count 1',
    'agent_subscriptions{status="active"} 0', 'agent_subscriptions{status="failing"} 0', 'agent_events_lag_seconds 0',
    'watched_tables_incomplete{missing="changes"} 0', 'watched_tables_incomplete{missing="events"} 0'
  ]) t.match(text, `${line}\n`)
  t.match(text, /_bucket\{le="0\.\d+"\} [01]\n/)
  t.match(text, /webhook_attempt_duration_seconds_sum [\d.e-]+\n/)
  await registry.metrics()
  t.equal(reads, 2)
  t.throws(() => collectMetrics(recruiting, registry), /already been registered/)
})

t.test('OpenMetrics and the metrics of a cluster are valid too', async (t) => {
  const { app: { recruiting } } = await startDelivering(t)
  const open = new Registry()
  open.setContentType(Registry.OPENMETRICS_CONTENT_TYPE as never)
  collectMetrics(recruiting, open)
  const text = await open.metrics()
  t.match(text, '# TYPE webhook_attempts counter\nwebhook_attempts_total{outcome="delivered"} 0\n')
  t.match(text, /# EOF\n$/)
  const one = new Registry()
  collectMetrics(recruiting, one)
  const { aggregate } = AggregatorRegistry as unknown as { aggregate: (all: unknown[]) => Registry }
  const both = aggregate([await one.getMetricsAsJSON(), await one.getMetricsAsJSON()])
  t.match(await both.metrics(), 'webhook_attempts_limit 256\n')
})

t.test('a scrape during which the storage fails has only the other metrics', async (t) => {
  const registry = new Registry()
  new Gauge({ name: 'own', help: 'own', registers: [registry] }).set(1)
  collectMetrics({ stats: async () => { throw new Error('no storage') } }, registry)
  const text = await registry.metrics()
  t.match(text, 'own 1\n')
  t.notMatch(text, /^(webhook|agent)/m)
})
