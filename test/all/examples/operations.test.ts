import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import t, { type Test } from 'tap'
import { createRecruiting } from '../../../src/index.js'
import { postgresStorage } from '../../../src/storages/postgres/index.js'
import { eventually } from '../../../src/tools/testing/support/driver.js'
import { startPostgres } from '../../fixtures/postgres/postgres-server.js'
import { storeWebhook } from '../../fixtures/api/webhooks.js'
import { request } from '../../fixtures/examples/request.js'
import { runExample } from '../../fixtures/examples/run-example.js'
import { readPromql } from '../../fixtures/promql.js'

t.test("a worker delivers another process's events, logs failures, and serves its health and metrics", async (t) => {
  const { url, createPool } = await startPostgres(t)
  const example = runExample(t, '14-worker.ts', { DATABASE_URL: url, PORT: '0' })
  await example.output(/"msg":"delivering"/)
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)

  const storage = postgresStorage(createPool())
  const emitter = createRecruiting({ storage, delivery: false })
  t.teardown(() => emitter.close())
  await storeWebhook(storage, 'acme', { targetUrl: 'https://127.0.0.1/' })
  const { id } = await emitter.emit({ tenantSlug: 'acme', type: 'application.created', data: { id: 1 } })

  const [line] = await example.output(/^.*"msg":"delivery failed, giving up".*$/m)
  t.match(JSON.parse(line), { level: 40, event_id: id, host: '127.0.0.1', error: 'blocked' })

  // The outcome is stored after the line is logged.
  t.ok(await eventually(async () => Object(await request(`${origin}/tenants/acme`)).body.pending === 0))
  t.match(await request(`${origin}/healthz`), { status: 200, body: { alive: true, lastClaimAt: /^20/, oldestDueMs: 0, inFlight: 0 } })
  const metrics = await (await fetch(`${origin}/metrics`)).text()
  t.match(metrics, /^webhook_deliveries_pending 0$/m)
  t.match(metrics, /^webhook_attempts_total\{outcome="blocked"\} 1$/m)
  t.match(await request(`${origin}/tenants/acme`), { status: 200, body: { pending: 0, oldestDueMs: 0, failing: 1, delivered: 0, failed: 1 } })
  t.match(await request(`${origin}/tenants/nobody`), { status: 200, body: { pending: 0, failing: 0, failed: 0 } })
  t.equal(await example.end('SIGTERM'), 0)
})

t.test('webhooks are managed by code, and invalid input is rejected', async (t) => {
  const example = runExample(t, '15-webhooks-by-code.ts')
  await example.output(/^webhook 1 has a secret of 50 characters$/m)
  await example.output(/^1 delivery waits: application\.created$/m)
  await example.output(/^audit: support:ann updateWebhook webhook$/m)
  await example.output(/^rejected with invalid_input, field target_url$/m)
  t.equal(await example.exit(), 0)
})

t.test('an event is emitted, and its subject erased', async (t) => {
  const example = runExample(t, '09-erase.ts')
  await example.output(/^evt_[0-9a-f]{32} goes to 0 webhooks$/m)
  await example.output(/^application\.created \[\]$/m)
  await example.output(/^1 events erased$/m)
  t.equal(await example.exit(), 0)
})

interface Dashboard {
  templating: { list: Array<{ query: string | { query: string } }> }
  panels: Array<{ id: number, title: string, targets: Array<{ expr: string }> }>
}

interface Alert {
  alert: string
  expr: string
  for: string
  labels: object
  annotations: { summary: string, description: string }
}

interface Rules {
  groups: Array<{ rules: Alert[] }>
}

/** Labels that Prometheus adds, and `le`, the upper bound of a bucket. */
const usualLabels = ['job', 'instance', 'le']

const root = new URL('../../../', import.meta.url)
const read = (path: string): Promise<string> => readFile(new URL(path, root), 'utf8')
const dashboard: Dashboard = JSON.parse(await read('examples/grafana/dashboard.json'))
const rules = (parse(await read('examples/grafana/alerts.yaml')) as Rules).groups.flatMap((group) => group.rules)
const panelExpressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))

t.test('the dashboard and the alerts use only metrics and labels of example 05', async (t) => {
  const { metrics, labels } = await scrape(t)
  for (const expression of [...panelExpressions, ...rules.map(({ expr }) => expr)]) {
    const names = readPromql(expression)
    t.not(names.metrics.length, 0)
    for (const name of names.metrics) t.ok(metrics.includes(name), `${name} in ${expression}`)
    for (const name of names.labels) t.ok([...labels, ...usualLabels].includes(name), `${name} in ${expression}`)
  }
  for (const { query } of dashboard.templating.list) {
    const [, metric] = /^label_values\((\w+), job\)$/.exec(typeof query === 'string' ? query : query.query) ?? []
    if (query !== 'prometheus') t.ok(metrics.includes(String(metric)), JSON.stringify(query))
  }
})

/** Returns the names of the example's metrics and labels. */
async function scrape (t: Test): Promise<{ metrics: string[], labels: string[] }> {
  const example = runExample(t, '05-metrics.ts', { PORT: '0' })
  const [, origin = ''] = await example.output(/listening at (http:\/\/127\.0\.0\.1:\d+)/)
  const text = await (await fetch(`${origin}/metrics`)).text()
  await example.end('SIGTERM')
  const samples = text.split('\n').filter((line) => /^[a-z]/.test(line))
  const metrics = samples.map((line) => line.replace(/[{ ].*$/, ''))
  const labels = samples.flatMap((line) => [...line.matchAll(/(\w+)="/g)].map(([, name = '']) => name))
  return { metrics: [...new Set(metrics)], labels: [...new Set(labels)] }
}

t.test("the receiver gets the attempt's span, in the trace of the request that emitted the event", async (t) => {
  const example = runExample(t, '22-traces.ts')
  const [, trace = ''] = await example.output(/^the request has the trace (\w{32})$/m)
  const [, received, attempt = ''] = await example.output(/^received the span 00-(\w{32})-(\w{16})-01$/m)
  t.equal(received, trace)
  await example.output(new RegExp(`name: 'deliver application.created',\\s+id: '${attempt}'`))
  t.equal(await example.exit(), 0)
})
