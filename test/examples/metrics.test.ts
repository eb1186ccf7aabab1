import t from 'tap'
import { runExample } from './fixtures/run-example.js'

t.test('the metrics are what Prometheus reads, and counters do not grow by being read', async (t) => {
  const example = runExample(t, '05-metrics.ts', { PORT: '0' })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  await fetch(`${origin}/metrics`)
  const response = await fetch(`${origin}/metrics`)
  t.equal(response.status, 200)
  const text = await response.text()
  t.match(text, /^# TYPE webhook_deliveries_pending gauge$/m)
  t.match(text, /^webhook_oldest_due_seconds 0$/m)
  t.match(text, /^webhook_attempts_total\{outcome="delivered"\} 0$/m)
  t.match(text, /^# TYPE webhook_attempt_duration_seconds histogram$/m)
  t.match(text, /^webhook_attempt_duration_seconds_bucket\{le="0.01"\} 0$/m)
  t.match(text, /^webhook_attempt_duration_seconds_bucket\{le="\+Inf"\} 0\nwebhook_attempt_duration_seconds_sum 0\nwebhook_attempt_duration_seconds_count 0$/m)
  t.equal(await example.end('SIGTERM'), 0)
})
