import type pg from 'pg'

const body = JSON.stringify({
  type: 'application.moved',
  data: { application_id: 100_000, candidate: { id: 200_000, full_name: 'Chloé Hernández' } }
})

/** Empties the tables, and creates this many active webhooks: 1, 2 and so on, each with its own event type. */
export async function createEndpoints (pool: pg.Pool, count: number): Promise<void> {
  await pool.query(
    `truncate recruiting.webhooks, recruiting.webhook_health, recruiting.notices, recruiting.events,
      recruiting.event_subjects, recruiting.queue, recruiting.deliveries, recruiting.tenants, recruiting.marks
    restart identity`
  )
  await pool.query(
    `
    insert into recruiting.webhooks (id, tenant, tenant_slug, name, status, target_url, event_types, secret, created_at, updated_at)
    select n, 'tenant_' || n % 5, 'tenant_' || n % 5, 'Endpoint ' || n, 'active', 'http://127.0.0.1:9/' || n, array['type.t' || n], 'whsec_' || repeat('x', 44), now(), now()
    from generate_series(1, $1::integer) as n`,
    [count]
  )
}

/** Queues deliveries to the endpoints in turn, in a lane and due after this many seconds. */
export async function queueDeliveries (
  pool: pg.Pool,
  count: number,
  endpoints: number,
  { lane = 1, dueInSeconds = 0 }: { lane?: number | null; dueInSeconds?: number } = {}
): Promise<void> {
  await pool.query(
    `
    with made as (
      insert into recruiting.events (id, tenant_key, type, body, fingerprint, recorded_at)
      select 'evt_' || n || '_' || txid_current(), 'tenant_' || (n % $2::integer + 1) % 5, 'type.t' || n % $2::integer + 1, $3, '', now()
      from generate_series(1, $1::integer) as n
      returning seq, type
    )
    insert into recruiting.queue (event_seq, webhook_id, event_type, lane, due_at, created_at)
    select seq, substr(type, 7)::bigint, type, $4::smallint, now() + $5 * interval '1 second', now() from made order by seq`,
    [count, endpoints, body, lane, dueInSeconds]
  )
  await pool.query('vacuum analyze')
}

/** Returns the median or another quantile. */
export function quantile (values: readonly number[], share = 0.5): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN
}

/** Returns the duration of a call in milliseconds. */
export async function time (call: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await call()
  return performance.now() - startedAt
}

/** Prints a figure and its target. */
export function printFigure (name: string, value: number, target: number | null, unit = 'ms'): void {
  const aim = target === null ? '' : `, target ${target}`
  console.log(`  ${name}: ${value.toPrecision(3)} ${unit}${aim}`)
}
