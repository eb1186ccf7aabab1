import { readFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { readPromql } from '../fixtures/promql.js'
import { runExample } from './fixtures/run-example.js'

interface Dashboard {
  templating: { list: Array<{ query: string | { query: string } }> }
  panels: Array<{ id: number, title: string, targets: Array<{ expr: string }> }>
}

interface Rules {
  groups: Array<{ rules: Array<{ alert: string, expr: string, for: string, labels: object, annotations: { summary: string, description: string } }> }>
}

/** Labels that Prometheus adds, and `le`, the bound of a bucket. */
const usualLabels = ['job', 'instance', 'le']

const root = new URL('../../', import.meta.url)
const read = (path: string): Promise<string> => readFile(new URL(path, root), 'utf8')
const dashboard: Dashboard = JSON.parse(await read('examples/grafana/dashboard.json'))
const rules = (parse(await read('examples/grafana/alerts.yaml')) as Rules).groups.flatMap((group) => group.rules)
const panelExpressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))

t.test('the dashboard and the alerts read only metrics and labels that example 05 has', async (t) => {
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

t.test('the dashboard shows every metric of example 05', async (t) => {
  const { metrics } = await scrape(t)
  const shown = new Set(panelExpressions.flatMap((expression) => readPromql(expression).metrics))
  t.same([...shown].sort(), metrics.sort())
  const ids = dashboard.panels.map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length)
})

t.test('each of the five alerts says what is wrong, waits before it wakes somebody, and is explained in docs/operations.md', async (t) => {
  const page = await read('docs/operations.md')
  t.equal(rules.length, 5)
  for (const { alert, for: delay, labels, annotations } of rules) {
    t.match(delay, /^\d+m$/)
    t.same(labels, { severity: 'page' })
    t.ok(annotations.summary !== '' && annotations.description !== '')
    t.match(page, `| \`${alert}\` |`)
  }
})

t.test('expressions with a mistake are found', async (t) => {
  const mistakes = ['rat(webhook_attempts_total[5m])', 'rate(webhook_attempts_total[5])x', 'sum(webhook_attempts_total', 'max by job (webhook_attempts_total)', 'a{b=c}', '']
  for (const mistake of mistakes) t.throws(() => readPromql(mistake), mistake)
  t.same(readPromql('sum by (x) (rate(a_total{y="z"}[$__rate_interval])) > b'), { metrics: ['a_total', 'b'], labels: ['x', 'y'] })
})

/** The names of the samples and labels that Prometheus reads from the example. */
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
