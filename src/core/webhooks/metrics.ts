import { createShared } from '../shared/cached.js'
import type { RecruitingStats } from './recruiting.js'

/** A `Registry` of `prom-client`, whose types are optional. */
export interface MetricRegistry {
  registerMetric (metric: { get (): Promise<unknown>, reset (): void }): void
}

/** A metric in the form of `prom-client`. */
interface Metric {
  name: string
  help: string
  type: 'gauge' | 'counter' | 'histogram'
  /** How a cluster combines the metrics of its workers. */
  aggregator: 'sum' | 'first'
  get (): Promise<unknown>
  reset (): void
}

interface Value {
  value: number
  labels: Record<string, string | number>
  metricName?: string
}

type Figure = [
  name: string, type: Metric['type'], aggregator: Metric['aggregator'], help: string,
  read: (stats: RecruitingStats) => number | Value[]
]

const durations = 'webhook_attempt_duration_seconds'

const figures: Figure[] = [
  ['webhook_deliveries_pending', 'gauge', 'first', 'Deliveries waiting for an attempt, now or later', (s) => s.pending],
  ['webhook_deliveries_due', 'gauge', 'first', 'Deliveries that could be attempted now', (s) => s.due],
  ['webhook_oldest_due_seconds', 'gauge', 'first', 'Seconds since the oldest due delivery became due',
    (s) => s.oldestDueMs / 1000],
  ['webhook_attempts_in_flight', 'gauge', 'sum', 'Attempts of this process in flight', (s) => s.inFlight],
  ['webhook_attempts_limit', 'gauge', 'sum', 'Attempts of this process that may be in flight', (s) => s.inFlightLimit],
  ['webhook_attempts_total', 'counter', 'sum', 'Attempts of this process',
    (s) => Object.entries(s.attempts).map(([outcome, value]) => ({ labels: { outcome }, value }))],
  [durations, 'histogram', 'sum', 'Durations of the attempts of this process',
    ({ durationMs: { buckets, sum, count } }) => [
      ...[...buckets.map((one) => [one.upTo / 1000, one.count] as const), ['+Inf', count] as const]
        .map(([le, value]) => ({ metricName: `${durations}_bucket`, labels: { le }, value })),
      { metricName: `${durations}_sum`, labels: {}, value: sum / 1000 },
      { metricName: `${durations}_count`, labels: {}, value: count }
    ]],
  ['agent_subscriptions', 'gauge', 'first', "Agents' subscriptions to events", ({ subscriptions: all }) => {
    const counts = Object.entries(all === null ? {} : { active: all.live - all.failing, failing: all.failing })
    return counts.map(([status, value]) => ({ labels: { status }, value }))
  }],
  ['agent_events_lag_seconds', 'gauge', 'first', 'Seconds since the oldest event that agents wait for was recorded',
    ({ subscriptions }) => subscriptions === null ? [] : subscriptions.lagMs / 1000],
  ['watched_tables_incomplete', 'gauge', 'first', 'Watched tables whose changes or events are missing', ({ changes }) =>
    (['changes', 'events'] as const).map((missing) => {
      const found = changes?.missed.filter(({ eventType }) => (eventType === null) === (missing === 'changes'))
      return { labels: { missing }, value: new Set(found?.map(({ table }) => table)).size }
    })]
]

/**
 * Adds the metrics of a process to a registry of `prom-client`. They are read once for each scrape. A scrape during
 * which the storage fails has none of them, and keeps your own. `examples/grafana` has a dashboard and alerts for
 * them. Throws if the registry already has them.
 */
export function collectMetrics (
  recruiting: { stats (): Promise<RecruitingStats> }, registry: MetricRegistry
): void {
  const read = createShared(() => recruiting.stats().catch(() => null))

  for (const [name, type, aggregator, help, valuesOf] of figures) {
    const metric: Metric = {
      name,
      help,
      type,
      aggregator,
      async get () {
        const stats = await read()
        const values = stats === null ? [] : valuesOf(stats)
        // Registries may change the name.
        return {
          name: metric.name,
          help,
          type,
          aggregator,
          values: typeof values === 'number' ? [{ labels: {}, value: values }] : values
        }
      },
      reset () {}
    }
    registry.registerMetric(metric)
  }
}
